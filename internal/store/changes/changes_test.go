package changes_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"questscheduler/fault"
	"questscheduler/internal/store"
	"questscheduler/internal/store/changes"
	"questscheduler/internal/test/memorystore"
	"questscheduler/internal/test/storetest"
)

// TestStore_PassesTheConformanceSuite: what stands before a driver keeps all that
// the driver promises.
func TestStore_PassesTheConformanceSuite(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T, queries []*store.Query) store.Store {
		t.Helper()
		inner, err := memorystore.Open(queries)
		must(t, err)
		return changes.New(inner)
	})
}

func open(t *testing.T) *changes.Store {
	t.Helper()
	inner, err := memorystore.Open(nil)
	must(t, err)
	return changes.New(storetest.Rerun(inner)) // every function runs twice
}

// waiting are the polls of the changes that wait for a listener.
func waiting(changed <-chan string) (ids []string) {
	for len(changed) > 0 {
		ids = append(ids, <-changed)
	}
	return ids
}

func TestListener_GetsPollsSlotsAndVotes(t *testing.T) {
	t.Parallel()
	for path, want := range map[store.Path][]string{
		"schedulers/p1":                     {"p1"},
		"schedulers/p1/slots/s1":            {"p1"},
		"schedulers/p1/votes/gm":            {"p1"},
		"schedulers/p1/journal/jrn_1":       nil,
		"schedulers/p1/snapshots/x":         nil,
		"users/gm/schedulers/p1":            nil,
		"users/gm/schedulers/p1/slots/s1":   nil,
		"calendars/k":                       nil,
		"questingGroups/g/slots/s1":         nil,
		"schedulers/p1/votes/gm/slots/deep": nil,
	} {
		s := open(t)
		changed, _ := s.Listen()
		must(t, s.Run(t.Context(), func(_ context.Context, tx store.Tx) error { return tx.Set(path, map[string]any{"a": 1}) }))
		if got := waiting(changed); !slices.Equal(got, want) {
			t.Errorf("%s is reported as %v, want %v", path, got, want)
		}
	}
}

func TestListener_EachKindOfWrite_IsReported(t *testing.T) {
	t.Parallel()
	poll := func(id string) store.Path { return store.Doc("schedulers", id) }
	one := []store.Update{{Path: store.Field("a"), Value: 2}}
	for name, write := range map[string]func(tx store.Tx) error{
		"create": func(tx store.Tx) error { return tx.Create(poll("new"), map[string]any{}) },
		"set":    func(tx store.Tx) error { return tx.Set(poll("old"), map[string]any{}) },
		"update": func(tx store.Tx) error { return tx.Update(poll("old"), one...) },
		"merge":  func(tx store.Tx) error { return tx.Merge(poll("other"), one...) },
		"delete": func(tx store.Tx) error { return tx.Delete(poll("old")) },
	} {
		s := open(t)
		must(t, s.Run(t.Context(), func(_ context.Context, tx store.Tx) error { return tx.Set(poll("old"), map[string]any{"a": 1}) }))
		changed, _ := s.Listen()
		must(t, s.Run(t.Context(), func(_ context.Context, tx store.Tx) error { return write(tx) }))
		if got := waiting(changed); len(got) != 1 {
			t.Errorf("%s is reported as %v", name, got)
		}
	}
	s := open(t)
	changed, _ := s.Listen()
	must(t, s.DeleteTree(t.Context(), poll("old")))
	if got := waiting(changed); !slices.Equal(got, []string{"old"}) {
		t.Errorf("the end of a tree is reported as %v", got)
	}
}

func TestListener_PollWrittenTwiceInATransaction_IsReportedOnce(t *testing.T) {
	t.Parallel()
	s := open(t)
	changed, _ := s.Listen()
	must(t, s.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
		for _, path := range []store.Path{"schedulers/p1", "schedulers/p1/slots/s1", "schedulers/p2"} {
			must(t, tx.Set(path, map[string]any{}))
		}
		return nil
	}))
	if got := waiting(changed); !slices.Equal(got, []string{"p1", "p2"}) {
		t.Errorf("reported are %v", got)
	}
}

func TestListener_GetsOnlyPossiblyCommittedWrites(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		failure error
		want    []string
	}{
		"a function that gave up":      {errors.New("no"), nil},
		"a conflict":                   {fault.New(fault.Conflict, "no"), nil},
		"a commit that did not answer": {fault.New(fault.Unavailable, "who knows"), []string{"p1"}},
	} {
		s := open(t)
		changed, _ := s.Listen()
		err := s.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
			must(t, tx.Set(store.Doc("schedulers", "p1"), map[string]any{}))
			return row.failure
		})
		if got := waiting(changed); !errors.Is(err, row.failure) || !slices.Equal(got, row.want) {
			t.Errorf("%s: %v is reported as %v, want %v", name, err, got, row.want)
		}
	}
}

func TestListener_TransactionReran_GetsLastAttemptAlone(t *testing.T) {
	t.Parallel()
	s := open(t)
	changed, _ := s.Listen()
	attempt := 0
	must(t, s.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
		attempt++
		return tx.Set(store.Doc("schedulers", fmt.Sprintf("p%d", attempt)), map[string]any{})
	}))
	if got := waiting(changed); attempt < 2 || !slices.Equal(got, []string{fmt.Sprintf("p%d", attempt)}) {
		t.Errorf("after %d attempts it reports %v", attempt, got)
	}
}

func TestListener_FallsBehind_BlocksNoWriterAndIsRemoved(t *testing.T) {
	t.Parallel()
	s := open(t)
	slow, stopSlow := s.Listen()
	stopped, stop := s.Listen()
	stop()
	stop()
	for i := range changes.Held + 2 {
		must(t, s.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
			return tx.Set(store.Doc("schedulers", fmt.Sprintf("p%d", i)), map[string]any{})
		}))
	}
	if got := waiting(slow); len(got) != changes.Held {
		t.Errorf("%d changes were kept", len(got))
	}
	select {
	case _, listening := <-slow:
		if listening {
			t.Error("a change comes after the loss")
		}
	default:
		t.Error("the listener is not notified of the loss")
	}
	stopSlow()
	if got := waiting(stopped); got != nil || s.Listening() != 0 {
		t.Errorf("after stop %v were reported; %d listen", got, s.Listening())
	}
}

// TestListener_AmongMany: each of several listeners hears of each poll, while
// others write, listen and stop.
func TestListener_AmongMany(t *testing.T) {
	t.Parallel()
	s := open(t)
	const writers, writes = 4, 25
	first, _ := s.Listen()
	second, _ := s.Listen()
	var group sync.WaitGroup
	for writer := range writers {
		group.Go(func() {
			for i := range writes {
				err := s.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
					return tx.Set(store.Doc("schedulers", fmt.Sprintf("p%d-%d", writer, i)), map[string]any{})
				})
				if err != nil {
					t.Error(err)
				}
				_, stop := s.Listen()
				stop()
			}
		})
	}
	group.Wait()
	for _, changed := range []<-chan string{first, second} {
		heard := map[string]bool{}
		for _, id := range waiting(changed) {
			heard[id] = true
		}
		if len(heard) != writers*writes {
			t.Errorf("a listener heard of %d polls", len(heard))
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
