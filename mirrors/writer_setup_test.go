package mirrors_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/oauth2"

	"questscheduler/demo/sim/control"
	"questscheduler/demo/sim/google"
	"questscheduler/fault"
	"questscheduler/internal/accounts"
	"questscheduler/internal/calendars"
	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/internal/outbox"
	"questscheduler/internal/recurrence"
	"questscheduler/internal/store"
	"questscheduler/internal/test/memorystore"
	"questscheduler/internal/test/points"
	"questscheduler/internal/test/storetest"
	"questscheduler/internal/test/wakes"
	"questscheduler/mirrors"
	"questscheduler/mirrors/plan"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// stage is one person, gm, with three linked accounts at a simulated Google, and the
// writer over memory drivers. Nothing runs on its own.
type stage struct {
	*testing.T
	ctx    context.Context
	clock  *control.Clock
	google *google.Server
	grants map[string]google.Grant
	client *gcal.Client
	// full has every scope, as a browser has; the program does not use it.
	full   *gcal.Client
	memory store.Store
	wakes  *wakes.Waker
	writer *mirrors.Writer
	points *points.Points
	log    bytes.Buffer
	ids    atomic.Int64

	// address names the installation, as its public address does.
	address string
	edges   []mirror.Edge
	broken  map[string]bool // accounts without a grant
}

const (
	gm       = "gm"
	work     = "acc_work"
	home     = "acc_home"
	club     = "acc_club"
	homeMail = "home@example.test"
)

var stageStart = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// newStage makes a stage on which what happens at work is shown at home, with all details.
func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{T: t, ctx: t.Context(), address: "here", grants: map[string]google.Grant{}, broken: map[string]bool{}}
	s.clock = control.NewClock(func() time.Time { return stageStart })
	var err error
	s.google, err = google.New(google.Options{Clock: s.clock, Sequential: true})
	s.must(err)
	s.memory, err = memorystore.Open(slices.Concat(mirror.Queries, calendars.Queries, accounts.Queries))
	s.must(err)
	s.wakes = wakes.New(wakes.Options{Now: s.clock.Now, Rand: func(n int) int { return n - 1 }})
	for i, account := range []string{work, home, club} {
		email := strings.TrimPrefix(account, "acc_") + "@example.test"
		s.grants[account], err = s.google.AddUser(google.User{Key: account, Sub: fmt.Sprint(1000 + i), Email: email, TimeZone: "Europe/Zurich"})
		s.must(err)
		s.account(account, accounts.Active)
	}
	s.client = s.newClient()
	s.full = s.client
	s.edges = []mirror.Edge{{FromAccountID: work, ToAccountID: home, Detail: mirror.Full, Target: mirror.PrimaryTarget}}
	s.restart()
	return s
}

func (s *stage) newClient() *gcal.Client {
	return gcal.New(gcal.Options{
		Endpoint: "http://google.sim", Now: s.clock.Now,
		Client: func(ctx context.Context, account string) (*http.Client, error) {
			if s.broken[account] {
				return nil, fault.New(fault.Revoked, "link it again")
			}
			ctx = context.WithValue(ctx, oauth2.HTTPClient, &http.Client{Transport: control.Transport(s.google.Handler())})
			return oauth2.NewClient(ctx, oauth2.StaticTokenSource(&oauth2.Token{AccessToken: s.grants[account].AccessToken})), nil
		},
	})
}

// restart is the death of the program and the start of another.
func (s *stage) restart() {
	s.wakes.Crash()
	s.points = &points.Points{}
	s.writer = s.newWriter()
}

func (s *stage) newWriter() *mirrors.Writer {
	calls := &googlePoints{Google: s.client, points: s.points}
	documents := &points.Store{Store: storetest.Rerun(s.memory), Points: s.points}
	return working(&mirrors.Writer{
		Service: s.service(documents, &points.Waker{Waker: s.wakes, Points: s.points}), Google: calls, Leaving: calls,
	})
}

// working adds a writer's work to its outbox.
func working(w *mirrors.Writer) *mirrors.Writer {
	w.Outbox.Add(w.Work())
	return w
}

// write runs the work of a mirror, as its task does.
func (s *stage) write(w *mirrors.Writer, m mirror.Mirror) {
	s.Helper()
	_, err := w.Outbox.Run(s.ctx, mirrors.WriteKind, m.ID)
	s.must(err)
}

func (s *stage) newID() string { return fmt.Sprintf("%026d", s.ids.Add(1)) }

func (s *stage) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatalf("unexpected error: %v\n%s", err, s.log.String())
	}
}

func (s *stage) account(id string, status accounts.Status) {
	s.must(s.memory.Run(s.ctx, func(_ context.Context, tx store.Tx) error {
		email := strings.TrimPrefix(id, "acc_") + "@example.test"
		return tx.Merge(accounts.Path(id), store.Set("ownerId", gm), store.Set("email", email), store.Set("primaryCalendarId", email),
			store.Set("status", string(status)), store.Set("provider", accounts.Google), store.Set("createdAt", stageStart))
	}))
}

// event stores a canonical event of work's calendar and plans its mirrors.
func (s *stage) event(id, title string, change ...func(e *mirror.Event)) mirror.Event {
	s.Helper()
	e := s.stored(id, title, change...)
	s.plan(e.ICalUID)
	return e
}

// stored stores a canonical event of work's calendar.
func (s *stage) stored(id, title string, change ...func(e *mirror.Event)) mirror.Event {
	s.Helper()
	e := mirror.Event{
		ID: "evt_" + id, OwnerID: gm, AccountID: work, CalendarID: "work@example.test", EventID: id, ICalUID: id + "@google.com", Title: title,
		Start: at("2026-03-05T09:00:00Z"), End: at("2026-03-05T10:00:00Z"), Status: "confirmed", Visibility: "default", Transparency: "opaque",
		Kind: "default", Version: 1, Source: mirror.SourceProvider, CreatedAt: stageStart, UpdatedAt: stageStart,
	}
	for _, do := range change {
		do(&e)
	}
	e.From, e.Until = plan.Bounds(e)
	s.must(s.memory.Run(s.ctx, func(_ context.Context, tx store.Tx) error {
		return tx.Set(mirror.EventPath(e.ID), mirror.EncodeEvent(e))
	}))
	return e
}

func at(text string) recurrence.Moment {
	instant, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return recurrence.Moment{Time: instant, Zone: "Europe/Zurich"}
}

func weekly(e *mirror.Event) { e.Recurrence = []string{"RRULE:FREQ=WEEKLY;COUNT=4"} }

// exception makes an event the occurrence of the series on a day.
func exception(series string, original recurrence.Moment) func(e *mirror.Event) {
	return func(e *mirror.Event) { e.SeriesID, e.ICalUID, e.OriginalStart = series, series+"@google.com", original }
}

// plan sets the edges and plans one iCalUID by them. It leaves the tasks to the drain.
func (s *stage) plan(uid string) {
	s.Helper()
	s.must(s.memory.Run(s.ctx, func(_ context.Context, tx store.Tx) error {
		policy := mirror.Policy{ID: "pol_1", OwnerID: gm, Name: "mine", Edges: s.edges, Version: 1, CreatedAt: stageStart, UpdatedAt: stageStart}
		return tx.Set(mirror.PolicyPath(policy.ID), mirror.EncodePolicy(policy))
	}))
	s.must(s.service(s.memory, discard{}).PlanUID(s.ctx, gm, uid, scheduler.Cause{Trigger: "test"}))
}

type discard struct{}

func (discard) Wake(context.Context, string, string, string, time.Time) error { return nil }

func (s *stage) service(documents store.Store, waker outbox.Waker) *mirrors.Service {
	return &mirrors.Service{
		Store: documents, Outbox: s.outboxOf(documents, waker), Installation: s.address, HoldShare: 0.5, HoldMin: 5,
		Follow: func(context.Context, string, string, scheduler.Cause) error { return nil },
		Now:    s.clock.Now, NewID: s.newID, Log: slog.New(slog.NewTextHandler(&s.log, nil)),
	}
}

func (s *stage) outboxOf(documents store.Store, waker outbox.Waker) *outbox.Outbox {
	return &outbox.Outbox{
		Store: documents, Waker: waker, Now: s.clock.Now, Log: slog.New(slog.NewTextHandler(&s.log, nil)),
	}
}

// run has the clock go on for a time, minute by minute, with a drain each minute.
func (s *stage) run(d time.Duration) {
	s.Helper()
	for end := s.clock.Now().Add(d); ; {
		if _, err := s.writer.Outbox.Drain(s.ctx); !fault.Is(err, fault.Unavailable) {
			s.must(err) // the next minute does the rest
		}
		s.runDue()
		if !s.clock.Now().Before(end) {
			return
		}
		s.must(s.clock.Advance(min(time.Minute, end.Sub(s.clock.Now()))))
	}
}

// runDue runs the tasks that are due until none is.
func (s *stage) runDue() {
	s.Helper()
	for range 1000 {
		due := s.wakes.Due(s.clock.Now())
		if len(due) == 0 {
			return
		}
		if run, ok := s.wakes.Take(due[0].ID); ok {
			run.Settle(s.writer.Outbox.Run(s.ctx, mirrors.WriteKind, run.Entry))
		}
	}
	s.Fatalf("runs never end:\n%s", s.log.String())
}

func (s *stage) mirrors() (all []mirror.Mirror) {
	for _, account := range []string{work, home, club} {
		for m, err := range mirror.IntoAccount(s.ctx, s.memory, account) {
			s.must(err)
			all = append(all, m)
		}
	}
	return all
}

// only is the one mirror.
func (s *stage) only() mirror.Mirror {
	s.Helper()
	all := s.mirrors()
	if len(all) != 1 {
		s.Fatalf("there are %d mirrors, want one:\n%+v\n%s", len(all), all, s.log.String())
	}
	return all[0]
}

// shown lists the live events of a calendar, with exceptions of series.
func (s *stage) shown(account, calendar string) (live []gcal.Event) {
	s.Helper()
	for token := ""; ; {
		page, err := s.full.List(s.ctx, gcal.Ref{Account: account, Calendar: calendar}, gcal.WithDetails, "", token)
		s.must(err)
		for _, event := range page.Events {
			if event.EventState != rules.Gone {
				live = append(live, event)
			}
		}
		token = page.NextPage
		if token == "" {
			return live
		}
	}
}

// atHome is the one event at home.
func (s *stage) atHome() gcal.Event {
	s.Helper()
	all := s.shown(home, homeMail)
	if len(all) != 1 {
		s.Fatalf("home shows %d events, want one:\n%+v\n%s", len(all), s.mirrors(), s.log.String())
	}
	return all[0]
}

// agree fails where a mirror is not as it should be: every one is ACTIVE with its one event.
func (s *stage) agree(want int) {
	s.Helper()
	all, events := s.mirrors(), 0
	for _, m := range all {
		if m.State != mirror.Active || !m.Due.IsZero() {
			s.Errorf("the mirror %s is %s, due %v: %s", m.CanonicalID, m.State, m.Due, m.LastError)
		}
	}
	for _, event := range s.shown(home, homeMail) {
		if event.InstanceOf == "" {
			events++
		}
	}
	if events != want {
		s.Errorf("home shows %d events, want %d", events, want)
	}
	if s.Failed() {
		s.Logf("%s", s.log.String())
	}
}
