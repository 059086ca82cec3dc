// Package mirrortest is a world of people whose calendars are kept informed of each other:
// the real sync, planning, writer and group events over a store that counts, a memory queue
// and the Google simulator, with one clock that moves by hand. It is for tests of scale,
// the bench and the page of costs; nothing runs on its own.
package mirrortest

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/oauth2"

	"questscheduler/availability"
	"questscheduler/calendarsync"
	"questscheduler/demo/sim/control"
	"questscheduler/demo/sim/google"
	"questscheduler/fault"
	"questscheduler/groupevents"
	"questscheduler/internal/accounts"
	"questscheduler/internal/calendars"
	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/internal/outbox"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/memorystore"
	"questscheduler/internal/test/storetest"
	"questscheduler/internal/test/wakes"
	"questscheduler/internal/test/worldtest"
	"questscheduler/mirrors"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// Start is when every world begins: a Sunday.
var Start = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// Cause is that of what a test does.
var Cause = scheduler.Cause{Trigger: "test", Trace: "trc_test"}

// Queries are those that the documents of a world are asked.
var Queries = slices.Concat(mirror.Queries, calendars.Queries, accounts.Queries, poll.Queries, calendarsync.Queries,
	groupevents.Queries, availability.Queries)

// Options are what may differ between worlds.
type Options struct {
	// Documents is the store, which its maker closes; nil is a new memory store.
	Documents store.Store
	// Wrap, if set, wraps the counted documents for the program.
	Wrap func(store.Store) store.Store
}

// World is people with accounts and the program.
type World struct {
	t      worldtest.TB
	ctx    context.Context
	Clock  *control.Clock
	Google *google.Server
	Wakes  *wakes.Waker
	// Documents counts what the program reads and writes.
	Documents *storetest.Counter
	// Calendar is the calendars' people's own access.
	Calendar *gcal.Client
	Service  *mirrors.Service
	Writer   *mirrors.Writer
	Policies mirrors.Policies
	Groups   *groupevents.Service
	Outbox   *outbox.Outbox
	Free     *availability.Service
	Syncer   *calendarsync.Syncer

	// stored are the documents for what is not counted, program those of the program.
	stored, program store.Store
	grants          map[string]google.Grant
	// Revoked are accounts whose grant was withdrawn.
	Revoked map[string]bool
	// Cancel ends the run of the current task, as its deadline does.
	Cancel context.CancelFunc
	// Began and Ended, if set, are called before and after each run of a task.
	Began, Ended func(kind string)
	// Failed are the verdicts of tasks that did not end well.
	Failed []error
	ids    atomic.Int64
}

// New makes a world without people.
func New(t worldtest.TB, options Options) *World {
	t.Helper()
	w := &World{t: t, ctx: context.Background(), stored: options.Documents, grants: map[string]google.Grant{}, Revoked: map[string]bool{}}
	w.Clock = control.NewClock(func() time.Time { return Start })
	var err error
	w.Google, err = google.New(google.Options{Clock: w.Clock, Sequential: true})
	w.must(err)
	if w.stored == nil {
		w.stored, err = memorystore.Open(Queries)
		w.must(err)
	}
	w.Documents = storetest.Count(w.stored)
	w.program = w.Documents
	if options.Wrap != nil {
		w.program = options.Wrap(w.Documents)
	}
	w.Wakes = wakes.New(wakes.Options{Now: w.Clock.Now, Rand: func(n int) int { return n - 1 }})
	w.Calendar = w.client()
	w.build()
	return w
}

func (w *World) client() *gcal.Client {
	return gcal.New(gcal.Options{
		Endpoint: "http://google.sim", Now: w.Clock.Now,
		Client: func(ctx context.Context, account string) (*http.Client, error) {
			if w.Revoked[account] {
				return nil, fault.New(fault.Revoked, "link it again")
			}
			ctx = context.WithValue(ctx, oauth2.HTTPClient, &http.Client{Transport: control.Transport(w.Google.Handler())})
			return oauth2.NewClient(ctx, oauth2.StaticTokenSource(&oauth2.Token{AccessToken: w.grants[account].AccessToken})), nil
		},
	})
}

// noPolls are the polls of a world without any.
type noPolls struct{ calendarsync.Polls }

// Apply implements calendarsync.Polls.
func (noPolls) Apply(context.Context, scheduler.ObservedEvent) (scheduler.Applied, error) {
	return scheduler.Applied{}, nil
}

// ClearSyncError implements calendarsync.Polls.
func (noPolls) ClearSyncError(context.Context, string, rules.ErrorCode, scheduler.Cause, scheduler.While) error {
	return nil
}

// noOwners announces nothing.
type noOwners struct{}

// NotifySyncError implements calendarsync.Owners.
func (noOwners) NotifySyncError(context.Context, string, string) error { return nil }

// NotifyHeld implements calendarsync.Owners.
func (noOwners) NotifyHeld(context.Context, string, string, []string) error { return nil }

// SetSyncError implements calendarsync.Polls.
func (noPolls) SetSyncError(context.Context, string, rules.ErrorCode, scheduler.Cause, scheduler.While) error {
	return nil
}

// NotifyLost implements calendarsync.Owners.
func (noOwners) NotifyLost(context.Context, string, string, time.Time) error { return nil }

func (w *World) build() {
	log := slog.New(slog.DiscardHandler)
	w.Outbox = &outbox.Outbox{Store: w.program, Waker: w.Wakes, Now: w.Clock.Now, Log: log}
	watcher := &calendarsync.Watcher{Store: w.program, Outbox: w.Outbox, Google: w.Calendar, Now: w.Clock.Now, Log: log}
	newID := func() string { return fmt.Sprintf("%026d", w.ids.Add(1)) }
	w.Service = &mirrors.Service{
		Store: w.program, Outbox: w.Outbox, Follow: watcher.Follow, Installation: "here", HoldShare: 0.5, HoldMin: 5,
		SharedBy: groupevents.SharedBy,
		Now:      w.Clock.Now, NewID: newID, Log: log,
	}
	w.Policies = mirrors.Policies{Service: w.Service}
	w.Syncer = &calendarsync.Syncer{
		Store: w.program, Google: w.Calendar, Polls: noPolls{}, Owners: noOwners{},
		Consumers: []calendarsync.Consumer{mirrors.Consumer{Service: w.Service}},
		Now:       w.Clock.Now, MinGap: time.Second, HoldShare: 0.5, HoldMin: 5, Log: log,
	}
	w.Writer = &mirrors.Writer{Service: w.Service, Google: w.Calendar, Leaving: w.Calendar}
	w.Groups = &groupevents.Service{
		Store: w.program, Outbox: w.Outbox, Plans: w.Service, Now: w.Clock.Now,
		NewID: func(prefix string) string { return prefix + "_" + newID() }, Log: log,
	}
	w.Outbox.Add(w.Syncer.Work(), w.Groups.Work(), w.Service.PlanWork(), w.Service.EventWork(), w.Writer.Work())
	w.Free = &availability.Service{Store: w.program, Google: w.Calendar, Now: w.Clock.Now, Recent: 7 * time.Hour}
}

func (w *World) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatalf("unexpected error: %v", err)
	}
}
