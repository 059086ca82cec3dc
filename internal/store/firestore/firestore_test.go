package firestore_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"questscheduler/internal/store"
	"questscheduler/internal/store/firestore"
	"questscheduler/internal/test/emulator"
	"questscheduler/internal/test/storetest"
)

// openProject opens a project of the emulator until the test ends.
func openProject(t *testing.T, host, project string, queries []*store.Query) *firestore.Store {
	t.Helper()
	s, err := firestore.Open(t.Context(), firestore.Options{Project: project, Emulator: host, Queries: queries})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func open(t *testing.T, queries []*store.Query) *firestore.Store {
	t.Helper()
	host, project := emulator.Project(t)
	return openProject(t, host, project, queries)
}

func TestConformance(t *testing.T) {
	t.Parallel()
	storetest.RunEmulated(t, func(t *testing.T, queries []*store.Query) store.Store { return open(t, queries) })
}

func TestConformance_Durable(t *testing.T) {
	t.Parallel()
	storetest.RunDurable(t, func(t *testing.T) storetest.Place {
		host, project := emulator.Project(t)
		return server{host, project}
	})
}

// server is a project as a place of the suite: our death leaves it as it is.
type server struct{ host, project string }

func (s server) Open(t *testing.T, queries []*store.Query) store.Store {
	t.Helper()
	return openProject(t, s.host, s.project, queries)
}

func (s server) Crash(*testing.T) storetest.Place { return s }

// TestRun_ManyOnOneDocument_AllCommit: the emulator ends a deadlock after
// two seconds and favours nobody, so that those that begin again at once would
// meet again and again.
func TestRun_ManyOnOneDocument_AllCommit(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	const many = 8
	var all sync.WaitGroup
	for range many {
		all.Go(func() {
			err := s.Run(t.Context(), func(ctx context.Context, tx store.Tx) error {
				got, err := tx.Get(ctx, "books/one")
				if err != nil {
					return err
				}
				return tx.Merge("books/one", store.Update{Path: store.Field("n"), Value: store.Fields(got.Data).Int("n") + 1})
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	got, err := s.Get(t.Context(), "books/one")
	if err != nil || got.Data["n"] != int64(many) {
		t.Fatalf("got %v, %v", got.Data, err)
	}
}

// TestRun_ManyQueriesOfOneCollection_AllCommit: each writes documents of its
// own, as a finalisation does after it has queried its intents; but the emulator
// locks whole collections for a query, so that each is in the way of all.
func TestRun_ManyQueriesOfOneCollection_AllCommit(t *testing.T) {
	t.Parallel()
	s := open(t, []*store.Query{byTitle})
	const many = 16
	var ran atomic.Int64
	var all sync.WaitGroup
	for i := range many {
		all.Go(func() {
			title := strconv.Itoa(i)
			err := s.Run(t.Context(), func(ctx context.Context, tx store.Tx) error {
				ran.Add(1)
				if _, err := tx.Get(ctx, store.Doc("shelves", title)); err != nil {
					return err
				}
				if _, err := tx.Query(ctx, byTitle.With(title)); err != nil {
					return err
				}
				return errors.Join(tx.Set(store.Doc("shelves", title), nil), tx.Set(store.Doc("books", title), map[string]any{"title": title}))
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	// Two each where they take turns: one that is overtaken, one that goes through.
	if got := ran.Load(); got > 4*many {
		t.Errorf("%d transactions took %d attempts", many, got)
	}
}
