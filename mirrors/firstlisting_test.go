package mirrors_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"questscheduler/calendarsync"
	"questscheduler/fault"
	"questscheduler/internal/calendars"
	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
	"questscheduler/mirrors"
	"questscheduler/mirrors/plan"
)

// insertMany makes so many events of the week in an account's calendar.
func (w *world) insertMany(account string, count int) (titles []string) {
	w.Helper()
	for i := range count {
		titles = append(titles, fmt.Sprintf("Event %02d", i))
		w.insert(account, titles[i], stageStart.Add(time.Duration(count-i)*time.Hour).Format(time.RFC3339))
	}
	return titles
}

// The planning of all events of the person, which may be past them, need not find them.
func TestFirstListing_ManyEvents_ArePlannedAsTheyAreStored(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.insertMany(work, 40)
	w.mirrorWork()
	_, err := w.outbox.Run(w.ctx, calendars.SyncKind, w.key(work))
	w.must(err)
	if got := len(w.mirrors()); got != 40 {
		t.Fatalf("%d mirrors are planned, want 40\n%s", got, w.log.String())
	}
	for i, event := range w.canonical(work) { // by id, as they were stored
		if want := fmt.Sprintf("Event %02d", 39-i); event.Title != want {
			t.Errorf("%q is stored where %q is the next", event.Title, want)
		}
		entries, _, err := mirror.LoadJournal(w.ctx, w.memory, event.ID, store.Paging{Limit: 0})
		w.must(err)
		if len(entries) != 2 || entries[0].Step != mirror.StepPlanned || entries[1].Step != mirror.StepObserved || entries[1].Before != "" {
			t.Errorf("the journal of %q is %+v", event.Title, entries)
		}
	}
}

// Calendars that are listed at the same time may show the same meetings, of which none needs a mirror.
func TestFirstListing_OfMeetingsInBothCalendars_WritesNone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 12 {
		_, err := w.full.Insert(w.ctx, refTo(annes), gcal.NewEvent{
			ID: fmt.Sprint("meeting", i), Summary: "Meeting", Start: at(thursday).Time, End: at(thursday).Time.Add(time.Hour),
			Attendees: []string{refTo(work).Calendar, refTo(home).Calendar},
		})
		w.must(err)
	}
	w.mirrorWork(
		mirror.Edge{FromAccountID: work, ToAccountID: home, Detail: mirror.Full, Target: mirror.PrimaryTarget},
		mirror.Edge{FromAccountID: home, ToAccountID: work, Detail: mirror.Full, Target: mirror.PrimaryTarget},
	)
	w.google.Control().ResetCalls()
	_, err := w.outbox.Run(w.ctx, calendars.SyncKind, w.key(work))
	w.must(err)
	for _, m := range w.mirrors() { // before home is listed
		_, err := w.service.Outbox.Run(w.ctx, mirrors.WriteKind, m.ID)
		w.must(err)
	}
	w.run(2 * time.Minute)
	if calls := w.google.Control().Calls()["events.insert"]; calls > 0 {
		t.Errorf("%d mirrors were written", calls)
	}
	for _, m := range w.mirrors() {
		if m.State != mirror.Covered {
			t.Errorf("a mirror is %s", m.State)
		}
	}
}

func TestFirstListing_AnEventThatCannotBeMirrored_DelaysNoOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	titles := w.insertMany(work, 80)
	w.mirrorWork()
	failing := w.shown(work, refTo(work).Calendar)[0]
	r := &refusing{Store: w.service.Store, kind: fault.TooLarge, uids: map[string]bool{failing.Details.ICalUID: true}}
	w.service.Store = r
	w.counter.Reset()
	_, err := w.outbox.Run(w.ctx, calendars.SyncKind, w.key(work))
	w.must(err)
	if transactions := len(w.counter.Runs()); transactions > 40 {
		t.Errorf("%d transactions: more are stored alone than the thirty with the one that fails", transactions)
	}
	w.settle()
	if planned := w.mirrors(); len(planned) != 79 {
		t.Errorf("%d mirrors are planned, want 79\n%s", len(planned), w.log.String())
	}
	clear(r.uids)
	w.run(20 * time.Minute)
	w.wantTitles(home, titles...)
}

// Some of the exceptions are stored before their series, and all by several transactions.
func TestFirstListing_ASeriesWithManyExceptions_IsMirroredWithThem(t *testing.T) {
	t.Parallel()
	const early = 5
	w := newWorld(t)
	w.insertMany(work, 29)
	series, starts := w.guestSeries(annes, work, 20)
	for i, start := range starts {
		by := time.Duration(1+i%3) * time.Hour
		if i < early {
			by = stageStart.Add(18 * time.Hour).Sub(start.Time)
		}
		w.moveInstance(annes, series, start, by)
	}
	w.mirrorWork()
	w.run(2 * time.Minute)
	if differ := w.unlike(series, starts); len(differ) > 0 {
		t.Errorf("home differs on %v\n%s", differ, w.log.String())
	}
}

// expiring is a Google that takes the token of a listing's second page for expired, once.
type expiring struct {
	calendarsync.Google
	calls  int
	expire func()
}

func (e *expiring) List(ctx context.Context, ref gcal.Ref, mask gcal.Mask, syncToken, pageToken string) (gcal.Page, error) {
	e.calls++
	if e.calls == 2 {
		e.expire()
		return gcal.Page{}, &fault.Error{Kind: fault.Conflict, Code: gcal.CodeSyncTokenExpired, Message: "the page is gone"}
	}
	page, err := e.Google.List(ctx, ref, mask, syncToken, pageToken)
	if e.calls == 1 {
		page.NextPage, page.NextSync = "more", ""
	}
	return page, err
}

// What the first attempt stored is known to the second.
func TestFullListing_ThatBeginsAgain_MissesWhatIsGoneSince(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	titles := w.insertMany(work, 12)
	w.mirrorWork()
	google := w.syncer.Google
	w.syncer.Google = &expiring{Google: google, expire: func() {
		_, err := w.full.DeleteQuietly(w.ctx, refTo(work), "event4", "")
		w.must(err)
	}}
	_, err := w.outbox.Run(w.ctx, calendars.SyncKind, w.key(work))
	w.must(err)
	w.syncer.Google = google
	w.run(2 * time.Minute)
	w.wantTitles(home, append(titles[:3:3], titles[4:]...)...)
	if got := len(w.canonical(work)); got != 11 {
		t.Errorf("%d events are stored, want 11", got)
	}
}

// What somebody made in an overlay calendar is nobody's origin, many at once either.
func TestFirstListing_OfAnOverlayCalendar_StoresNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.insertMany(work, 12)
	w.mirrorWork()
	overlays := store.Field("overlays", work)
	w.set(mirror.PersonPath(gm), store.Update{
		Path: overlays, Value: mirror.EncodeOverlay(mirror.OverlayCalendar{CalendarID: refTo(work).Calendar, Generation: 1}),
	})
	_, err := w.outbox.Run(w.ctx, calendars.SyncKind, w.key(work))
	w.must(err)
	if stored := w.canonical(work); len(stored) > 0 || len(w.mirrors()) > 0 {
		t.Errorf("%d events are stored, with %d mirrors", len(stored), len(w.mirrors()))
	}
}

// A newer run of the calendar begins between two transactions of a listing.
func TestFirstListing_ThatWasSuperseded_StoresNothingMore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	titles := w.insertMany(work, 40)
	w.mirrorWork()
	w.onWake = func() {
		w.onWake = nil
		c, _, err := calendars.LoadKey(w.ctx, w.memory, w.key(work))
		w.must(err)
		w.set(calendars.Path(c.Key), c.Invalidate()...)
	}
	_, err := w.outbox.Run(w.ctx, calendars.SyncKind, w.key(work))
	w.must(err)
	if known := w.canonical(work); len(known) != 30 {
		t.Errorf("%d events are known, want the thirty before", len(known))
	}
	w.sync(work)
	w.run(2 * time.Minute)
	w.wantTitles(home, titles...)
}

// Two calendars of an account have an event with one id: each is changed as its own.
func TestSync_OneIDInTwoCalendars_KeepsThemApart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	shared := w.insert(work, "Stand-up", thursday)
	w.mirrorWork()
	w.settle()
	other := w.canonical(work)[0]
	other.ID, other.CalendarID, other.Title = "evt_0", "another@example.test", "Elsewhere"
	w.put(other)
	content := plan.Shown(*shared.Details)
	content.Summary = "Retrospective"
	_, err := w.full.PatchContent(w.ctx, refTo(work), shared.ID, "", content)
	w.must(err)
	w.sync(work)
	all := w.canonical(work)
	if len(all) != 2 || all[0].Title != "Elsewhere" || all[1].Title != "Retrospective" || all[1].CalendarID != refTo(work).Calendar {
		t.Errorf("stored are %+v", all)
	}
}
