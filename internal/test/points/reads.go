package points

import (
	"context"

	"questscheduler/fault"
	"questscheduler/internal/store"
)

// Reads has a point at each read of a store, inside transactions and outside.
type Reads struct {
	store.Store
	Points *Points
}

// Get implements store.Reader.
func (r *Reads) Get(ctx context.Context, path store.Path) (store.Document, error) {
	return reads{r.Store, r.Points}.Get(ctx, path)
}

// GetAll implements store.Reader.
func (r *Reads) GetAll(ctx context.Context, paths []store.Path) ([]store.Document, error) {
	return reads{r.Store, r.Points}.GetAll(ctx, paths)
}

// Query implements store.Reader.
func (r *Reads) Query(ctx context.Context, query store.Bound) ([]store.Document, error) {
	return reads{r.Store, r.Points}.Query(ctx, query)
}

// Run implements store.Store.
func (r *Reads) Run(ctx context.Context, fn func(context.Context, store.Tx) error) error {
	return r.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error { return fn(ctx, readsTx{tx, reads{tx, r.Points}}) })
}

type readsTx struct {
	store.Tx
	reads reads
}

func (t readsTx) Get(ctx context.Context, path store.Path) (store.Document, error) {
	return t.reads.Get(ctx, path)
}

func (t readsTx) GetAll(ctx context.Context, paths []store.Path) ([]store.Document, error) {
	return t.reads.GetAll(ctx, paths)
}

func (t readsTx) Query(ctx context.Context, query store.Bound) ([]store.Document, error) {
	return t.reads.Query(ctx, query)
}

// reads has a point before each read.
type reads struct {
	of     store.Reader
	points *Points
}

func (r reads) Get(ctx context.Context, path store.Path) (store.Document, error) {
	if err := r.points.pass(); err != nil {
		return store.Document{}, err
	}
	return r.of.Get(ctx, path)
}

func (r reads) GetAll(ctx context.Context, paths []store.Path) ([]store.Document, error) {
	if err := r.points.pass(); err != nil {
		return nil, err
	}
	return r.of.GetAll(ctx, paths)
}

func (r reads) Query(ctx context.Context, query store.Bound) ([]store.Document, error) {
	if err := r.points.pass(); err != nil {
		return nil, err
	}
	return r.of.Query(ctx, query)
}

// NoneUnread makes a call again and again, in which one read after the other fails, until none
// does. Each call must say that it failed, except the last. It takes least reads at least.
func (p *Points) NoneUnread(t TB, least int, call func() error) {
	t.Helper()
	defer p.FailAt(0)
	for n := 1; ; n++ {
		p.FailAt(n)
		err := call()
		switch {
		case !p.Reached() && (err != nil || n <= least):
			t.Errorf("after %d failing reads, want %d at least, the call gave %v", n-1, least, err)
			return
		case !p.Reached():
			return
		case !fault.Is(err, fault.Unavailable):
			t.Errorf("its read %d failed, and the call gave %v", n, err)
		}
	}
}
