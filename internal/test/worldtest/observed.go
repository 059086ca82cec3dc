package worldtest

import (
	"context"
	"maps"
	"slices"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/storetest"
)

// observed is a store that knows which documents may have changed since the last
// call of changed, so that a check reads only those. A write of an attempt that was
// discarded or refused counts as a change too. The store also notes which events
// are left in the calendar as asked.
type observed struct {
	store.Store
	// stored are the documents themselves, for reads that nobody is to count.
	stored  store.Reader
	world   *World
	written map[store.Path]bool
	// trees were deleted whole.
	trees []store.Path
}

func observe(world *World, inner store.Store, stored store.Reader) *observed {
	return &observed{Store: inner, stored: stored, world: world, written: map[store.Path]bool{}}
}

// changed gives what may have changed since it was last called.
func (o *observed) changed() (written, trees []store.Path) {
	if len(o.written) == 0 && len(o.trees) == 0 {
		return nil, nil
	}
	written, trees = slices.Sorted(maps.Keys(o.written)), o.trees
	clear(o.written)
	o.trees = nil
	return written, trees
}

// Run implements store.Store.
func (o *observed) Run(ctx context.Context, fn func(context.Context, store.Tx) error) error {
	var last *observedTx
	err := o.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		last = &observedTx{Tx: tx, store: o, keeps: o.world.keeping}
		return fn(ctx, last)
	})
	if err == nil {
		o.world.past.wrong = append(o.world.past.wrong, last.wrong...)
		o.world.judgePress(last.written)
	}
	if err == nil && last.keeps {
		o.released(last.unlinked)
	}
	return err
}

// released tells the world of events that are followed no longer, and that
// nothing is to delete.
func (o *observed) released(unlinked []poll.IndexEntry) {
	for _, entry := range unlinked {
		id := poll.IntentID(entry.AccountID, entry.CalendarID, entry.EventID)
		if deletion, err := poll.LoadIntent(o.world.ctx, o.stored, id); err == nil && deletion == nil {
			o.world.Released(entry.EventID)
		}
	}
}

// document is as it was committed last.
func (o *observed) document(path store.Path) store.Document {
	document, err := o.stored.Get(o.world.ctx, path)
	o.world.must(err)
	return document
}

// DeleteTree implements store.Store.
func (o *observed) DeleteTree(ctx context.Context, path store.Path) error {
	o.trees = append(o.trees, path)
	o.world.forgetVotes(path)
	return o.Store.DeleteTree(ctx, path)
}

// observedTx is one attempt of a transaction.
type observedTx struct {
	store.Tx
	store *observed
	// keeps: the event that it takes from a poll is to stay where it is.
	keeps    bool
	unlinked []poll.IndexEntry
	// written are the documents that it writes, in a world with presses.
	written []store.Path
	// wrong is what is wrong with its writes, should they count.
	wrong []string
}

func (t *observedTx) writes(path store.Path) {
	t.store.written[path] = true
	if t.store.world.options.Pressed {
		t.written = append(t.written, path)
	}
}

// Create implements store.Tx.
func (t *observedTx) Create(path store.Path, data map[string]any) error {
	t.writes(path)
	if path.Collection() == allSnapshots.Collection {
		t.wrong = append(t.wrong, t.store.world.snapshotLacks(path, data)...)
	}
	return t.Tx.Create(path, data)
}

// Set implements store.Tx.
func (t *observedTx) Set(path store.Path, data map[string]any) error {
	t.writes(path)
	return t.Tx.Set(path, data)
}

// Update implements store.Tx.
func (t *observedTx) Update(path store.Path, updates ...store.Update) error {
	t.writes(path)
	return t.Tx.Update(path, updates...)
}

// Merge implements store.Tx.
func (t *observedTx) Merge(path store.Path, updates ...store.Update) error {
	t.writes(path)
	return t.Tx.Merge(path, updates...)
}

// Delete implements store.Tx.
func (t *observedTx) Delete(path store.Path) error {
	t.writes(path)
	switch path.Collection() {
	case allIntents.Collection: // the end of a finalisation, in whatever task
		t.keeps = t.keeps || poll.DecodeIntent(t.store.document(path)).Session.KeepOld
	case allIndex.Collection:
		t.unlinked = append(t.unlinked, poll.DecodeIndex(t.store.document(path)))
	}
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
