package availability_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"questscheduler/availability"
	"questscheduler/fault"
	"questscheduler/internal/accounts"
	"questscheduler/internal/calendars"
	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/memorystore"
	"questscheduler/internal/test/storetest"
)

// now is the time of every world: a Monday noon.
var now = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// world is the service over a store, with a Google whose answers a test sets.
type world struct {
	*availability.Service
	t         *testing.T
	documents store.Store // without the reads and reruns of Service.Store
	google    *google
	reads     *reads
	clock     time.Time
	events    int
}

func newWorld(t *testing.T) *world {
	t.Helper()
	documents, err := memorystore.Open(slices.Concat(poll.Queries, calendars.Queries, accounts.Queries, mirror.Queries, availability.Queries))
	must(t, err)
	w := &world{
		t: t, documents: documents,
		google: &google{answers: map[string]func() (gcal.FreeBusy, error){}, within: map[string][]gcal.Interval{}},
		reads:  &reads{Store: storetest.Rerun(documents)}, clock: now,
	}
	w.Service = &availability.Service{Store: w.reads, Google: w.google, Now: func() time.Time { return w.clock }, Recent: 7 * time.Hour}
	return w
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (w *world) set(path store.Path, data map[string]any) {
	w.t.Helper()
	must(w.t, w.Store.Run(w.t.Context(), func(_ context.Context, tx store.Tx) error { return tx.Set(path, data) }))
}

// link links an account of a person with the id acc_ID, whose primary calendar is ID@x.
func (w *world) link(owner, id string, status accounts.Status) string {
	w.t.Helper()
	w.set(accounts.Path("acc_"+id), map[string]any{
		"ownerId": owner, "email": id + "@x", "status": string(status), "provider": "google", "kind": "oauth", "createdAt": now,
		"scopes": []any{accounts.ScopeEvents, accounts.ScopeFreeBusy},
	})
	return "acc_" + id
}

// sync marks the primary calendar of an account as synced for mirrors at a time, in
// Zurich. change may change its document.
func (w *world) sync(owner, id string, at time.Time, change func(map[string]any)) {
	w.t.Helper()
	w.follow(owner, id, id+"@x", func(data map[string]any) {
		data["lastSuccessAt"] = at
		if change != nil {
			change(data)
		}
	})
}

// follow marks a calendar that an account reaches as synced for mirrors an hour ago, in
// Zurich. change may change its document.
func (w *world) follow(owner, id, calendarID string, change func(map[string]any)) {
	w.t.Helper()
	data := map[string]any{
		"ownerId": owner, "accountId": "acc_" + id, "calendarId": calendarID, "timeZone": zurich,
		"interests": map[string]any{mirror.Consumer: 1}, "maskVersion": gcal.WithDetails.Version(), "lastSuccessAt": now.Add(-time.Hour),
	}
	if change != nil {
		change(data)
	}
	w.set(calendars.Path(poll.CalendarKey("acc_"+id, calendarID)), data)
}

// synced links an account and syncs it.
func (w *world) synced(owner, id string) string {
	w.t.Helper()
	account := w.link(owner, id, accounts.Active)
	w.sync(owner, id, now.Add(-time.Hour), nil)
	return account
}

// add stores a canonical event of a person in the primary calendar of an account.
func (w *world) add(owner, id string, e availability.BusyEvent, change func(*mirror.Event)) {
	w.t.Helper()
	stored := w.event(owner, id, e)
	if change != nil {
		change(&stored)
	}
	w.set(mirror.EventPath(stored.ID), mirror.EncodeEvent(stored))
}

// event is a canonical event of a person in the primary calendar of an account.
func (w *world) event(owner, id string, e availability.BusyEvent) mirror.Event {
	w.events++
	stored := mirror.Event{
		ID: fmt.Sprintf("evt_%03d", w.events), OwnerID: owner, AccountID: "acc_" + id, CalendarID: id + "@x",
		EventID: fmt.Sprintf("event%d", w.events), Title: "Secret", Source: mirror.SourceProvider,
		Start: e.Start, End: e.End, Recurrence: e.Lines, OriginalStart: e.Original, Status: "confirmed", Transparency: "opaque",
		From: e.Start.Instant(time.UTC).UTC(), Until: e.End.Instant(time.UTC).UTC(),
	}
	stored.ICalUID = stored.EventID + "@google.com"
	if len(e.Lines) > 0 {
		stored.Until = mirror.Endless()
	}
	return stored
}

// own is what a person is answered about their own accounts.
func (w *world) own(userID string, from, to time.Time, accountIDs ...string) availability.Answer {
	w.t.Helper()
	answer, err := w.Own(w.t.Context(), userID, from, to, accountIDs)
	must(w.t, err)
	return answer
}

// google answers for accounts as a test sets; others are free.
type google struct {
	mu      sync.Mutex
	asked   []string
	answers map[string]func() (gcal.FreeBusy, error)
	within  map[string][]gcal.Interval
}

func (g *google) FreeBusy(_ context.Context, account string, ids []string, from, to time.Time) (map[string]gcal.FreeBusy, error) {
	g.mu.Lock()
	g.asked = append(g.asked, fmt.Sprintf("%s %s", account, to.Sub(from)))
	answer, within := g.answers[account], g.within[account]
	g.mu.Unlock()
	if answer == nil {
		var busy []gcal.Interval
		for _, i := range within {
			if !i.Start.Before(from) && i.Start.Before(to) {
				busy = append(busy, i)
			}
		}
		return map[string]gcal.FreeBusy{ids[0]: {Busy: busy}}, nil
	}
	calendar, err := answer()
	if err != nil {
		return nil, err
	}
	return map[string]gcal.FreeBusy{ids[0]: calendar}, nil
}

// busy has Google show an account as busy.
func (g *google) busy(account string, intervals ...gcal.Interval) {
	g.answers[account] = func() (gcal.FreeBusy, error) { return gcal.FreeBusy{Busy: intervals}, nil }
}

// reads counts the reads of a store outside transactions, and the documents that they gave.
type reads struct {
	store.Store
	calls, documents int
	failAt           int // the call that fails; 0: none
}

func (r *reads) count(documents int) error {
	r.calls, r.documents = r.calls+1, r.documents+documents
	if r.calls == r.failAt {
		return fault.New(fault.Unavailable, "the store is down")
	}
	return nil
}

func (r *reads) Get(ctx context.Context, path store.Path) (store.Document, error) {
	if err := r.count(1); err != nil {
		return store.Document{}, err
	}
	return r.Store.Get(ctx, path)
}

func (r *reads) GetAll(ctx context.Context, paths []store.Path) ([]store.Document, error) {
	if err := r.count(len(paths)); err != nil {
		return nil, err
	}
	return r.Store.GetAll(ctx, paths)
}

func (r *reads) Query(ctx context.Context, query store.Bound) ([]store.Document, error) {
	docs, err := r.Store.Query(ctx, query)
	return docs, errors.Join(err, r.count(len(docs)))
}

// set has Google answer about an account by a function.
func (g *google) set(account string, answer func() (gcal.FreeBusy, error)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.answers[account] = answer
}
