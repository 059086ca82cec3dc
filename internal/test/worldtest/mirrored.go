package worldtest

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"time"

	"questscheduler/calendarsync"
	"questscheduler/demo/sim/google"
	"questscheduler/internal/accounts"
	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
	"questscheduler/mirrors"
	"questscheduler/scheduler"
	"questscheduler/web-hooks/timers"
)

// Mirrorer is the person who has several accounts: the own one, and those of Others.
const Mirrorer = "cho"

// Others are further accounts that Mirrorer may link, as Google's users.
var Others = []scheduler.Person{
	{ID: "work", Email: "work@example.com"},
	{ID: "home", Email: "home@example.com"},
	{ID: "side", Email: "side@example.com"},
}

// Outsider is somebody who uses Google and not the program, and may invite Mirrorer.
var Outsider = scheduler.Person{ID: "boss", Email: "boss@example.com"}

// MostExceptions is how many exceptions of an outsider's series are copied at once.
const MostExceptions = 2

// installation names the program in the marks of mirrors.
const installation = "sim"

// mirrorShare is the writer's part of an account's quota, as in production.
const mirrorShare = 0.5

// Mirroring reports whether the world has mirroring.
func (w *World) Mirroring() bool { return len(w.options.Mirrored) > 0 }

// openMirrored makes the users of Options.Mirrored, and links their accounts and cho's own.
func (w *World) openMirrored() {
	w.t.Helper()
	if !w.Mirroring() {
		return
	}
	for _, name := range append([]string{Outsider.ID}, w.options.Mirrored...) {
		grant, err := w.Google.AddUser(google.User{Key: name, Sub: "sub-" + name, Email: Person(name).Email, TimeZone: zone})
		w.must(err)
		w.browsers[name] = grant
	}
	for _, name := range w.MirroredNames() {
		w.LinkMirrored(name)
	}
}

// MirroredNames are the accounts of Mirrorer, by whose calendar they have.
func (w *World) MirroredNames() []string {
	return append([]string{Mirrorer}, w.options.Mirrored...)
}

// LinkMirrored links one of Mirrorer's accounts, or links it anew.
func (w *World) LinkMirrored(name string) {
	w.t.Helper()
	w.linked[name] = w.LinkAs(Mirrorer, name).ID
}

// UnlinkMirrored takes one of Mirrorer's accounts out.
func (w *World) UnlinkMirrored(name string) error {
	account, err := w.Accounts.Unlink(w.ctx, Mirrorer, w.linked[name])
	if err == nil {
		w.follow(account.ID)
	}
	return err
}

// MirroredAccount is the id of one of Mirrorer's accounts.
func (w *World) MirroredAccount(name string) string { return w.linked[name] }

// wireMirrors makes the program's parts of mirroring, as in production.
func (w *World) wireMirrors(p *Program, documents store.Store, client, leaving *gcal.Client, now func() time.Time, log *slog.Logger) {
	if !w.Mirroring() {
		return
	}
	p.Mirrors = &mirrors.Service{
		Store: documents, Outbox: p.Outbox, Follow: p.Watcher.Follow, FindCalendars: p.Lookup.Find, Installation: installation,
		HoldShare: w.options.HoldShare, HoldMin: w.options.HoldMin, Observing: w.observing, MostExceptions: MostExceptions,
		Now: now, NewID: func() string { return w.ulid(now()) }, Log: log,
	}
	p.Writer = &mirrors.Writer{
		Service: p.Mirrors,
		Google:  &mirrorPort{&googlePort{client: client.Within(mirrorShare), ports: &w.ports}},
		Leaving: &mirrorPort{&googlePort{client: leaving, ports: &w.ports, leaving: true}},
	}
	p.Outbox.Add(p.Writer.Work())
	p.Syncer.Consumers = append([]calendarsync.Consumer{mirrors.Consumer{Service: p.Mirrors}}, p.Syncer.Consumers...)
}

// timedMirrors are the jobs of mirroring, for the timers.
func (p *Program) timedMirrors(parts *timers.Parts) {
	if p.Writer == nil {
		return
	}
	parts.Reconcile = func(ctx context.Context, run timers.Run) (timers.Stretch, error) {
		_, next, err := p.Writer.Reconcile(ctx, run.Cause, run.At, run.ByHand)
		return timers.Stretch{Next: next}, err
	}
}

// ReconcileMirrors is the daily job over all calendars.
func (w *World) ReconcileMirrors() error {
	for at := ""; ; {
		_, next, err := w.Writer.Reconcile(w.ctx, scheduler.Cause{Trigger: "reconcile", Trace: "reconcile"}, at, true)
		if err != nil || next == "" {
			return err
		}
		at = next
	}
}

// SetEdges gives Mirrorer's one policy these edges, and makes it first.
func (w *World) SetEdges(edges []mirror.Edge) error {
	policies := mirrors.Policies{Service: w.Mirrors}
	all, err := policies.List(w.ctx, Mirrorer)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		policy, err := policies.Create(w.ctx, Mirrorer, "Everything everywhere")
		if err != nil {
			return err
		}
		all = append(all, policy)
	}
	_, err = policies.SetEdges(w.ctx, Mirrorer, all[0].ID, edges, Cause)
	return err
}

// Edges are those of Mirrorer's policies whose accounts are linked.
func (w *World) Edges() (edges []mirror.Edge) {
	for _, policy := range decoded(w.all(allPolicies), mirror.DecodePolicy) {
		for _, edge := range policy.Edges {
			from, _ := w.accountIs(edge.FromAccountID)
			to, _ := w.accountIs(edge.ToAccountID)
			if from != accounts.Unlinked && to != accounts.Unlinked {
				edges = append(edges, edge)
			}
		}
	}
	return edges
}

// The documents of mirroring.
var (
	allPolicies       = &store.Query{Name: "world: policies", Collection: "mirrorPolicies"}
	allMirrors        = &store.Query{Name: "world: mirrors", Collection: "mirrors"}
	allCanonical      = &store.Query{Name: "world: canonical events", Collection: "canonicalEvents"}
	allMirrorPeople   = &store.Query{Name: "world: people with mirrors", Collection: "mirrorPeople"}
	mirrorInspections = []*store.Query{allPolicies, allMirrors, allCanonical, allMirrorPeople, allConnections}
)

// MirrorDocuments are all mirrors, by id. They must not be changed.
func (w *World) MirrorDocuments() []*mirror.Mirror { return w.mirrors.all(w.all(allMirrors)) }

// CanonicalEvents are all canonical events, by id. They must not be changed.
func (w *World) CanonicalEvents() []*mirror.Event {
	return w.canonical.all(w.all(allCanonical))
}

// MirrorPerson is Mirrorer's document.
func (w *World) MirrorPerson() mirror.Person {
	return mirror.DecodePerson(w.observed.document(mirror.PersonPath(Mirrorer)))
}

// HeldListings are since when listings that lacked many events at once await another, of all
// who follow the calendar.
func (w *World) HeldListings() (since []time.Time) {
	for _, person := range decoded(w.all(allMirrorPeople), mirror.DecodePerson) {
		since = slices.AppendSeq(since, maps.Values(person.HeldSince))
	}
	return since
}

// Overlay is the overlay calendar of one of Mirrorer's accounts; "" if there is none.
func (w *World) Overlay(name string) string {
	return w.MirrorPerson().Overlays[w.linked[name]].CalendarID
}

// settling is longer than copies of a meeting may differ before they count as two.
const settling = 15 * time.Minute

// AwaitMirrors lets the time pass after which the writer takes up what it put off, up to a
// day, and says whether there was anything.
func (w *World) AwaitMirrors() (waited bool) {
	w.t.Helper()
	now := w.Clock.Now()
	var latest time.Time
	for _, m := range w.MirrorDocuments() {
		if m.Due.After(latest) {
			latest = m.Due
		}
	}
	for _, since := range w.HeldListings() {
		if confirmed := since.Add(time.Hour); confirmed.After(latest) {
			latest = confirmed
		}
	}
	for _, event := range w.CanonicalEvents() { // copies that differ until both calendars are synced
		if event.PlanAt.After(latest) && event.PlanAt.Before(now.Add(settling)) {
			latest = event.PlanAt
		}
	}
	if latest.IsZero() {
		return false
	}
	w.advance(max(0, latest.Sub(now)))
	w.Run(3 * time.Minute)
	return true
}
