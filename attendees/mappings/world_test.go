package mappings_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/attendees"
	"questscheduler/attendees/mappings"
	"questscheduler/internal/accounts"
	"questscheduler/internal/accounts/seal"
	"questscheduler/internal/calendars"
	"questscheduler/internal/gcal"
	"questscheduler/internal/store"
	"questscheduler/internal/test/memorystore"
	"questscheduler/internal/test/storetest"
	"questscheduler/scheduler"
)

var (
	mapped   = scheduler.Cause{Trigger: "test", Trace: "trc_mappings"}
	noon     = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	allOf    = store.Select("documents of the mappings", "attendeeMappings", "")
	allCals  = store.Select("all calendars", "calendars", "")
	sheetKey = "k1:" + strings.Repeat("YWFh", 10) + "YWE="
)

// sheet is a source whose rows a test sets.
type sheet struct {
	rows [][]string
	err  error
}

func (s *sheet) Rows(context.Context) ([][]string, error) { return s.rows, s.err }
func (s *sheet) String() string                           { return "the test's sheet" }

// set gives the sheet rows: "ana" is ana@north.example with ana@south.example, and "ana+bo"
// has another secondary address.
func (s *sheet) set(people ...string) {
	s.rows, s.err = nil, nil
	for _, person := range people {
		name, more, _ := strings.Cut(person, "+")
		secondaries := name + "@south.example"
		if more != "" {
			secondaries += ", " + more + "@south.example"
		}
		s.rows = append(s.rows, []string{name + "@north.example", secondaries, ""})
	}
}

// tableOf is that of people as set gives them.
func tableOf(people ...string) mappings.Table {
	s := &sheet{}
	s.set(people...)
	if len(people) == 0 {
		return mappings.Table{}
	}
	parsed, _, err := mappings.Parse(s.rows, []string{"north.example"}, mappings.Table{})
	if err != nil {
		panic(err)
	}
	return parsed
}

// mappingWorld is a store with accounts, and mappings over it.
type mappingWorld struct {
	*testing.T
	ctx      context.Context
	memory   *memorystore.Store
	counter  *storetest.Counter
	broken   *breaking
	accounts *accounts.Repository
	sheet    *sheet
	mappings *mappings.Service
	now      time.Time
	ids      int
	// calls are the calendars given to Follow; refuse is its error.
	calls  []gcal.Ref
	refuse error
	loads  []mappings.Outcome
	// woken are the records that are written soon.
	woken []string
}

// woken is the outbox of a world that writes no records.
type woken struct{ w *mappingWorld }

func (o woken) Soon(_ context.Context, kind, id string, due time.Time) {
	o.w.woken = append(o.w.woken, kind+" "+id+" in "+due.Sub(o.w.now).String())
}

func newMappingWorld(t *testing.T, delegated bool) *mappingWorld {
	t.Helper()
	memory, err := memorystore.Open(slices.Concat(
		attendees.Queries, mappings.Queries, accounts.Queries, calendars.Queries, []*store.Query{allOf, allCals},
	))
	must(t, err)
	w := &mappingWorld{T: t, ctx: t.Context(), memory: memory, now: noon, sheet: &sheet{}}
	w.broken = &breaking{Store: memory}
	w.counter = storetest.Count(w.broken)
	w.restart(delegated)
	return w
}

// restart begins a new process over the same store.
func (w *mappingWorld) restart(delegated bool) {
	w.Helper()
	keys, err := seal.ParseKeys(sheetKey)
	must(w.T, err)
	w.broken.armed, w.broken.instead = false, nil
	w.accounts = accounts.New(accounts.Options{
		Store: w.counter, Keys: keys, Now: func() time.Time { return w.now },
		NewID: func() string { w.ids++; return fmt.Sprintf("%026d", w.ids) },
	})
	w.mappings = w.process(delegated)
}

func (w *mappingWorld) process(delegated bool) *mappings.Service {
	now := func() time.Time { return w.now }
	return &mappings.Service{
		Store: w.counter, Guests: &attendees.Service{Store: w.counter, Outbox: woken{w}, Now: now}, Source: w.sheet,
		Domains: []string{"north.example"}, Accounts: w.accounts, Delegated: delegated,
		Follow: func(_ context.Context, accountID, calendarID string, _ scheduler.Cause) error {
			w.calls = append(w.calls, gcal.Ref{Account: accountID, Calendar: calendarID})
			return w.refuse
		},
		Now: now, Log: slog.New(slog.DiscardHandler),
		Meter: func(event any) {
			if load, ok := event.(mappings.Load); ok {
				w.loads = append(w.loads, load.Outcome)
			}
		},
	}
}

// refresh runs the job to its end, five minutes later.
func (w *mappingWorld) refresh() (did mappings.Refreshed) {
	w.Helper()
	did, err := w.tryRefresh(w.mappings)
	must(w.T, err)
	return did
}

func (w *mappingWorld) tryRefresh(m *mappings.Service) (did mappings.Refreshed, err error) {
	w.now = w.now.Add(5 * time.Minute)
	for at, steps := "", 0; ; steps++ {
		var step mappings.Refreshed
		step, at, err = m.Refresh(w.ctx, mapped, at, false)
		if err != nil {
			return did, err
		}
		did.Followed, did.Relisted, did.Released = did.Followed+step.Followed, did.Relisted+step.Relisted, did.Released+step.Released
		did.Due, did.Unlinked, did.Failed, did.Loaded = did.Due+step.Due, did.Unlinked+step.Unlinked, did.Failed+step.Failed,
			did.Loaded+step.Loaded
		if at == "" {
			return did, nil
		}
		if steps > 1000 {
			return did, errors.New("the job does not end")
		}
	}
}

func (w *mappingWorld) state() mappings.Record {
	w.Helper()
	state, err := mappings.LoadRecord(w.ctx, w.memory)
	must(w.T, err)
	return state
}

func (w *mappingWorld) calendars() (all []calendars.Calendar) {
	w.Helper()
	all, _, err := store.Page(w.ctx, w.memory, allCals.With(), calendars.Decode)
	must(w.T, err)
	return all
}

// settled demands that mappings are in use and carried out, and that nothing else is left:
// no other version, calendar or account.
func (w *mappingWorld) settled(people ...string) {
	w.Helper()
	state := w.state()
	now, version, err := w.mappings.Current(w.ctx, w.memory)
	must(w.T, err)
	equal(w.T, "mappings", now.Mappings(), tableOf(people...).Mappings())
	equal(w.T, "carried out", state.Followed, version)
	docs, err := w.memory.Query(w.ctx, allOf.With())
	must(w.T, err)
	equal(w.T, "documents", int64(len(docs)), 1+state.Chunks)
	var followed, want []string
	for _, calendar := range w.calendars() {
		if calendar.Interests[mappings.Consumer] > 0 {
			followed = append(followed, calendar.CalendarID)
		}
	}
	for _, primary := range now.Primaries() {
		account, err := accounts.Load(w.ctx, w.memory, accounts.DelegatedID(primary))
		linked, failure := w.accounts.ByEmail(w.ctx, primary)
		must(w.T, failure)
		if err == nil && account.Status == accounts.Active || len(linked) > 0 {
			want = append(want, primary)
		}
	}
	slices.Sort(followed)
	equal(w.T, "calendars followed", followed, want)
	equal(w.T, "without access", state.WithoutAccess, int64(now.Len()-len(want)))
}

// delegated lists who has an active account of the service account.
func (w *mappingWorld) delegated(names ...string) (active []string) {
	w.Helper()
	for _, name := range names {
		account, err := accounts.Load(w.ctx, w.memory, accounts.DelegatedID(name+"@north.example"))
		if err == nil && account.Status == accounts.Active {
			active = append(active, name)
		}
	}
	return active
}

// link links an account of a person for an address of that name.
func (w *mappingWorld) link(person, name string) accounts.Account {
	w.Helper()
	who := accounts.Identity{Provider: accounts.Google, Sub: "sub-" + person + name, Email: name + "@north.example"}
	account, err := w.accounts.Link(w.ctx, person, who, "token", []string{accounts.ScopeEvents})
	must(w.T, err)
	return account
}

// followLinks carries on what became of accounts, as calendarsync.Links does.
func (w *mappingWorld) followLinks() {
	w.Helper()
	for doc, err := range accounts.Due(w.ctx, w.memory, w.now) {
		account := accounts.Decode(doc)
		if err == nil && account.Status == accounts.Active {
			err = w.mappings.AccountBack(w.ctx, account, mapped)
		} else if err == nil {
			err = w.mappings.AccountLeaving(w.ctx, account, mapped)
		}
		must(w.T, err)
	}
}

// record stores a record with an addition for a person's address to an event of theirs.
func (w *mappingWorld) record(id, name string, ends time.Time) {
	w.Helper()
	record := attendees.EventRecord{
		ID: id, ICalUID: id, Version: 3, EndsAt: ends,
		Entries: map[string]attendees.Entry{name + "@south.example": {State: attendees.Added, Primary: name + "@north.example", At: noon}},
		Copies: map[string]attendees.Copy{name: {
			AccountID: accounts.DelegatedID(name + "@north.example"), CalendarID: name + "@north.example", EventID: id, Organized: true,
		}},
	}
	must(w.T, w.memory.Run(w.ctx, func(_ context.Context, tx store.Tx) error {
		return tx.Set(attendees.EventPath(id), attendees.EncodeEvent(record))
	}))
}

func (w *mappingWorld) load(id string) attendees.EventRecord {
	w.Helper()
	record, _, err := attendees.Load(w.ctx, w.memory, id)
	must(w.T, err)
	return record
}

// breaking is a store whose process dies at a call: before it, or after it took effect. Or
// something else happens there.
type breaking struct {
	store.Store
	armed, after bool
	left         int
	// instead is called in place of dying, once.
	instead func()
}

var errDied = errors.New("the process died")

// dies counts a call down; once dead, every call fails.
func (b *breaking) dies() bool {
	if !b.armed {
		return false
	}
	b.left--
	if b.left == -1 && b.instead != nil && !b.after {
		b.happens()
	}
	return b.left < 0 && b.instead == nil && b.armed
}

func (b *breaking) happens() {
	b.armed = false
	b.instead()
}

func (b *breaking) Get(ctx context.Context, path store.Path) (store.Document, error) {
	if b.dies() {
		return store.Document{}, errDied
	}
	return b.Store.Get(ctx, path)
}

func (b *breaking) GetAll(ctx context.Context, paths []store.Path) ([]store.Document, error) {
	if b.dies() {
		return nil, errDied
	}
	return b.Store.GetAll(ctx, paths)
}

func (b *breaking) Query(ctx context.Context, query store.Bound) ([]store.Document, error) {
	if b.dies() {
		return nil, errDied
	}
	return b.Store.Query(ctx, query)
}

func (b *breaking) Run(ctx context.Context, fn func(context.Context, store.Tx) error) error {
	dies := b.dies()
	if dies && (b.left < -1 || !b.after) {
		return errDied
	}
	err := b.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		err := fn(ctx, tx)
		if b.armed && b.after && b.left < 0 && b.instead != nil { // before the commit
			b.happens()
		}
		return err
	})
	if err == nil && dies {
		err = errDied
	}
	return err
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func equal[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}
