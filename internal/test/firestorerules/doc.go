// Package firestorerules holds firestore.rules to what the web app does, on Google's
// emulator: who may read, and what the web app writes itself, in exactly its
// shape and by exactly its people. Its tests are tables; each refusal differs
// from something that is allowed in one thing.
//
// It is for tests alone.
package firestorerules
