package scheduler_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
	"questscheduler/scheduler"
)

// calls counts a store's calls, in transactions and outside, and runs before ahead of the next
// transaction.
type calls struct {
	store.Store
	inside, outside, documents int
	before                     func()
}

func (c *calls) Run(ctx context.Context, fn func(context.Context, store.Tx) error) error {
	if before := c.before; before != nil {
		c.before = nil
		before()
	}
	return c.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error { return fn(ctx, callsTx{tx, c}) })
}

func (c *calls) Get(ctx context.Context, path store.Path) (store.Document, error) {
	c.outside++
	return c.Store.Get(ctx, path)
}

func (c *calls) GetAll(ctx context.Context, paths []store.Path) ([]store.Document, error) {
	c.outside++
	c.documents += len(paths)
	return c.Store.GetAll(ctx, paths)
}

func (c *calls) Query(ctx context.Context, asked store.Bound) ([]store.Document, error) {
	c.outside++
	return c.Store.Query(ctx, asked)
}

type callsTx struct {
	store.Tx
	to *calls
}

func (tx callsTx) Get(ctx context.Context, path store.Path) (store.Document, error) {
	tx.to.inside++
	return tx.Tx.Get(ctx, path)
}

func (tx callsTx) GetAll(ctx context.Context, paths []store.Path) ([]store.Document, error) {
	tx.to.inside++
	return tx.Tx.GetAll(ctx, paths)
}

func (tx callsTx) Query(ctx context.Context, asked store.Bound) ([]store.Document, error) {
	tx.to.inside++
	return tx.Tx.Query(ctx, asked)
}

// crowd is a world in which gm named 499 people in three polls, in which they voted or not, and the
// counted calls of its store.
func crowd(t *testing.T, vote bool) (w *worldtest.World, people []string, counted *calls) {
	t.Helper()
	w = worldtest.New(t, worldtest.Options{})
	for i := range scheduler.MaxPeople - 1 {
		people = append(people, fmt.Sprintf("p%03d", i))
	}
	for range 3 {
		id, err := names(w, scheduler.Create{}, people...)
		if err != nil {
			t.Fatal(err)
		}
		for _, person := range people {
			if vote {
				w.Write(poll.VotePath(id, person), worldtest.AppVote(person)...)
			}
		}
	}
	counted = &calls{Store: w.Scheduler.Store}
	w.Scheduler.Store = counted
	return w, people, counted
}

func TestNaming_ManyPeople_TakesFewReads(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ vote, fellows bool }{"who voted": {vote: true}, "fellows": {fellows: true}, "who did not": {}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, people, counted := crowd(t, row.vote)
			allowed, members := row.vote || row.fellows, []any{"gm"}
			for _, person := range people {
				members = append(members, person)
			}
			if row.fellows {
				w.Write(poll.GroupPath("party"), poll.Set("creatorId", "fay"), poll.Set("memberIds", members))
				w.Write(poll.AcceptedPath("party"), poll.Set("creatorId", "fay"), poll.Set("acceptedIds", members))
			}
			ask := scheduler.Create{Title: "Named", Slots: []worldtest.Slot{worldtest.Ten}, ParticipantIDs: people}
			_, err := w.Scheduler.Create(w.Context(), worldtest.Person("gm"), ask, worldtest.Cause)
			if (err == nil) != allowed {
				t.Errorf("a poll of all: %v", err)
			}
			if !allowed && counted.documents > 400 {
				t.Errorf("a refusal reads %d documents", counted.documents)
			}
			if counted.inside > 2 || counted.outside > 50 {
				t.Errorf("%d calls outside transactions, %d inside", counted.outside, counted.inside)
			}
			w.Scheduler.Store = counted.Store
			id, err := names(w, scheduler.Create{})
			if err != nil {
				t.Fatal(err)
			}
			w.Scheduler.Store, counted.inside, counted.outside = counted, 0, 0
			_, err = w.Scheduler.Edit(w.Context(), worldtest.Person("gm"), id, scheduler.Edit{ParticipantIDs: &people}, worldtest.Cause)
			if (err == nil) != allowed {
				t.Errorf("an edit: %v", err)
			}
			if counted.inside > 20 || counted.outside > 50 {
				t.Errorf("of an edit, %d calls outside transactions, %d inside", counted.outside, counted.inside)
			}
		})
	}
}

// between has something happen between the reads of a request and its transaction.
func between(w *worldtest.World, happens func()) {
	documents := w.Scheduler.Store
	w.Scheduler.Store = &calls{Store: documents, before: func() {
		w.Scheduler.Store = documents
		happens()
	}}
}

func TestNaming_NamedDuringTheRequest_IsCounted(t *testing.T) {
	t.Parallel()
	for name, fellow := range map[string]bool{"a stranger": false, "a fellow": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			for range 2 {
				if _, err := names(w, scheduler.Create{}, "ana"); err != nil {
					t.Fatal(err)
				}
			}
			if fellow {
				w.Write(poll.GroupPath("party"), poll.Set("creatorId", "fay"), poll.Set("memberIds", []any{"gm", "ana"}))
				w.Write(poll.AcceptedPath("party"), poll.Set("creatorId", "fay"), poll.Set("acceptedIds", []any{"gm", "ana"}))
			}
			own, err := names(w, scheduler.Create{})
			if err != nil {
				t.Fatal(err)
			}
			w.Run(time.Minute)
			between(w, func() {
				if _, err := names(w, scheduler.Create{}, "ana"); err != nil {
					t.Error(err)
				}
			})
			_, err = w.Scheduler.Edit(w.Context(), worldtest.Person("gm"), own, scheduler.Edit{ParticipantIDs: &[]string{"ana"}}, worldtest.Cause)
			if fellow && err != nil || !fellow && !refused(err) {
				t.Error(err)
			}
		})
	}
}

// Whom an edit newly names is decided by the poll as it is then.
func TestNaming_RemovedDuringTheRequest_IsCheckedAnew(t *testing.T) {
	t.Parallel()
	for name, answered := range map[string]bool{"unanswered": false, "answered": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			own, err := names(w, scheduler.Create{}, "ana")
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if _, err := names(w, scheduler.Create{}, "ana"); err != nil {
					t.Fatal(err)
				}
			}
			edit := func(people ...string) error {
				_, err := w.Scheduler.Edit(w.Context(), worldtest.Person("gm"), own, scheduler.Edit{ParticipantIDs: &people}, worldtest.Cause)
				return err
			}
			w.Run(time.Minute)
			between(w, func() {
				if err := edit("ben"); err != nil {
					t.Error(err)
				}
				id, err := names(w, scheduler.Create{}, "ana")
				if err != nil {
					t.Fatal(err)
				}
				if answered {
					w.Write(poll.VotePath(id, "ana"), worldtest.AppVote("ana")...)
				}
			})
			err = edit("ana", "ben")
			if answered && err != nil || !answered && !refused(err) {
				t.Error(err)
			}
		})
	}
}
