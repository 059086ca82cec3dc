package mirrors_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"questscheduler/calendarsync"
	"questscheduler/demo/sim/control"
	"questscheduler/demo/sim/google"
	"questscheduler/internal/accounts"
	"questscheduler/internal/calendars"
	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/internal/outbox"
	"questscheduler/internal/poll"
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

const (
	ana      = "ana"
	annes    = "acc_ana" // ana's account
	workMail = "work@example.test"
	anaMail  = "ana@example.test"
)

var cause = scheduler.Cause{Trigger: "test", Trace: "trc_test"}

// world is a stage with sync runs: gm has three accounts and ana one. Events come from the
// calendars and mirrors go there.
type world struct {
	*stage
	counter  *storetest.Counter
	service  *mirrors.Service
	policies mirrors.Policies
	syncer   *calendarsync.Syncer
	outbox   *outbox.Outbox
	// lossy has Enqueue fail, as if the program died after a commit.
	lossy bool
	// onWake is called before a task is enqueued; nil is nothing.
	onWake func()
	names  int
}

// noPolls are the polls of a world without any.
type noPolls struct{ calendarsync.Polls }

func (noPolls) Apply(context.Context, scheduler.ObservedEvent) (scheduler.Applied, error) {
	return scheduler.Applied{}, nil
}

func (noPolls) ClearSyncError(context.Context, string, rules.ErrorCode, scheduler.Cause, scheduler.While) error {
	return nil
}

func (w *world) Wake(ctx context.Context, kind, id, name string, at time.Time) error {
	if w.onWake != nil {
		w.onWake()
	}
	if w.lossy {
		return context.DeadlineExceeded
	}
	return w.wakes.Wake(ctx, kind, id, name, at)
}

// newMirroringWorld is a world whose person has work mirrored to home.
func newMirroringWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.mirrorWork()
	w.settle()
	return w
}

func newWorld(t *testing.T) *world {
	t.Helper()
	s := &stage{T: t, ctx: t.Context(), grants: map[string]google.Grant{}, broken: map[string]bool{}, points: &points.Points{}}
	w := &world{stage: s}
	s.clock = control.NewClock(func() time.Time { return stageStart })
	var err error
	s.google, err = google.New(google.Options{Clock: s.clock, Sequential: true})
	s.must(err)
	documents, err := memorystore.Open(slices.Concat(
		mirror.Queries, calendars.Queries, accounts.Queries, poll.Queries, calendarsync.Queries, []*store.Query{everyEvent},
	))
	s.must(err)
	s.memory = documents
	w.journaledAtTheEnd()
	w.counter = storetest.Count(documents)
	s.wakes = wakes.New(wakes.Options{Now: s.clock.Now, Rand: func(n int) int { return n - 1 }})
	for i, account := range []string{work, home, club, annes} {
		email := account[len("acc_"):] + "@example.test"
		s.grants[account], err = s.google.AddUser(google.User{Key: account, Sub: fmt.Sprint(1000 + i), Email: email, TimeZone: "Europe/Zurich"})
		s.must(err)
		s.account(account, accounts.Active)
	}
	s.set(accounts.Path(annes), store.Set("ownerId", ana))
	for _, account := range []string{work, home, club, annes} {
		s.set(accounts.Path(account), store.Set("scopes", []string{accounts.ScopeCalendar}))
	}
	s.client = s.newClient()
	s.full = s.client
	w.build()
	return w
}

// build makes the program over the stage's documents and tasks.
func (w *world) build() {
	log := slog.New(slog.NewTextHandler(&w.log, nil))
	documents := storetest.Rerun(w.counter)
	w.outbox = w.outboxOf(documents, w) // of syncs
	watcher := &calendarsync.Watcher{Store: documents, Outbox: w.outbox, Google: w.client, Now: w.clock.Now, Log: log}
	known := accounts.New(accounts.Options{Store: w.memory, Now: w.clock.Now})
	lookup := &calendarsync.Lookup{
		Accounts: known, Calendars: calendarsync.Calendars{Accounts: known, List: w.client.Calendars}, Now: w.clock.Now,
	}
	w.service = &mirrors.Service{
		Store: documents, Outbox: w.outboxOf(documents, w), Follow: watcher.Follow, FindCalendars: lookup.Find,
		Installation: "here", HoldShare: 0.5, HoldMin: 2,
		Now: w.clock.Now, NewID: w.newID, Log: log,
	}
	w.policies = mirrors.Policies{Service: w.service}
	w.syncer = &calendarsync.Syncer{
		Store: documents, Google: w.client, Polls: noPolls{}, Consumers: []calendarsync.Consumer{mirrors.Consumer{Service: w.service}},
		Now: w.clock.Now, MinGap: time.Second, HoldShare: 0.5, HoldMin: 2, Log: log,
	}
	w.outbox.Add(w.syncer.Work())
	w.writer = &mirrors.Writer{Service: w.service, Google: w.client, Leaving: w.client}
	w.service.Outbox.Add(w.service.PlanWork(), w.service.EventWork(), w.writer.Work())
}

func (s *stage) set(path store.Path, updates ...store.Update) {
	s.Helper()
	s.must(s.memory.Run(s.ctx, func(_ context.Context, tx store.Tx) error { return tx.Merge(path, updates...) }))
}

// mirrorWork turns on mirroring from work to home, into its primary calendar.
func (w *world) mirrorWork(edges ...mirror.Edge) mirror.Policy {
	w.Helper()
	policy, err := w.policies.Create(w.ctx, gm, "Work at home")
	w.must(err)
	if len(edges) == 0 {
		edges = []mirror.Edge{{FromAccountID: work, ToAccountID: home, Detail: mirror.Full, Target: mirror.PrimaryTarget}}
	}
	policy, err = w.policies.SetEdges(w.ctx, gm, policy.ID, edges, cause)
	w.must(err)
	return policy
}

// insert makes an event in an account's primary calendar, as a person does.
func (w *world) insert(account, title, start string, lines ...string) gcal.Event {
	w.Helper()
	w.names++
	from := at(start)
	until := from
	until.Time = from.Time.Add(time.Hour)
	event, err := w.full.InsertContent(w.ctx, refTo(account), fmt.Sprintf("event%d", w.names), gcal.Content{
		Summary: title, Start: from, End: until, Recurrence: lines, Transparency: "opaque", Visibility: "default",
	}, nil)
	w.must(err)
	return event
}

func refTo(account string) gcal.Ref {
	return gcal.Ref{Account: account, Calendar: account[len("acc_"):] + "@example.test"}
}

// sync syncs an account's primary calendar, and what that leads to.
func (w *world) sync(account string) {
	w.Helper()
	w.must(w.clock.Advance(2 * time.Second))
	c, ok, err := calendars.Load(w.ctx, w.memory, account, refTo(account).Calendar)
	w.must(err)
	if !ok {
		w.Fatalf("nobody follows %s", account)
	}
	w.requestSync(c.Key)
	w.settle()
}

// settle runs tasks for some seconds, until none is due.
func (w *world) settle() {
	w.Helper()
	for range 3 {
		for turn := 0; ; turn++ {
			due := w.wakes.Due(w.clock.Now())
			if len(due) == 0 {
				break
			}
			if turn > 1000 {
				w.Fatalf("runs never end:\n%s", w.log.String())
			}
			run, ok := w.wakes.Take(due[0].ID)
			if !ok {
				continue
			}
			carriesOut := w.service.Outbox
			if run.Kind == calendars.SyncKind {
				carriesOut = w.outbox
			}
			run.Settle(carriesOut.Run(w.ctx, run.Kind, run.Entry))
		}
		w.must(w.clock.Advance(2 * time.Second))
	}
}

// drain wakes what is due of the outbox, and returns how much of each kind.
func (w *world) drain() map[string]int {
	w.Helper()
	woken, err := w.service.Outbox.Drain(w.ctx)
	w.must(err)
	all := map[string]int{}
	for _, kind := range woken {
		all[kind.Kind] = kind.N
	}
	return all
}

// run has the clock go on for a time, minute by minute, with a drain each minute.
func (w *world) run(d time.Duration) {
	w.Helper()
	for end := w.clock.Now().Add(d); w.clock.Now().Before(end); w.must(w.clock.Advance(time.Minute)) {
		w.drain()
		w.settle()
	}
}

// titles are the titles of the live events of a calendar, sorted.
func (w *world) titles(account string) (all []string) {
	w.Helper()
	for _, event := range w.shown(account, refTo(account).Calendar) {
		all = append(all, event.Details.Summary)
	}
	slices.Sort(all)
	return all
}

func (w *world) wantTitles(account string, want ...string) {
	w.Helper()
	if got := w.titles(account); !slices.Equal(got, want) {
		w.Fatalf("%s shows %v, want %v; mirrors %+v\n%s", account, got, want, w.mirrors(), w.log.String())
	}
}

// canonical are the canonical events of an account, without what copies occupy.
func (w *world) canonical(account string) []mirror.Event {
	w.Helper()
	all, err := store.Collect(mirror.OfAccount(w.ctx, w.memory, account))
	w.must(err)
	return slices.DeleteFunc(all, func(e mirror.Event) bool { return e.Source == mirror.SourceCopy })
}

// queueSync enqueues a sync of an account's primary calendar, if anything follows it.
func (w *world) queueSync(account string) error { return w.queueSyncOf(refTo(account)) }

func (w *world) queueSyncOf(ref gcal.Ref) error {
	c, ok, err := calendars.Load(w.ctx, w.memory, ref.Account, ref.Calendar)
	if err == nil && (!ok || !c.Wanted()) {
		err = fmt.Errorf("nobody follows %s", ref.Calendar)
	}
	if err != nil {
		return err
	}
	w.requestSync(c.Key)
	return nil
}

// requestSync has a calendar synced, as for a push.
func (w *world) requestSync(key string) {
	now := w.clock.Now()
	w.set(calendars.Path(key), calendars.RequestSync(calendars.Request{At: now, Trigger: "push", Trace: "trc_push"})...)
	w.outbox.Soon(w.ctx, calendars.SyncKind, key, now)
}

// relist has the next sync run list everything.
func (w *world) relist(account string) {
	w.Helper()
	c, _, err := calendars.Load(w.ctx, w.memory, account, refTo(account).Calendar)
	w.must(err)
	w.set(calendars.Path(c.Key), calendars.ResetToken()...)
}

// state is everything that mirroring keeps, as text.
func (w *world) state() string {
	w.Helper()
	text := ""
	for _, event := range append(w.canonical(work), w.canonical(home)...) {
		entries, _, err := mirror.LoadJournal(w.ctx, w.memory, event.ID, store.Paging{Limit: 0})
		w.must(err)
		text += fmt.Sprintf("%+v\n%+v\n", event, entries)
	}
	return text + fmt.Sprintf("%+v", w.mirrors())
}

// masterAtHome is the one series at home.
func (w *world) masterAtHome() gcal.Event {
	w.Helper()
	for _, event := range w.shown(home, homeMail) {
		if event.EventState == rules.Series {
			return event
		}
	}
	w.Fatalf("home shows no series")
	return gcal.Event{}
}

func (w *world) key(account string) string {
	return poll.CalendarKey(account, refTo(account).Calendar)
}

// put stores an event as it is.
func (w *world) put(event mirror.Event) {
	w.Helper()
	w.must(w.memory.Run(w.ctx, func(_ context.Context, tx store.Tx) error {
		return tx.Set(mirror.EventPath(event.ID), mirror.EncodeEvent(event))
	}))
}

// connect shows the events of the group "party" in a person's account.
func (w *world) connect(account, owner string) {
	w.Helper()
	c := mirror.Connection{GroupID: "party", AccountID: account, OwnerID: owner, CreatedAt: stageStart}
	w.members(gm, ana)
	w.must(w.memory.Run(w.ctx, func(_ context.Context, tx store.Tx) error {
		return tx.Create(mirror.ConnectionPath(c.GroupID, c.AccountID), mirror.EncodeConnection(c))
	}))
	w.party(gm, ana)
}

// party says who belongs to the group "party", as the web app writes it.
func (w *world) party(members ...string) {
	w.Helper()
	w.must(w.memory.Run(w.ctx, func(_ context.Context, tx store.Tx) error {
		return tx.Set(poll.GroupPath("party"), map[string]any{"name": "Party", "creatorId": "keeper", "memberIds": members})
	}))
}

// canonicalSession is an event of the group, by ana, that is due for planning.
func (w *world) canonicalSession() mirror.Event {
	start := at(thursday)
	event := mirror.Event{
		ID: "evt_session", OwnerID: ana, ICalUID: "evt_session", Title: "Session", Start: start, End: at("2026-03-05T10:00:00Z"),
		Status: "confirmed", Visibility: "default", Transparency: "opaque", Kind: "default", Version: 1,
		Source: mirror.SourceGroup, GroupID: "party", PlanAt: stageStart, CreatedAt: stageStart, UpdatedAt: stageStart,
	}
	event.From, event.Until = plan.Bounds(event)
	return event
}

// members are the people of the group "party", whose creator somebody else is.
func (w *world) members(people ...string) {
	w.Helper()
	w.set(poll.GroupPath("party"), store.Set("creatorId", "zoe"), store.Set("memberIds", people))
}
