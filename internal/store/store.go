// Package store is a small document-store port with Firestore's meaning. It
// knows documents, paths, queries and transactions, and nothing of polls.
//
// A document is a map of named fields at a path of alternating collection
// names and ids ("schedulers/7f…/slots/s1"). Drivers: internal/store/sqlite
// (embedded default), internal/store/firestore (production) and, for tests,
// internal/test/memorystore. All pass one conformance suite,
// internal/test/storetest (Firestore as far as its emulator can show it).
//
// What every driver promises:
//
//   - Transactions are serialisable: no lost update, no write skew, no phantom.
//   - A transaction's function may run several times; its writes take effect
//     once, together, or not at all.
//   - In a transaction all reads come before all writes; a read after a write
//     is an error on every driver.
//   - A nested transaction is refused, not waited for, and so is every other
//     call of the store itself with the ctx of a transaction's function: it
//     would read another state than the transaction.
//   - A misuse of a transaction (Invalid) ends it without a write, even where
//     its function goes on and returns nil.
//   - What a nil error acknowledged survives, on drivers that keep a file, the
//     death of the process.
//
// Errors carry kinds of package fault: NotFound (update of a document that is
// not there), Conflict (create of one that is), Invalid (misuse: bad path, bad
// value, conflicting field paths, undeclared query, read after write),
// TooLarge (a document or a transaction over Firestore's limits: see CheckSize
// and MaxTransaction), Unavailable
// (the store did not answer, or contention outlasted the retries; RetryAfter
// may be set).
package store

import (
	"context"
	"errors"
)

// Document is what a read gives: a path and, where the document is there, its
// fields. The caller owns Data; changing it changes nothing in the store.
type Document struct {
	Path Path
	// Data holds the fields, or is nil where the document does not exist.
	// Values are of the types of Normalize.
	Data map[string]any
	// Made orders the documents of a store by when they were made: an earlier
	// commit made the one with the smaller number, and one commit gives all that it
	// makes the same. Updates leave it; a document that was deleted and made again
	// has another. 0: it is not there, or the driver keeps no such number
	// (internal/store/sqlite, to whose file nobody else writes).
	Made int64
	// Written is Made of the commit that wrote the document last: equal to Made where
	// nobody wrote it since. 0 where Made is.
	Written int64
}

// Exists tells whether the document was there when it was read.
func (d Document) Exists() bool { return d.Data != nil }

// Reader reads documents, inside a transaction (one consistent state) or
// outside (each call sees a committed state, not necessarily the same one).
type Reader interface {
	// Get reads one document. One that is not there is no error: Exists tells.
	Get(ctx context.Context, path Path) (Document, error)
	// GetAll reads several at once, in the order asked for. It counts as one
	// read a document however it is batched.
	GetAll(ctx context.Context, paths []Path) ([]Document, error)
	// Query gives the documents that a bound query selects, in its order, ties
	// broken by path, part by part. Values are compared as in Firestore: null,
	// bool, number, time, text by its UTF-8 bytes, list, map; a range selects
	// values of its argument's type alone. Documents that lack an ordered or filtered field are not
	// in it. A query that was not declared when the driver was opened is
	// Invalid.
	Query(ctx context.Context, query Bound) ([]Document, error)
}

// Tx is one attempt of a transaction. Writes are buffered and take effect
// together at the commit; their errors come at the call or from Run, and then
// nothing is written.
type Tx interface {
	Reader
	// Create writes a new document; Conflict where one is there.
	Create(path Path, data map[string]any) error
	// Set writes a whole document, replacing what was there. Not for documents
	// that others write too: they may hold fields we do not know.
	Set(path Path, data map[string]any) error
	// Update writes the named fields of a document that is there; NotFound
	// otherwise. Fields that are not named stay as they are.
	Update(path Path, updates ...Update) error
	// Merge is Update that makes the document where it is not there.
	Merge(path Path, updates ...Update) error
	// Delete removes a document, not what lies below it. Deleting what is not
	// there is no error.
	Delete(path Path) error
}

// ErrUnanswered is inside the error of a Run whose commit was sent and not answered:
// its effect may have taken place. A function that finds out by its reads whether
// it did may be run again.
var ErrUnanswered = errors.New("the commit was not answered")

// Store is a driver.
type Store interface {
	Reader
	// Run runs fn in a transaction and commits what it wrote, all or nothing.
	// It runs fn again, from the start, where the commit met contention: fn
	// does no IO and resets what it captures. An error of fn ends it without a
	// write and is returned as it is. After an error of the commit itself
	// (Unavailable, and ErrUnanswered inside) the effect may have taken place.
	// fn passes the ctx it is
	// given; a Run inside fn, or any other call of the store with that ctx, is
	// refused with Invalid.
	Run(ctx context.Context, fn func(ctx context.Context, tx Tx) error) error
	// DeleteTree removes a document and everything below it, the document
	// last. It is not atomic: after a failure call it again, it goes on where
	// it stopped.
	DeleteTree(ctx context.Context, path Path) error
	// Close ends the driver; calls after it are Unavailable.
	Close() error
}
