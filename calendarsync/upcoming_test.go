package calendarsync_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"questscheduler/calendarsync"
	"questscheduler/internal/calendars"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
)

// startingAt writes a finalised poll with its index entry and its calendar, of which only the
// fields are there that a plan reads.
func startingAt(w *worldtest.World, n int, start time.Time) (key string) {
	account, calendar, event := fmt.Sprintf("acc-%03d", n), fmt.Sprintf("%03d@example.com", n), fmt.Sprintf("event-%03d", n)
	w.Write(poll.Path(fmt.Sprintf("poll-%03d", n)), poll.Set("status", "FINALIZED"), poll.Set("googleEventId", event),
		store.Update{Path: poll.SyncField("lastEventFingerprint"), Value: rules.Timed(start, start.Add(time.Hour)).String()})
	w.Write(poll.IndexPath(event), poll.Set("schedulerId", fmt.Sprintf("poll-%03d", n)), poll.Set("accountId", account),
		poll.Set("calendarId", calendar))
	key = poll.CalendarKey(account, calendar)
	w.Write(calendars.Path(key), store.Update{Path: store.Field("interests", poll.ConsumerPoll), Value: int64(1)})
	return key
}

// plan plans to the end, and returns when each page ended.
func plan(t *testing.T, w *worldtest.World, spread time.Duration) (pages int, all calendarsync.Upcoming) {
	t.Helper()
	for at, more := "", true; more; more = at != "" {
		var did calendarsync.Upcoming
		var err error
		did, at, err = w.Watcher.PlanUpcoming(t.Context(), worldtest.Cause, at, spread)
		if err != nil {
			t.Fatal(err)
		}
		pages, all.Sessions, all.Syncs = pages+1, all.Sessions+did.Sessions, all.Syncs+did.Syncs
	}
	return pages, all
}

// Calendars that were not synced lately have their places two seconds apart over the period, the
// session that starts first before the others, page by page. A second plan changes nothing.
func TestPlanUpcoming_SpreadsWhatIsLate(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	began, keys := w.Clock.Now(), []string(nil)
	for n := range 120 {
		keys = append(keys, startingAt(w, n, began.Add(time.Duration(n+1)*time.Minute)))
	}
	far := startingAt(w, 200, began.Add(49*time.Hour))
	pages, did := plan(t, w, calendarsync.UpcomingEvery)
	equal(t, "pages", pages, 2)
	equal(t, "planned", did, calendarsync.Upcoming{Sessions: 120, Syncs: 120})
	for n, key := range keys {
		calendar := calendars.Decode(w.Document(calendars.Path(key)))
		equal(t, fmt.Sprintf("place %d", n), calendar.SyncAt.Sub(began), time.Duration(n)*2*time.Second)
		equal(t, "asked for at once", calendar.SyncPending, false)
	}
	equal(t, "planned for later", calendars.Decode(w.Document(calendars.Path(far))).SyncAt.IsZero(), true)
	_, did = plan(t, w, calendarsync.UpcomingEvery)
	equal(t, "planned again", did, calendarsync.Upcoming{Sessions: 120})
}

// wakings counts the wakes of an outbox.
type wakings struct{ count int }

func (w *wakings) Soon(context.Context, string, string, time.Time) { w.count++ }

// A calendar whose sync was planned before, and is not due, is not woken.
func TestPlanUpcoming_OfWhatIsPlanned_WakesNothing(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	startingAt(w, 0, w.Clock.Now().Add(time.Hour))
	woken := &wakings{}
	w.Watcher.Outbox = woken
	plan(t, w, calendarsync.UpcomingEvery)
	equal(t, "woken", woken.count, 1)
	plan(t, w, calendarsync.UpcomingEvery)
	equal(t, "woken in all", woken.count, 1)
}

// A person who asks for it does not wait, and a calendar that was just synced is not listed again.
func TestPlanUpcoming_WithoutSpread_IsDueAtOnce(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	late, fresh := startingAt(w, 0, w.Clock.Now().Add(time.Hour)), startingAt(w, 1, w.Clock.Now().Add(time.Hour))
	w.Write(calendars.Path(fresh), poll.Set("startedAt", w.Clock.Now().Add(-5*time.Minute)))
	plan(t, w, 0)
	equal(t, "late", calendars.Decode(w.Document(calendars.Path(late))).SyncAt.Sub(w.Clock.Now()), 0)
	planned := calendars.Decode(w.Document(calendars.Path(late)))
	same(t, "what it is by", []string{planned.SyncCause, planned.SyncTrace}, []string{calendarsync.SweepKind, worldtest.Cause.Trace})
	equal(t, "fresh", calendars.Decode(w.Document(calendars.Path(fresh))).SyncAt.Sub(w.Clock.Now()), 9*time.Minute)
}

// An entry that had to step aside for another calendar's event of the same id is found.
func TestPlanUpcoming_EventIDOfTwoCalendars_PlansBoth(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	start := w.Clock.Now().Add(time.Hour)
	first, second := startingAt(w, 0, start), startingAt(w, 1, start)
	w.Remove(poll.IndexPath("event-001"))
	w.Write(poll.SharedIndexPath("event-000", "acc-001", "001@example.com"), poll.Set("schedulerId", "poll-001"),
		poll.Set("accountId", "acc-001"), poll.Set("calendarId", "001@example.com"))
	w.Write(poll.Path("poll-001"), poll.Set("googleEventId", "event-000"))
	plan(t, w, 0)
	for _, key := range []string{first, second} {
		equal(t, "planned", calendars.Decode(w.Document(calendars.Path(key))).SyncAt.IsZero(), false)
	}
}

// Where the entry of a session cannot be read, its calendar may be one to plan.
func TestPlanUpcoming_EntryUnread_SaysThatItFailed(t *testing.T) {
	t.Parallel()
	w, p := fallible(t)
	startingAt(w, 0, w.Clock.Now().Add(time.Hour))
	w.Remove(poll.IndexPath("event-000"))
	p.NoneUnread(t, 3, func() error {
		_, _, err := w.Watcher.PlanUpcoming(t.Context(), worldtest.Cause, "", 0)
		return err
	})
}
