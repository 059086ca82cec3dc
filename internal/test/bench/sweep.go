package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"questscheduler/calendarsync"
	"questscheduler/internal/accounts"
	"questscheduler/internal/calendars"
	"questscheduler/internal/gcal"
	"questscheduler/internal/outbox"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/store/sqlite"
	"questscheduler/internal/test/worldtest"
	"questscheduler/notify"
	"questscheduler/scheduler"
)

// How much is swept.
const (
	sweptCalendars   = 10_000
	pollsOfACalendar = 10
	// sweptAtATime is how many calendars are written in a transaction.
	sweptAtATime = 200
)

// sweeps runs a sweep over many calendars on SQLite, each with its sync run. It
// counts the listings requested from Google and measures how much the heap grew.
// Google is a stand-in without changes, so only the program itself is measured.
func sweeps(ctx context.Context, r *report, folder string) error {
	return sweepOf(ctx, r, folder, sweptCalendars)
}

func sweepOf(ctx context.Context, r *report, folder string, count int) (err error) {
	queries := slices.Concat(poll.Queries, calendars.Queries, calendarsync.Queries, accounts.Queries)
	documents, err := sqlite.Open(ctx, sqlite.Options{Path: filepath.Join(folder, "data.db"), Queries: append(queries, notify.Queries...)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, documents.Close()) }()
	if err := seedSweep(ctx, documents, count, pollsOfACalendar); err != nil {
		return err
	}
	s := newSwept(documents, count)
	began := time.Now()
	swept, err := s.run(ctx)
	if err != nil {
		return err
	}
	if swept.HandedOver != count || s.listed != count || swept.Failed > 0 {
		return fmt.Errorf("of %d calendars %d were handed over, %d listed, %d failed", count, swept.HandedOver, s.listed, swept.Failed)
	}
	return errors.Join(
		r.add("sweep_polls", float64(count*pollsOfACalendar), "polls", ""),
		r.add("sweep_listings", float64(s.listed), "listings", ""),
		r.add("sweep_heap_at_its_first_tenth", s.early/(1<<20), "MiB", ""),
		r.add("sweep_heap_at_most", s.most/(1<<20), "MiB", "sweep_heap_at_its_first_tenth"),
		r.add("sweep_calendars", float64(count)/time.Since(began).Seconds(), "/s", ""))
}

// seedSweep writes calendars with their polls straight into the store: copies of
// one that a world of the tests finalised.
func seedSweep(ctx context.Context, documents store.Store, count, polls int) error {
	return inWorlds(func(t worldtest.TB) error {
		w := worldtest.New(t, worldtest.Options{})
		pollID, slots, eventID := w.Finalised()
		template := [...]map[string]any{
			w.Document(poll.Path(pollID)).Data, w.Document(poll.SlotPath(pollID, slots[0])).Data,
			w.Document(poll.IndexPath(eventID)).Data, w.Document(calendars.Path(w.CalendarKey("gm"))).Data,
		}
		for first := 0; first < count; first += sweptAtATime {
			err := documents.Run(ctx, func(_ context.Context, tx store.Tx) error {
				for n := first; n < min(first+sweptAtATime, count); n++ {
					if err := seedCalendar(tx, n, polls, slots[0], template); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func seedCalendar(tx store.Tx, n, polls int, slotID string, template [4]map[string]any) error {
	account, calendarID := fmt.Sprintf("acc_%05d", n), fmt.Sprintf("person%05d@example.com", n)
	calendar := with(template[3], map[string]any{
		"accountId": account, "calendarId": calendarID, "syncToken": "token", "syncAt": nil, "syncAsked": nil,
		"interests": map[string]any{poll.ConsumerPoll: polls},
	})
	failures := []error{tx.Create(calendars.Path(poll.CalendarKey(account, calendarID)), calendar)}
	for i := range polls {
		pollID, eventID := fmt.Sprintf("poll-%05d-%d", n, i), fmt.Sprintf("event%05d%d", n, i)
		sync, _ := template[0]["calendarSync"].(map[string]any)
		recorded, _ := sync["recorded"].(map[string]any)
		sync = with(sync, map[string]any{"recorded": with(recorded, map[string]any{"eventId": eventID})})
		failures = append(failures,
			tx.Create(poll.Path(pollID), with(template[0], map[string]any{
				"googleEventId": eventID, "googleCalendarId": calendarID, "calendarSync": sync,
			})),
			tx.Create(poll.SlotPath(pollID, slotID), template[1]),
			tx.Create(poll.IndexPath(eventID),
				with(template[2], map[string]any{"accountId": account, "calendarId": calendarID, "schedulerId": pollID})))
	}
	return errors.Join(failures...)
}

// with is a copy of fields with others in their place.
func with(fields, others map[string]any) map[string]any {
	copied := maps.Clone(fields)
	maps.Copy(copied, others)
	return copied
}

// sweepers is how many tasks run at the same time.
const sweepers = 16

// swept is the part of the program that sweeps, with a queue that runs what it
// is handed as soon as a worker is free, and a Google that has nothing new.
type swept struct {
	calendarsync.Google // nothing else is asked of it
	watcher             *calendarsync.Watcher
	syncer              *calendarsync.Syncer
	outbox              *outbox.Outbox
	tasks               *errgroup.Group
	count               int
	now                 atomic.Int64 // since the world began

	mu          sync.Mutex
	listed      int
	early, most float64
}

func newSwept(documents store.Store, count int) *swept {
	s := &swept{count: count, tasks: &errgroup.Group{}}
	s.tasks.SetLimit(sweepers)
	// A day after the last sync, so that no calendar is fresh.
	s.now.Store(int64(24 * time.Hour))
	now := func() time.Time { return worldtest.Start.Add(time.Duration(s.now.Load())) }
	log := slog.New(slog.DiscardHandler)
	s.outbox = &outbox.Outbox{Store: documents, Waker: s, Now: now, Log: log}
	service := &scheduler.Service{Store: documents, Outbox: s.outbox, Now: now, Log: log}
	s.watcher = &calendarsync.Watcher{Store: documents, Outbox: s.outbox, Google: s, Polls: service, Now: now, Log: log}
	s.syncer = &calendarsync.Syncer{Store: documents, Google: s, Polls: service, Now: now, HoldShare: 0.5, HoldMin: 5, Log: log}
	s.outbox.Add(s.syncer.Work(), s.watcher.Sweeps())
	return s
}

// run plans a sweep page by page, as the timers do, and drains once all its slots have come.
func (s *swept) run(ctx context.Context) (all calendarsync.Swept, err error) {
	all, err = s.plan(ctx)
	err = errors.Join(err, s.tasks.Wait())
	if err != nil { // what was due at once has ended
		return all, err
	}
	s.now.Add(int64(6 * time.Hour))
	for {
		woken, err := s.outbox.Drain(ctx)
		err = errors.Join(err, s.tasks.Wait())
		if err != nil || !slices.ContainsFunc(woken, func(kind outbox.Woken) bool { return kind.N > 0 }) {
			return all, err
		}
	}
}

func (s *swept) plan(ctx context.Context) (all calendarsync.Swept, err error) {
	for at := ""; ; {
		page, next, err := s.watcher.SweepPage(ctx, scheduler.Cause{Trigger: "sweep"}, at, 6*time.Hour)
		all.HandedOver += page.HandedOver
		all.Failed += page.Failed
		if err != nil || next == "" {
			return all, err
		}
		at = next
	}
}

// Wake has a worker sweep the calendar, or syncs it at once in the worker that
// asks for it.
func (s *swept) Wake(ctx context.Context, kind, id, _ string, at time.Time) error {
	if at.After(s.outbox.Now()) {
		return nil // the drain comes when it is due
	}
	if kind == calendars.SyncKind {
		return s.done(ctx, kind, id)
	}
	s.tasks.Go(func() error { return s.done(ctx, kind, id) })
	return nil
}

// done runs an entry, which has to end.
func (s *swept) done(ctx context.Context, kind, id string) error {
	again, err := s.outbox.Run(ctx, kind, id)
	if err == nil && !again.IsZero() {
		err = fmt.Errorf("%s %s is not done", kind, id)
	}
	return err
}

// weighings is how often the heap is measured during the sweep.
const weighings = 20

// List has nothing new.
func (s *swept) List(context.Context, gcal.Ref, gcal.Mask, string, string) (gcal.Page, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listed++
	if s.listed%(s.count/weighings) == 0 {
		s.weigh()
	}
	return gcal.Page{NextSync: "token", Writable: true}, nil
}

// weigh measures the heap in use after a garbage collection.
func (s *swept) weigh() {
	runtime.GC()
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	s.most = max(s.most, float64(memory.HeapAlloc))
	if s.listed <= s.count/10 {
		s.early = s.most
	}
}
