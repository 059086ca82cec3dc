package main

import (
	"context"
	"errors"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/oklog/ulid/v2"

	"questscheduler/internal/outbox"
	"questscheduler/internal/store"
	"questscheduler/internal/store/sqlite"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// transitionPolls is how many polls move at the same time.
const transitionPolls = 64

// transitions moves polls to and fro on SQLite by the code that a sync run calls:
// one durable transaction decides and applies the move, and another enqueues the
// announcement's task in the same file.
func transitions(ctx context.Context, r *report, folder string) (err error) {
	var file *sqlite.Store
	defer func() {
		if file != nil {
			err = errors.Join(err, file.Close())
		}
	}()
	return inWorlds(func(t worldtest.TB) error {
		w := worldtest.New(t, worldtest.Options{
			Open: func(queries []*store.Query) (_ store.Store, err error) {
				file, err = sqlite.Open(ctx, sqlite.Options{Path: filepath.Join(folder, "data.db"), Queries: ofProgram(queries)})
				return file, err
			},
			Wrap: func(file store.Store) store.Store { return file },
		})
		movers := make([]mover, transitionPolls)
		for i := range movers {
			pollID, slots := w.Poll()
			view, err := w.Finalise(pollID, slots[0])
			if err != nil {
				return err
			}
			movers[i] = mover{eventID: view.Poll.GoogleEventID, updated: view.Poll.Sync.Observed}
		}
		w.Run(time.Minute)
		service := *w.Scheduler // the world's own runs one thing at a time
		service.Store = file
		service.Outbox = &outbox.Outbox{Store: file, Waker: nobody{}, Now: service.Now, Log: service.Log}
		service.IDs = scheduler.IDs{UUID: uuid.NewString, ULID: func(prefix string) string { return prefix + "_" + ulid.Make().String() }}
		fence := w.Calendar("gm").Fence
		written, err := documentsOfMove(ctx, service, &movers[0], w.Account("gm"), fence)
		if err != nil {
			return err
		}
		for _, writers := range []int{1, transitionPolls} {
			name := "transitions_" + strconv.Itoa(writers) + "_at_once"
			bare, err := sameDocuments(ctx, folder, written, writers)
			if err != nil {
				return err
			}
			rate, err := moveAll(ctx, &service, movers[:writers], w.Account("gm"), fence)
			if err != nil {
				return err
			}
			if err := errors.Join(
				r.add(name+"_bare_sqlite", bare, "/s", ""), r.add(name, rate, "/s", name+"_bare_sqlite")); err != nil {
				return err
			}
		}
		return r.add("transitions_documents", float64(len(written)), "written", "")
	})
}

// documentsOfMove are the documents that a poll's move writes.
func documentsOfMove(
	ctx context.Context, service scheduler.Service, poll *mover, accountID string, fence int64,
) ([]store.Document, error) {
	recorded := &recorder{Store: service.Store}
	service.Store = recorded
	if err := poll.move(ctx, &service, accountID, fence); err != nil {
		return nil, err
	}
	return recorded.documents(ctx)
}

// nobody is a waker that wakes nobody, as a pool that is stopped.
type nobody struct{}

// Wake implements outbox.Waker.
func (nobody) Wake(context.Context, string, string, string, time.Time) error { return nil }

// mover is a poll whose event somebody moves to and fro.
type mover struct {
	eventID string
	updated time.Time
	moves   int
}

// moveAll moves the polls at once for a while, and tells how many transitions a
// second there were.
func moveAll(ctx context.Context, service *scheduler.Service, movers []mover, accountID string, fence int64) (rate float64, err error) {
	var done atomic.Int64
	failures := make([]error, len(movers))
	var all sync.WaitGroup
	began := time.Now()
	for i := range movers {
		all.Go(func() {
			for time.Since(began) < writing && failures[i] == nil {
				failures[i] = movers[i].move(ctx, service, accountID, fence)
				done.Add(1)
			}
		})
	}
	all.Wait()
	return float64(done.Load()) / time.Since(began).Seconds(), errors.Join(failures...)
}

// move applies an observation of the event at its other time.
func (m *mover) move(ctx context.Context, service *scheduler.Service, accountID string, fence int64) error {
	to, want := worldtest.Noon, rules.Reschedule
	if m.moves%2 == 1 {
		to, want = worldtest.Ten, rules.Restore
	}
	m.moves++
	m.updated = m.updated.Add(time.Millisecond)
	applied, err := service.Apply(ctx, scheduler.ObservedEvent{
		AccountID: accountID, CalendarID: worldtest.Person("gm").Email, EventID: m.eventID, EventState: rules.Present,
		Fingerprint: rules.Timed(to.Start, to.End), Updated: m.updated, Fence: fence, Cause: scheduler.Cause{Trigger: "bench"},
	})
	if err == nil && applied.Decision.Action != want {
		err = errors.New("a move decided " + string(applied.Decision.Action))
	}
	return err
}
