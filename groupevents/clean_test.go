package groupevents_test

import (
	"context"
	"fmt"
	"maps"
	"testing"

	"questscheduler/groupevents"
	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
	"questscheduler/internal/test/mirrortest"
)

// deletions is a store that knows how many documents each transaction deleted.
type deletions struct {
	store.Store
	each []int
}

func (d *deletions) Run(ctx context.Context, fn func(context.Context, store.Tx) error) error {
	var tx *deletingTx
	err := d.Store.Run(ctx, func(ctx context.Context, inner store.Tx) error {
		tx = &deletingTx{Tx: inner}
		return fn(ctx, tx)
	})
	d.each = append(d.each, tx.deleted)
	return err
}

type deletingTx struct {
	store.Tx
	deleted int
}

func (tx *deletingTx) Delete(path store.Path) error {
	tx.deleted++
	return tx.Tx.Delete(path)
}

// A group's people may have a thousand accounts, more than one transaction may write.
func TestRemoveEnded_OfAnEventWithManyMirrors_TakesSomeAtOnce(t *testing.T) {
	t.Parallel()
	w := newConnectedWorld(t)
	made, err := w.create("ana", "Festival", mirrortest.Start.AddDate(0, 0, 2))
	w.must(err)
	w.Settle()
	var one store.Document
	w.must(w.Documents.Run(t.Context(), func(ctx context.Context, tx store.Tx) error {
		mirrors, err := mirror.OfEvent(ctx, tx, made.ID)
		if err != nil {
			return err
		}
		one, err = tx.Get(ctx, mirror.Path(mirrors[0].ID))
		for i := range 300 {
			if err == nil {
				err = tx.Create(mirror.Path(fmt.Sprintf("mir_many%d", i)), maps.Clone(one.Data))
			}
		}
		return err
	}))
	documents := &deletions{Store: w.Documents}
	removed, _, err := groupevents.RemoveEnded(t.Context(), documents, mirrortest.Start.AddDate(1, 0, 0), "")
	w.must(err)
	if removed != 1 || len(documents.each) != 4 {
		t.Errorf("%d events were removed, in transactions of %v documents", removed, documents.each)
	}
	for _, deleted := range documents.each {
		if deleted > 101 {
			t.Errorf("a transaction deleted %d documents", deleted)
		}
	}
	left, err := mirror.OfEvent(t.Context(), w.Documents, made.ID)
	w.must(err)
	if len(left) > 0 {
		t.Errorf("%d mirrors are left", len(left))
	}
	if _, err := mirror.LoadEvent(t.Context(), w.Documents, made.ID); err == nil {
		t.Error("the event is left")
	}
}
