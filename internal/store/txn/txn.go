// Package txn is what the transactions of all drivers share: nested transactions are
// refused, reads come before writes, and writes are checked and copied at the call and
// buffered until the commit.
package txn

import (
	"context"
	"errors"

	"questscheduler/fault"
	"questscheduler/internal/store"
)

type insideKey struct{}

// Enter marks ctx as inside a transaction; Invalid where it is marked already.
func Enter(ctx context.Context) (context.Context, error) {
	if err := Outside(ctx); err != nil {
		return nil, err
	}
	return context.WithValue(ctx, insideKey{}, true), nil
}

// Outside is Invalid for a ctx that Enter marked.
func Outside(ctx context.Context) error {
	if ctx.Value(insideKey{}) != nil {
		return fault.New(fault.Invalid, "the store was called inside a transaction; use the transaction that was passed in")
	}
	return nil
}

// Check refuses a call of the store itself: with a path that is none, from inside a
// transaction, or after the end of its context.
func Check(ctx context.Context, paths ...store.Path) error {
	for _, path := range paths {
		if err := path.Valid(); err != nil {
			return err
		}
	}
	if err := Outside(ctx); err != nil {
		return err
	}
	return Stopped(ctx)
}

// Stopped is Unavailable, with the context's error inside, for a ctx that has ended.
func Stopped(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fault.Wrap(fault.Unavailable, err, "the store was not waited for")
	}
	return nil
}

// Closed is the error of a call after Close.
func Closed() error { return fault.New(fault.Unavailable, "the store is closed") }

// Begin makes an attempt that reads a consistent state.
func Begin(reads store.Reader) *Attempt { return &Attempt{reads: reads} }

// Attempt is a store.Tx that buffers its writes, for Writes or Resolve.
type Attempt struct {
	reads  store.Reader
	writes store.Writes
	size   int // of writes, as store.MaxTransaction counts
	// misuse is the first refused call's error. It fails the attempt even where the
	// function ignores it.
	misuse error
	ended  bool
}

var _ store.Tx = (*Attempt)(nil)

// Do runs fn and ends the attempt. It returns fn's error unchanged, or else a misuse.
func (a *Attempt) Do(ctx context.Context, fn func(context.Context, store.Tx) error) error {
	defer func() { a.ended = true }()
	if err := fn(ctx, a); err != nil {
		return err
	}
	return a.misuse
}

func (a *Attempt) refuse(err error) error {
	if err != nil && a.misuse == nil {
		a.misuse = err
	}
	return err
}

func (a *Attempt) mayRead(paths ...store.Path) error {
	switch {
	case a.ended:
		return errEnded()
	case len(a.writes) > 0:
		return a.refuse(fault.New(fault.Invalid, "a transaction read after it wrote; do all reads first"))
	}
	for _, path := range paths {
		if err := a.refuse(path.Valid()); err != nil {
			return err
		}
	}
	return nil
}

func errEnded() error {
	return fault.New(fault.Invalid, "the transaction has ended; it is of use only inside its function")
}

// Get implements store.Reader.
func (a *Attempt) Get(ctx context.Context, path store.Path) (store.Document, error) {
	if err := a.mayRead(path); err != nil {
		return store.Document{}, err
	}
	return a.reads.Get(ctx, path)
}

// GetAll implements store.Reader.
func (a *Attempt) GetAll(ctx context.Context, paths []store.Path) ([]store.Document, error) {
	if err := a.mayRead(paths...); err != nil {
		return nil, err
	}
	return a.reads.GetAll(ctx, paths)
}

// Query implements store.Reader.
func (a *Attempt) Query(ctx context.Context, query store.Bound) ([]store.Document, error) {
	if err := a.mayRead(); err != nil {
		return nil, err
	}
	documents, err := a.reads.Query(ctx, query)
	if fault.Is(err, fault.Invalid) {
		return nil, a.refuse(err)
	}
	return documents, err
}

// cause names a document for the log; messages for people contain no paths.
func cause(path store.Path) error { return errors.New(string(path)) }
