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

func TestListener_GetsPollsSlotsAndVotes(t *testing.T) {
	t.Parallel()
	for path, want := range map[store.Path][]changes.Change{
		"schedulers/p1":                     {{Poll: "p1"}},
		"schedulers/p1/slots/s1":            {{Poll: "p1", Parts: true}},
		"schedulers/p1/votes/gm":            {{Poll: "p1", Parts: true}},
		"schedulers/p1/journal/jrn_1":       nil,
		"schedulers/p1/snapshots/x":         nil,
		"users/gm/schedulers/p1":            nil,
		"users/gm/schedulers/p1/slots/s1":   nil,
		"calendars/k":                       nil,
		"questingGroups/g/slots/s1":         nil,
		"schedulers/p1/votes/gm/slots/deep": nil,
	} {
		s := open(t)
		l := s.Listen()
		must(t, s.Run(t.Context(), func(_ context.Context, tx store.Tx) error { return tx.Set(path, map[string]any{"a": 1}) }))
		if got, lost := l.Take(); !slices.Equal(got, want) || lost {
			t.Errorf("%s is reported as %v, %t; want %v", path, got, lost, want)
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
		l := s.Listen()
		must(t, s.Run(t.Context(), func(_ context.Context, tx store.Tx) error { return write(tx) }))
		if got, _ := l.Take(); len(got) != 1 {
			t.Errorf("%s is reported as %v", name, got)
		}
	}
	s := open(t)
	l := s.Listen()
	must(t, s.DeleteTree(t.Context(), poll("old")))
	if got, _ := l.Take(); !slices.Equal(got, []changes.Change{{Poll: "old", Parts: true}}) {
		t.Errorf("the end of a tree is reported as %v", got)
	}
}

func TestListener_GetsOnlyPossiblyCommittedWrites(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		failure error
		want    []changes.Change
	}{
		"a function that gave up":      {errors.New("no"), nil},
		"a conflict":                   {fault.New(fault.Conflict, "no"), nil},
		"a commit that did not answer": {fault.New(fault.Unavailable, "who knows"), []changes.Change{{Poll: "p1"}}},
	} {
		s := open(t)
		l := s.Listen()
		err := s.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
			must(t, tx.Set(store.Doc("schedulers", "p1"), map[string]any{}))
			return row.failure
		})
		if got, _ := l.Take(); !errors.Is(err, row.failure) || !slices.Equal(got, row.want) {
			t.Errorf("%s: %v is reported as %v, want %v", name, err, got, row.want)
		}
	}
}

func TestListener_TransactionReran_GetsLastAttemptAlone(t *testing.T) {
	t.Parallel()
	s := open(t)
	l := s.Listen()
	attempt := 0
	must(t, s.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
		attempt++
		return tx.Set(store.Doc("schedulers", fmt.Sprintf("p%d", attempt)), map[string]any{})
	}))
	if got, _ := l.Take(); attempt < 2 || len(got) != 1 || got[0].Poll != fmt.Sprintf("p%d", attempt) {
		t.Errorf("after %d attempts it reports %v", attempt, got)
	}
}

func TestListener_TakesNothing_BlocksNoWriterAndLosesRest(t *testing.T) {
	t.Parallel()
	s := open(t)
	slow, closed := s.Listen(), s.Listen()
	closed.Close()
	closed.Close()
	write := func(n int) {
		for i := range n {
			must(t, s.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
				return tx.Set(store.Doc("schedulers", fmt.Sprintf("p%d", i)), map[string]any{})
			}))
		}
	}
	write(changes.Held)
	write(changes.Held) // the same again: nothing more to keep
	if got, lost := slow.Take(); len(got) != changes.Held || lost {
		t.Errorf("%d were kept, lost %t", len(got), lost)
	}
	write(changes.Held + 2)
	select {
	case <-slow.Woken():
	default:
		t.Error("it was not woken")
	}
	if got, lost := slow.Take(); len(got) != 0 || !lost {
		t.Errorf("%d were kept, lost %t", len(got), lost)
	}
	write(1)
	if got, lost := slow.Take(); len(got) != 1 || lost {
		t.Errorf("afterwards %v, lost %t", got, lost)
	}
	if got, lost := closed.Take(); got != nil || lost || s.Listening() != 1 {
		t.Errorf("who closed hears %v, %t; %d listen", got, lost, s.Listening())
	}
}

func TestPending_PollWrittenTwice_KeepsItsPlaceAndMark(t *testing.T) {
	t.Parallel()
	p := changes.NewPending(2)
	p.Add(changes.Change{Poll: "a"}, changes.Change{Poll: "b", Parts: true})
	p.Add(changes.Change{Poll: "a", Parts: true}, changes.Change{Poll: "b"})
	if got, lost := p.Take(); lost || !slices.Equal(got, []changes.Change{{Poll: "a", Parts: true}, {Poll: "b", Parts: true}}) {
		t.Errorf("taken were %v, lost %t", got, lost)
	}
	p.Add(changes.Change{Poll: "c"})
	p.Lose()
	p.Add(changes.Change{Poll: "d"})
	if got, lost := p.Take(); !lost || got != nil {
		t.Errorf("after the loss taken were %v, lost %t", got, lost)
	}
}

// TestListener_AmongMany: each of several listeners hears of each poll, while
// others write, listen and close.
func TestListener_AmongMany(t *testing.T) {
	t.Parallel()
	s := open(t)
	const writers, writes = 4, 25
	listeners := []*changes.Listener{s.Listen(), s.Listen()}
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
				s.Listen().Close()
			}
		})
	}
	for _, listener := range listeners {
		group.Go(func() {
			heard := map[string]bool{}
			for len(heard) < writers*writes {
				select {
				case <-listener.Woken():
				case <-t.Context().Done():
					t.Errorf("heard of %d polls only", len(heard))
					return
				}
				polls, lost := listener.Take()
				if lost {
					t.Error("something was lost")
				}
				for _, change := range polls {
					heard[change.Poll] = true
				}
			}
		})
	}
	group.Wait()
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
