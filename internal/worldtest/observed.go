package worldtest

import (
	"context"
	"maps"
	"slices"

	"questscheduler/store"
	"questscheduler/store/storetest"
)

// observed is a store that knows which documents may have changed since it was
// last asked, so that a check looks at those alone. A write that did not count,
// of an attempt that was thrown away or refused, is taken for one that did.
type observed struct {
	store.Store
	written map[store.Path]bool
	// trees were deleted whole.
	trees []store.Path
}

func observe(inner store.Store) *observed {
	return &observed{Store: inner, written: map[store.Path]bool{}}
}

// changed gives what may have changed since it was last called.
func (o *observed) changed() (written, trees []store.Path) {
	written, trees = slices.Sorted(maps.Keys(o.written)), o.trees
	clear(o.written)
	o.trees = nil
	return written, trees
}

// Run implements store.Store.
func (o *observed) Run(ctx context.Context, fn func(context.Context, store.Tx) error) error {
	return o.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		return fn(ctx, &observedTx{tx, o})
	})
}

// DeleteTree implements store.Store.
func (o *observed) DeleteTree(ctx context.Context, path store.Path) error {
	o.trees = append(o.trees, path)
	return o.Store.DeleteTree(ctx, path)
}

type observedTx struct {
	store.Tx
	store *observed
}

// Create implements store.Tx.
func (t *observedTx) Create(path store.Path, data map[string]any) error {
	t.store.written[path] = true
	return t.Tx.Create(path, data)
}

// Set implements store.Tx.
func (t *observedTx) Set(path store.Path, data map[string]any) error {
	t.store.written[path] = true
	return t.Tx.Set(path, data)
}

// Update implements store.Tx.
func (t *observedTx) Update(path store.Path, updates ...store.Update) error {
	t.store.written[path] = true
	return t.Tx.Update(path, updates...)
}

// Merge implements store.Tx.
func (t *observedTx) Merge(path store.Path, updates ...store.Update) error {
	t.store.written[path] = true
	return t.Tx.Merge(path, updates...)
}

// Delete implements store.Tx.
func (t *observedTx) Delete(path store.Path) error {
	t.store.written[path] = true
	return t.Tx.Delete(path)
}

// Contended wraps documents, for Options.Wrap, so that those transactions run
// their function twice of which met says so when they begin.
func Contended(met func() bool) func(store.Store) store.Store {
	return func(inner store.Store) store.Store { return &contended{inner, storetest.Rerun(inner), met} }
}

type contended struct {
	store.Store
	twice store.Store
	met   func() bool
}

// Run implements store.Store.
func (c *contended) Run(ctx context.Context, fn func(context.Context, store.Tx) error) error {
	if c.met() {
		return c.twice.Run(ctx, fn)
	}
	return c.Store.Run(ctx, fn)
}
