package attendees_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/oauth2"
	calendar "google.golang.org/api/calendar/v3"
	"google.golang.org/api/option"

	"questscheduler/attendees"
	"questscheduler/attendees/mappings"
	"questscheduler/calendarsync"
	"questscheduler/demo/sim/control"
	"questscheduler/demo/sim/google"
	"questscheduler/fault"
	"questscheduler/internal/accounts"
	"questscheduler/internal/calendars"
	"questscheduler/internal/gcal"
	"questscheduler/internal/outbox"
	"questscheduler/internal/poll"
	"questscheduler/internal/recurrence"
	"questscheduler/internal/store"
	"questscheduler/internal/test/memorystore"
	"questscheduler/internal/test/points"
	"questscheduler/internal/test/storetest"
	"questscheduler/internal/test/wakes"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// The people: ana and ben have second addresses, and their calendars are followed. zoe has
// none, and eve is an outsider: only the tests use their accounts.
const (
	ana, ben, zoe = "ana@one.test", "ben@one.test", "zoe@one.test"
	ana2, ben2    = "ana@two.test", "ben@two.test"
	eve           = "eve@sub.one.test"
	guest         = "guest@else.test"
)

var (
	cause      = scheduler.Cause{Trigger: "timer", Trace: "trc_test"}
	stageStart = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
)

// stage is a simulated Google with five people, and sync runs and the writer over memory
// drivers. Nothing runs on its own.
type stage struct {
	*testing.T
	ctx      context.Context
	clock    *control.Clock
	google   *google.Server
	grants   map[string]google.Grant
	client   *gcal.Client
	memory   store.Store
	counter  *storetest.Counter
	wakes    *wakes.Waker
	outbox   *outbox.Outbox
	points   *points.Points
	calls    *googlePoints
	service  *attendees.Service
	mappings *mappings.Service
	syncer   *calendarsync.Syncer
	log      bytes.Buffer
	counts   map[string]int

	mode     outbox.Mode
	followed []string
}

func newStage(t *testing.T, followed ...string) *stage {
	t.Helper()
	if len(followed) == 0 {
		followed = []string{ana, ben}
	}
	s := &stage{T: t, ctx: t.Context(), grants: map[string]google.Grant{}, followed: followed, counts: map[string]int{}}
	s.clock = control.NewClock(func() time.Time { return stageStart })
	var err error
	s.google, err = google.New(google.Options{Clock: s.clock, Sequential: true})
	s.must(err)
	s.memory, err = memorystore.Open(slices.Concat(attendees.Queries, calendars.Queries, accounts.Queries, poll.Queries, calendarsync.Queries))
	s.must(err)
	s.wakes = wakes.New(wakes.Options{Now: s.clock.Now, Rand: func(n int) int { return n - 1 }})
	for i, email := range []string{ana, ben, zoe, eve, ana2} {
		s.grants[email], err = s.google.AddUser(google.User{Key: email, Sub: fmt.Sprint(1000 + i), Email: email, TimeZone: "Europe/Zurich"})
		s.must(err)
	}
	s.client = gcal.New(gcal.Options{
		Endpoint: "http://google.sim", Now: s.clock.Now,
		Client: func(ctx context.Context, account string) (*http.Client, error) {
			return s.httpClient(ctx, account[len("acc_"):]), nil
		},
	})
	s.restart()
	s.mapped(mappings.Mapping{Primary: ana, Secondaries: []string{ana2}}, mappings.Mapping{Primary: ben, Secondaries: []string{ben2}})
	for _, email := range followed {
		s.set(accounts.Path("acc_"+email), store.Set("ownerId", email), store.Set("email", email), store.Set("primaryCalendarId", email),
			store.Set("status", string(accounts.Active)), store.Set("provider", accounts.Google), store.Set("createdAt", stageStart),
			store.Set("scopes", []string{accounts.ScopeEvents}))
		key := poll.CalendarKey("acc_"+email, email)
		c := calendars.Calendar{Key: key, AccountID: "acc_" + email, CalendarID: email}
		s.set(calendars.Path(key), c.Want(mappings.Consumer, 1, cause.Request(s.clock.Now()), email)...)
		s.set(calendars.Path(key), store.Set("accountId", c.AccountID), store.Set("calendarId", email))
	}
	s.run(time.Minute)
	return s
}

func (s *stage) httpClient(ctx context.Context, email string) *http.Client {
	ctx = context.WithValue(ctx, oauth2.HTTPClient, &http.Client{Transport: control.Transport(s.google.Handler())})
	return oauth2.NewClient(ctx, oauth2.StaticTokenSource(&oauth2.Token{AccessToken: s.grants[email].AccessToken}))
}

// restart is the death of the program and the start of another.
func (s *stage) restart() {
	s.wakes.Crash()
	s.points = &points.Points{}
	s.counter = storetest.Count(s.memory)
	beside := &beside{}
	if s.calls != nil {
		beside = s.calls.beside
	}
	s.calls = &googlePoints{Google: s.client, points: s.points, added: s.counts, beside: beside}
	documents := &points.Store{Store: storetest.Rerun(s.counter), Points: s.points}
	s.mappings = &mappings.Service{Domains: []string{"one.test"}}
	log := slog.New(slog.NewTextHandler(&s.log, nil))
	s.outbox = &outbox.Outbox{Store: documents, Waker: &points.Waker{Waker: s.wakes, Points: s.points}, Now: s.clock.Now, Log: log}
	s.service = &attendees.Service{
		Store: documents, Outbox: s.outbox, Google: s.calls, Mappings: s.mappings,
		Accounts: accountReader{s.memory}, Notify: "none", Mode: func() outbox.Mode { return s.mode }, Now: s.clock.Now, Log: log,
	}
	s.outbox.Add(s.service.Work())
	s.syncer = &calendarsync.Syncer{
		Store: documents, Google: s.client, Polls: noPolls{}, Consumers: []calendarsync.Consumer{attendees.Consumer{Service: s.service}},
		Now: s.clock.Now, MinGap: time.Second, HoldShare: 0.5, HoldMin: 2, Observing: s.mode == outbox.Observes, Log: log,
	}
	s.outbox.Add(s.syncer.Work())
}

// noPolls are the polls of a stage without any.
type noPolls struct{ calendarsync.Polls }

func (noPolls) Apply(context.Context, scheduler.ObservedEvent) (scheduler.Applied, error) {
	return scheduler.Applied{}, nil
}

func (noPolls) ClearSyncError(context.Context, string, rules.ErrorCode, scheduler.Cause, scheduler.While) error {
	return nil
}

// accountReader reads accounts.
type accountReader struct{ reader store.Reader }

func (a accountReader) Get(ctx context.Context, id string) (accounts.Account, error) {
	return accounts.Load(ctx, a.reader, id)
}

func (a accountReader) ByEmail(ctx context.Context, email string) ([]accounts.Account, error) {
	account, err := a.Get(ctx, "acc_"+email)
	if fault.Is(err, fault.NotFound) {
		return nil, nil
	}
	return []accounts.Account{account}, err
}

// mapped puts mappings into use, and makes the records due that lose an address by it, as a
// reload does.
func (s *stage) mapped(list ...mappings.Mapping) {
	s.Helper()
	before, _, err := s.mappings.Current(s.ctx, s.memory)
	s.must(err)
	now := mappings.NewTable(list)
	encoded, err := now.Encode()
	s.must(err)
	s.must(s.memory.Run(s.ctx, func(_ context.Context, tx store.Tx) error {
		chunks := mappings.EncodeChunks(encoded)
		for n, chunk := range chunks {
			if err := tx.Set(mappings.ChunkPath(now.Version(), n), chunk); err != nil {
				return err
			}
		}
		return tx.Set(mappings.RecordPath(), mappings.EncodeRecord(mappings.Record{Version: now.Version(), Chunks: int64(len(chunks))}))
	}))
	for _, primary := range mappings.Changed(before, now) {
		records, err := store.Collect(attendees.OfPrimary(s.ctx, s.memory, primary))
		s.must(err)
		for _, record := range records {
			s.set(attendees.EventPath(record.ID), store.Set("due", store.Instant(s.clock.Now())), store.Set("version", record.Version+1))
		}
	}
}

func (s *stage) set(path store.Path, updates ...store.Update) {
	s.Helper()
	s.must(s.memory.Run(s.ctx, func(_ context.Context, tx store.Tx) error { return tx.Merge(path, updates...) }))
}

func (s *stage) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatalf("unexpected error: %v\n%s", err, s.log.String())
	}
}

// relist has the next sync run list everything for the consumer.
func (s *stage) relist(email string) {
	s.Helper()
	c, _, err := calendars.Load(s.ctx, s.memory, "acc_"+email, email)
	s.must(err)
	s.set(calendars.Path(c.Key), c.RequestRelist(mappings.Consumer, cause.Request(s.clock.Now()))...)
}

// run has the clock go on for a time, minute by minute, with a drain and a sync of every
// calendar each minute.
func (s *stage) run(d time.Duration) {
	s.Helper()
	for end := s.clock.Now().Add(d); s.clock.Now().Before(end); s.must(s.clock.Advance(time.Minute)) {
		if _, err := s.outbox.Drain(s.ctx); !fault.Is(err, fault.Unavailable) {
			s.must(err) // the next minute does the rest
		}
		s.sync(s.followed...)
	}
}

// sync syncs calendars, and runs the tasks that follow.
func (s *stage) sync(emails ...string) {
	s.Helper()
	for _, email := range emails {
		s.must(s.clock.Advance(2 * time.Second))
		c, _, err := calendars.Load(s.ctx, s.memory, "acc_"+email, email)
		s.must(err)
		s.requestSync(c.Key)
		s.outbox.Soon(s.ctx, calendars.SyncKind, c.Key, s.clock.Now())
	}
	s.settle()
}

// observe syncs a calendar, as another process does, and runs no other task.
func (s *stage) observe(email string) {
	s.Helper()
	s.must(s.clock.Advance(2 * time.Second))
	c, _, err := calendars.Load(s.ctx, s.memory, "acc_"+email, email)
	s.must(err)
	s.requestSync(c.Key)
	if again, err := s.outbox.Run(s.ctx, calendars.SyncKind, c.Key); err != nil || !again.IsZero() {
		s.Fatalf("the sync is to run again at %v: %v\n%s", again, err, s.log.String())
	}
}

// requestSync requests a sync, as for a push.
func (s *stage) requestSync(key string) {
	s.Helper()
	s.set(calendars.Path(key), calendars.RequestSync(calendars.Request{At: s.clock.Now(), Trigger: "push", Trace: "trc_push"})...)
}

// settle runs the tasks that are due until none is.
func (s *stage) settle() {
	s.Helper()
	for range 1000 {
		due := s.wakes.Due(s.clock.Now())
		if len(due) == 0 {
			return
		}
		if run, ok := s.wakes.Take(due[0].ID); ok {
			run.Settle(s.outbox.Run(s.ctx, run.Kind, run.Entry))
		}
	}
	s.Fatalf("runs never end:\n%s", s.log.String())
}

// as is the calendar API as a person uses it.
func (s *stage) as(email string) *calendar.Service {
	s.Helper()
	service, err := calendar.NewService(s.ctx, option.WithHTTPClient(s.httpClient(s.ctx, email)),
		option.WithEndpoint("http://google.sim/calendar/v3/"))
	s.must(err)
	return service
}

// meeting is an event as its organizer makes it, on a day in March.
func meeting(id, day string, guests ...string) *calendar.Event {
	event := &calendar.Event{
		Id: id, Summary: "Budget", Start: &calendar.EventDateTime{DateTime: "2026-03-" + day + "T09:00:00Z", TimeZone: "Europe/Zurich"},
		End: &calendar.EventDateTime{DateTime: "2026-03-" + day + "T10:00:00Z", TimeZone: "Europe/Zurich"},
	}
	event.Attendees = guestsOf(guests...)
	return event
}

func guestsOf(guests ...string) (list []*calendar.EventAttendee) {
	for _, address := range guests {
		list = append(list, &calendar.EventAttendee{Email: address})
	}
	return list
}

func (s *stage) insert(organizer string, event *calendar.Event) {
	s.Helper()
	_, err := s.as(organizer).Events.Insert(organizer, event).Context(s.ctx).Do()
	s.must(err)
}

func (s *stage) patch(email, id string, change *calendar.Event) {
	s.Helper()
	_, err := s.as(email).Events.Patch(email, id, change).Context(s.ctx).Do()
	s.must(err)
}

// event is an event as a person sees it.
func (s *stage) event(email, id string) *calendar.Event {
	s.Helper()
	event, err := s.as(email).Events.Get(email, id).Context(s.ctx).Do()
	s.must(err)
	return event
}

// invite and uninvite change the guests as a person does.
func (s *stage) invite(email, id, address string) {
	s.Helper()
	s.patch(email, id, &calendar.Event{Attendees: append(s.event(email, id).Attendees, guestsOf(address)...)})
}

func (s *stage) uninvite(email, id, address string) {
	s.Helper()
	rest := slices.DeleteFunc(s.event(email, id).Attendees, func(a *calendar.EventAttendee) bool { return a.Email == address })
	s.patch(email, id, &calendar.Event{Attendees: rest, ForceSendFields: []string{"Attendees"}})
}

// answer sets a guest's response.
func (s *stage) answer(organizer, id, address, response string) {
	s.Helper()
	all := s.event(organizer, id).Attendees
	for _, a := range all {
		if a.Email == address {
			a.ResponseStatus = response
		}
	}
	s.patch(organizer, id, &calendar.Event{Attendees: all})
}

// guests fails unless an event has these guests, in this order.
func (s *stage) guests(email, id string, want ...string) {
	s.Helper()
	var got []string
	for _, a := range s.event(email, id).Attendees {
		got = append(got, a.Email)
	}
	if !slices.Equal(got, want) {
		s.Fatalf("the guests of %s are %v, want %v; its record is %+v\n%s", id, got, want, s.record(id), s.log.String())
	}
}

// record is the record of an event; its Version is 0 if there is none.
func (s *stage) record(id string) attendees.EventRecord {
	s.Helper()
	record, _, err := attendees.Load(s.ctx, s.memory, attendees.RecordID(id+"@google.com", recurrence.Moment{}))
	s.must(err)
	return record
}

// state fails unless an address has a state in an event's record, and nothing is due.
func (s *stage) state(id, address string, want attendees.State) {
	s.Helper()
	record := s.record(id)
	if got := record.Entries[address].State; got != want || !record.Due.IsZero() {
		s.Fatalf("%s is %q at %s, want %q; due %v: %+v\n%s", address, got, id, want, record.Due, record, s.log.String())
	}
}

// costs are the store's cost of do and its calls of the writer.
func (s *stage) costs(do func()) (cost storetest.Cost, calls map[string]int) {
	s.counter.Reset()
	before := s.google.Control().Calls()
	do()
	calls = map[string]int{}
	for method, n := range s.google.Control().Calls() {
		if left := n - before[method]; left > 0 && strings.HasPrefix(method, "events.") {
			calls[method] = left
		}
	}
	return s.counter.Total(), calls
}

func (s *stage) key(email string) string { return poll.CalendarKey("acc_"+email, email) }
