package memorystore_test

import (
	"context"
	"errors"
	"testing"

	"questscheduler/fault"
	"questscheduler/internal/store"
	"questscheduler/internal/test/memorystore"
)

// overtake writes a document in a transaction of its own.
func overtake(t *testing.T, s store.Store, path store.Path, n int) {
	t.Helper()
	err := s.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
		return tx.Set(path, map[string]any{"n": n})
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestRun_Overtaken_RerunsAndNeverSeesTwoStates(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	attempts := 0
	err := s.Run(t.Context(), func(ctx context.Context, tx store.Tx) error {
		attempts++
		a, err := tx.Get(ctx, "pair/a")
		if err != nil {
			return err
		}
		if attempts == 1 {
			overtake(t, s, "pair/a", 1)
			overtake(t, s, "pair/b", 1)
		}
		b, err := tx.Get(ctx, "pair/b")
		if err != nil {
			return err
		}
		if a.Data["n"] != b.Data["n"] {
			t.Errorf("attempt %d saw %v and %v", attempts, a, b)
		}
		return tx.Update("pair/a", store.Update{Path: store.Field("copied"), Value: b.Data["n"]})
	})
	got, readErr := s.Get(t.Context(), "pair/a")
	if err != nil || readErr != nil || attempts != 2 || got.Data["copied"] != int64(1) {
		t.Fatalf("%d attempts left %v (%v, %v)", attempts, got, err, readErr)
	}
}

func TestRun_OvertakenAttemptFails_ErrorIsDropped(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	attempts := 0
	err := s.Run(t.Context(), func(ctx context.Context, tx store.Tx) error {
		attempts++
		got, err := tx.Get(ctx, "notes/a")
		if err != nil || got.Exists() {
			return err
		}
		overtake(t, s, "notes/a", 1)
		return errors.New("the note is not there")
	})
	if err != nil || attempts != 2 {
		t.Fatalf("%d attempts gave %v", attempts, err)
	}
}

func TestRun_UnrelatedChanges_CauseNoRerun(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	attempts := 0
	err := s.Run(t.Context(), func(ctx context.Context, tx store.Tx) error {
		attempts++
		if _, err := tx.Get(ctx, "notes/a"); err != nil {
			return err
		}
		overtake(t, s, "notes/b", attempts)
		return tx.Set("notes/a", nil)
	})
	if err != nil || attempts != 1 {
		t.Fatalf("%d attempts gave %v", attempts, err)
	}
}

func TestRun_OvertakenWithoutEnd_GivesUp(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	attempts := 0
	err := s.Run(t.Context(), func(ctx context.Context, tx store.Tx) error {
		attempts++
		if _, err := tx.Get(ctx, "notes/a"); err != nil {
			return err
		}
		overtake(t, s, "notes/a", attempts)
		return tx.Set("notes/a", nil)
	})
	if !fault.Is(err, fault.Unavailable) {
		t.Fatalf("%d attempts gave %v", attempts, err)
	}
}

func TestOpen_BadQueries_Refused(t *testing.T) {
	t.Parallel()
	if _, err := memorystore.Open([]*store.Query{{Name: "no collection"}}); !fault.Is(err, fault.Invalid) {
		t.Fatalf("got %v", err)
	}
}
