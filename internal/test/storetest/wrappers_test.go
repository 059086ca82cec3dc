package storetest_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"questscheduler/fault"
	"questscheduler/internal/store"
	"questscheduler/internal/test/memorystore"
	"questscheduler/internal/test/storetest"
)

var everything = &store.Query{Name: "everything", Collection: "books"}

func open(t *testing.T) store.Store {
	t.Helper()
	s, err := memorystore.Open([]*store.Query{everything})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestRerun_RunsTheFunctionTwiceAndItsEffectOnce(t *testing.T) {
	t.Parallel()
	s := storetest.Rerun(open(t))
	ran := 0
	err := s.Run(t.Context(), func(ctx context.Context, tx store.Tx) error {
		ran++
		got, err := tx.Get(ctx, "books/one")
		if err != nil {
			return err
		}
		if got.Exists() {
			t.Error("the attempt that was thrown away took effect")
		}
		return tx.Create("books/one", map[string]any{"ran": ran})
	})
	if err != nil || ran != 2 {
		t.Fatalf("ran %d times: %v", ran, err)
	}
	got, err := s.Get(t.Context(), "books/one")
	if err != nil || got.Data["ran"] != int64(2) {
		t.Fatalf("got %v, %v", got, err)
	}
}

func TestRerun_GivesTheLastAttemptsError(t *testing.T) {
	t.Parallel()
	s := storetest.Rerun(open(t))
	first, last := errors.New("first"), errors.New("last")
	ran := 0
	err := s.Run(t.Context(), func(context.Context, store.Tx) error {
		ran++
		if ran == 1 {
			return first
		}
		return last
	})
	if !errors.Is(err, last) || errors.Is(err, first) {
		t.Fatalf("got %v", err)
	}
}

func TestRerun_AStoreThatIsClosed_RunsNothing(t *testing.T) {
	t.Parallel()
	s := storetest.Rerun(open(t))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	err := s.Run(t.Context(), func(context.Context, store.Tx) error { t.Error("the function ran"); return nil })
	if !fault.Is(err, fault.Unavailable) {
		t.Fatalf("got %v", err)
	}
}

func TestCount_CountsWhatFirestoreWouldCharge(t *testing.T) {
	t.Parallel()
	s := storetest.Count(open(t))
	ctx := t.Context()
	step := func(name string, want storetest.Cost, err error) {
		t.Helper()
		if got := s.Reset(); err != nil || got != want {
			t.Fatalf("%s cost %+v (%v), want %+v", name, got, err, want)
		}
	}
	_, err := s.Get(ctx, "books/absent")
	step("an absent document", storetest.Cost{Reads: 1}, err)
	_, err = s.Query(ctx, everything.With())
	step("an empty query", storetest.Cost{Reads: 1}, err)
	_, err = s.GetAll(ctx, []store.Path{"books/a", "books/b", "books/c"})
	step("three documents at once", storetest.Cost{Reads: 3}, err)

	_, err = s.GetAll(ctx, []store.Path{"books/a", "books/b", "books/a"})
	step("two documents, one named twice", storetest.Cost{Reads: 2}, err)

	err = s.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		if _, err := tx.Get(ctx, "books/a"); err != nil {
			return err
		}
		if _, err := tx.GetAll(ctx, []store.Path{"books/b", "books/c"}); err != nil {
			return err
		}
		return errors.Join(tx.Create("books/a", nil), tx.Set("books/b", nil), tx.Delete("books/c"),
			tx.Merge("books/d", store.Update{Path: store.Field("n"), Value: 1}),
			tx.Update("books/d", store.Update{Path: store.Field("n"), Value: 2}))
	})
	if runs := s.Runs(); !slices.Equal(runs, []storetest.Cost{{Reads: 3, Writes: 4, Deletes: 1}}) {
		t.Fatalf("the runs are %v", runs)
	}
	step("a transaction", storetest.Cost{Reads: 3, Writes: 4, Deletes: 1}, err)

	_, err = s.Query(ctx, everything.With())
	step("a query of three", storetest.Cost{Reads: 3}, err)
	failed := s.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		if _, err := tx.Query(ctx, everything.With()); err != nil {
			return err
		}
		return tx.Create("books/a", nil)
	})
	if !fault.Is(failed, fault.Conflict) || len(s.Runs()) != 0 {
		t.Fatalf("got %v and runs %v", failed, s.Runs())
	}
	step("a transaction that failed", storetest.Cost{Reads: 3}, nil)
}
