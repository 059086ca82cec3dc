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
//   - A nested transaction is refused, and so is every other call of the store
//     itself with the ctx of a transaction's function: it would read another
//     state than the transaction.
//   - A misuse of a transaction (Invalid) ends it without a write, even where
//     its function goes on and returns nil.
//   - On drivers that keep a file, acknowledged writes survive the death of the
//     process.
//
// Errors carry kinds of package fault: NotFound (update of a missing document),
// Conflict (create of an existing one), Invalid (misuse: bad path, bad value,
// conflicting field paths, undeclared query, read after write), TooLarge (see
// CheckSize and MaxTransaction), Unavailable (the store did not answer, or
// contention outlasted the retries; RetryAfter may be set).
package store

import (
	"context"
	"errors"
	"time"
)

// Document is the result of a read.
type Document struct {
	Path Path
	// Data holds the fields, of the types of Normalize, or is nil where the document
	// does not exist. The caller owns it.
	Data map[string]any
	// Made numbers the commit that created the document, in the order of commits. 0:
	// the document does not exist, or the driver keeps no such number
	// (internal/store/sqlite, to whose file no other program writes).
	Made int64
	// MadeAt is when the document was created by the clock of the store, or zero if the driver
	// keeps no such time: only Firestore does.
	MadeAt time.Time
	// Written is the number of the commit that wrote the document last, or 0 as Made.
	Written int64
}

// Exists reports whether the document existed when it was read.
func (d Document) Exists() bool { return d.Data != nil }

// Reader reads documents, inside a transaction (one consistent state) or
// outside (each call sees a committed state, not necessarily the same one).
type Reader interface {
	// Get reads one document; see Document.Exists.
	Get(ctx context.Context, path Path) (Document, error)
	// GetAll reads several documents, in the order of paths. Each counts as a read.
	GetAll(ctx context.Context, paths []Path) ([]Document, error)
	// Query returns the documents that a bound query selects, in its order, ties broken
	// by path, part by part. Values compare as in Firestore: null, bool, number, time,
	// text by its UTF-8 bytes, list, map; a range selects values of its argument's type
	// alone. Documents without an ordered or filtered field are left out. Invalid: a
	// query that was not declared when the driver was opened.
	Query(ctx context.Context, query Bound) ([]Document, error)
}

// Tx is one attempt of a transaction. Writes are buffered and take effect together at the
// commit. Their errors come from the call or from Run, and then nothing is written.
type Tx interface {
	Reader
	// Create writes a new document; Conflict where it exists.
	Create(path Path, data map[string]any) error
	// Set replaces a whole document. It is not for documents that other programs write
	// too, which may hold fields we do not know.
	Set(path Path, data map[string]any) error
	// Update writes the named fields of an existing document, and no others; NotFound
	// where it does not exist.
	Update(path Path, updates ...Update) error
	// Merge is Update, and creates the document where it does not exist.
	Merge(path Path, updates ...Update) error
	// Delete removes a document, not those below it. A missing one is no error.
	Delete(path Path) error
}

// ErrUnanswered is inside the error of a Run whose commit was not answered and may have
// taken effect. A function whose reads show whether it did may be run again.
var ErrUnanswered = errors.New("the commit was not answered")

// Store is a driver.
type Store interface {
	Reader
	// Run runs fn in a transaction and commits its writes, all or nothing. On contention
	// it runs fn again from the start: fn does no IO and resets what it captures. An
	// error of fn is returned unchanged, and nothing is written. A commit that fails
	// with ErrUnanswered (Unavailable) may have taken effect. Calls of the store itself
	// with fn's ctx are Invalid.
	Run(ctx context.Context, fn func(ctx context.Context, tx Tx) error) error
	// DeleteTree removes everything below a document, and then the document. It is not
	// atomic: call it again after a failure to continue.
	DeleteTree(ctx context.Context, path Path) error
	// Close ends the driver; later calls are Unavailable.
	Close() error
}
