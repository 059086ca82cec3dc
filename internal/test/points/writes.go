package points

import (
	"context"

	"questscheduler/internal/store"
)

// Writes has a point at each write of a store's transactions, which is without effect where the
// point fails.
type Writes struct {
	store.Store
	Points *Points
}

// Run implements store.Store.
func (w *Writes) Run(ctx context.Context, fn func(context.Context, store.Tx) error) error {
	return w.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error { return fn(ctx, writesTx{tx, w.Points}) })
}

type writesTx struct {
	store.Tx
	points *Points
}

func (t writesTx) Create(path store.Path, data map[string]any) error {
	if err := t.points.pass(); err != nil {
		return err
	}
	return t.Tx.Create(path, data)
}

func (t writesTx) Set(path store.Path, data map[string]any) error {
	if err := t.points.pass(); err != nil {
		return err
	}
	return t.Tx.Set(path, data)
}

func (t writesTx) Update(path store.Path, updates ...store.Update) error {
	if err := t.points.pass(); err != nil {
		return err
	}
	return t.Tx.Update(path, updates...)
}

func (t writesTx) Merge(path store.Path, updates ...store.Update) error {
	if err := t.points.pass(); err != nil {
		return err
	}
	return t.Tx.Merge(path, updates...)
}

func (t writesTx) Delete(path store.Path) error {
	if err := t.points.pass(); err != nil {
		return err
	}
	return t.Tx.Delete(path)
}
