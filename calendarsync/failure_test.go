package calendarsync_test

import (
	"testing"
	"time"

	"questscheduler/internal/calendars"
	"questscheduler/internal/outbox"
	"questscheduler/internal/poll"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
)

func TestAnAbsence_IsNoDeletion(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		reason string
		match  string
	}{
		"where the event's get is refused":  {403, "forbidden", "events.get"},
		"where the whole calendar is gone":  {404, "notFound", "events.*"},
		"where Google is broken":            {503, "backendError", "events.*"},
		"where we ask too much":             {429, "rateLimitExceeded", "events.*"},
		"where the quota is used up":        {403, "quotaExceeded", "events.*"},
		"where the list of changes is gone": {404, "notFound", "events.list"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			pollID, _, eventID := w.Finalised()
			if err := w.Google.ExpireSyncTokens(); err != nil {
				t.Fatal(err)
			}
			w.Refuse(c.match, c.status, c.reason, 0)
			// A full listing would not show it, and the get is what lies.
			w.MoveEvent("gm", eventID, noon)
			w.Run(5 * time.Minute)
			equal(t, "status under the fault", w.View(pollID).Poll.Status, rules.Finalized)
			w.Check()
			w.Heal()
			w.Sweep()
			w.Run(time.Hour) // what a used up quota is left alone for
			stands(t, w, pollID, rules.StateRescheduled, noon.Start)
			atRest(t, w)
		})
	}
}

// That Google does not find an event is no word that it was deleted: where the
// calendar lists it, it is there.
func TestUnfoundEvent_MadeAfterTheListing_IsNotGone(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	w.Finalised()
	late, slots := w.Poll()
	if err := w.Google.ExpireSyncTokens(); err != nil {
		t.Error(err)
	}
	// The listing after the 410 has ended when the poll is finalised.
	listing := func() {
		if _, err := w.Finalise(late, slots[0]); err != nil {
			t.Error(err)
		}
		w.Refuse("events.get", 404, "notFound", 1)
	}
	w.On("after events.list", func() { w.On("after events.list", listing) })
	w.Sweep()
	w.Run(5 * time.Minute)
	stands(t, w, late, rules.StateOK, ten.Start)
	atRest(t, w)
}

func TestUnfoundEvent_IsGoneOnlyIfUnlisted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		trigger func(t *testing.T, w *worldtest.World, pollID string)
		shown   rules.State // while it is not found
		journal []string
	}{
		"requested by a person": {func(t *testing.T, w *worldtest.World, pollID string) {
			if _, err := w.Scheduler.Sync(t.Context(), worldtest.Person("gm"), pollID, worldtest.Cause); err != nil {
				t.Error(err)
			}
		}, rules.StateError, []string{"finalise", "warn", "clear_error"}},
		"not shown after a 410": {func(t *testing.T, w *worldtest.World, _ string) {
			if err := w.Google.ExpireSyncTokens(); err != nil {
				t.Error(err)
			}
			w.Sweep()
		}, rules.StateOK, []string{"finalise"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			pollID, _, eventID := w.Finalised()
			for range 7 { // the listing has several pages
				finalisedToo(w)
			}
			w.Run(time.Minute)
			w.Refuse("events.get", 404, "notFound", 0)
			c.trigger(t, w, pollID)
			w.Run(5 * time.Minute)
			stands(t, w, pollID, c.shown, ten.Start)
			w.Heal()
			w.Sweep()
			w.Run(5 * time.Minute)
			stands(t, w, pollID, rules.StateOK, ten.Start)
			same(t, "journal", w.Decisions(pollID), c.journal)

			w.Refuse("events.get", 404, "notFound", 0) // as of an event whose deletion is long past
			w.DeleteEvent("gm", eventID)
			w.LosePushes()
			c.trigger(t, w, pollID)
			w.Run(5 * time.Minute)
			equal(t, "status after a deletion", w.View(pollID).Poll.Status, rules.Cancelled)
			atRest(t, w)
		})
	}
}

func TestALostAccessToTheCalendar_CancelsNothing(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, slots := w.Poll()
	if _, err := w.FinaliseAs(pollID, worldtest.Ask{SlotID: slots[0], CreateEvent: true, CalendarID: worldtest.ClubCalendar}); err != nil {
		t.Fatal(err)
	}
	w.Run(time.Minute)
	for _, role := range []worldtest.Role{worldtest.Reader, worldtest.NoAccess} {
		if err := w.Google.Share(worldtest.ClubCalendar, "gm", role); err != nil {
			t.Fatal(err)
		}
		w.Sweep()
		w.Run(10 * time.Minute)
		equal(t, "status with the role "+string(role), w.View(pollID).Poll.Status, rules.Finalized)
	}
	if err := w.Google.Share(worldtest.ClubCalendar, "gm", worldtest.Owner); err != nil {
		t.Fatal(err)
	}
	w.Sweep()
	w.Run(15 * time.Minute)
	stands(t, w, pollID, rules.StateOK, ten.Start)
	w.DeleteEvent(worldtest.Club, w.View(pollID).Poll.GoogleEventID)
	w.Run(time.Minute)
	equal(t, "status after a deletion", w.View(pollID).Poll.Status, rules.Cancelled)
	atRest(t, w)
}

// Google's quotas count a minute, and it need not say when to ask again.
func TestSync_RateLimitedWithoutRetryAfter_RestsDuringPushes(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, eventID := w.Finalised()
	w.Run(time.Minute)
	w.Refuse("events.list", 403, "userRateLimitExceeded", 0)
	before := w.Calls("events.list")
	for i := range 11 {
		w.MoveEvent("gm", eventID, []worldtest.Slot{noon, three}[i%2])
		w.Run(5 * time.Second)
	}
	equal(t, "listings in a minute", w.Calls("events.list")-before, 1)
	w.Heal()
	w.Run(2 * time.Minute) // a drain takes it up
	stands(t, w, pollID, rules.StateRescheduled, noon.Start)
	atRest(t, w)
}

func TestACalendarThatIsRefused_IsAskedForLessAndLessOften(t *testing.T) {
	t.Parallel()
	for name, refusal := range map[string]struct {
		status int
		reason string
	}{
		"deleted":         {404, "notFound"},
		"shared no more":  {403, "forbidden"},
		"refused for all": {400, "badRequest"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			pollID, _, eventID := w.Finalised()
			w.Run(time.Minute)
			w.Refuse("events.list", refusal.status, refusal.reason, 0)
			w.MoveEvent("gm", eventID, noon)
			before := w.Calls("events.list")
			w.Run(2 * time.Minute)
			if soon := w.Calls("events.list") - before; soon < 2 {
				t.Errorf("%d syncs in the first two minutes, want 2 at least", soon)
			}
			w.Run(6 * time.Hour)
			before = w.Calls("events.list")
			w.Run(24 * time.Hour)
			if a := w.Calls("events.list") - before; a < 20 || a > 24 {
				t.Errorf("%d syncs on the next day, want one an hour", a)
			}
			w.Heal()
			w.Run(time.Hour + time.Minute)
			stands(t, w, pollID, rules.StateRescheduled, noon.Start)
			atRest(t, w)
		})
	}
}

func TestARevokedGrant_StopsTheSyncUntilItIsLinkedAgain(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, eventID := w.Finalised()
	w.Revoke("gm")
	w.MoveEvent("gm", eventID, noon)
	w.Run(time.Minute)
	view := w.View(pollID)
	equal(t, "status", view.Poll.Status, rules.Finalized)
	equal(t, "state", view.Poll.Sync.State, rules.StateError)
	equal(t, "error", view.Poll.Sync.Error.Code, rules.TokenExpired)
	equal(t, "start", view.Winning.Start, ten.Start)
	w.Check()

	before := w.Calls("")
	w.MoveEvent("gm", eventID, three)
	w.Sweep()
	w.Run(time.Hour)
	equal(t, "further calls of Google", w.Calls("")-before, 0)
	same(t, "journal", w.Decisions(pollID), []string{"finalise", "warn"})

	w.Link("gm")
	w.Sweep()
	w.Run(time.Minute)
	stands(t, w, pollID, rules.StateRescheduled, three.Start)
	equal(t, "error is over", w.View(pollID).Poll.Sync.Error == nil, true)
	atRest(t, w)
}

// A poll that was deleted directly has nothing to show an error on; those behind
// it in the calendar's index show it all the same, and are rid of it again.
func TestRevokedGrant_WithDeletedPoll_ShowsOnOthers(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	w.Finalised()
	w.Finalised()
	w.Run(time.Minute)
	entries := w.Index()
	deleted, pollID := entries[0].PollID, entries[1].PollID
	w.Revoke("gm")
	w.Remove(poll.Path(deleted))
	w.MoveEvent("gm", entries[1].EventID, noon)
	w.Run(time.Minute)
	shows(t, w, pollID, rules.TokenExpired, rules.StateError)
	same(t, "notices of gm", w.Notices("gm"), []string{"CALENDAR_SYNC_ERROR"})

	w.Link("gm")
	w.Run(time.Minute)
	shows(t, w, pollID, "", rules.StateRescheduled)
	w.Sweep()
	w.Run(2 * time.Minute)
	equal(t, "index entries", len(w.Index()), 1)
	atRest(t, w)
}

func TestAGrantThatIsBack_ClearsTheErrorOfEventsThatDidNotChange(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, _ := w.Finalised()
	w.Revoke("gm")
	w.Sweep()
	w.Run(time.Minute)
	equal(t, "state", w.View(pollID).Poll.Sync.State, rules.StateError)
	w.Sweep()
	w.Run(time.Minute)
	same(t, "what the owner was sent", w.Notices("gm"), []string{"CALENDAR_SYNC_ERROR"})
	w.Link("gm")
	w.Refuse("events.list", 503, "backendError", 1) // of all moments now
	w.Sweep()
	w.Run(time.Minute)
	stands(t, w, pollID, rules.StateOK, ten.Start)
	atRest(t, w)
}

func TestQuotaUsedUp_PausesTheCalendarForAnHour(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, eventID := w.Finalised()
	w.Refuse("events.list", 403, "quotaExceeded", 1)
	w.MoveEvent("gm", eventID, noon)
	w.Run(time.Minute)
	refusedAt, before := w.Calendar("gm").SyncedAt, w.Calls("")
	equal(t, "left alone until", w.Calendar("gm").PausedUntil, refusedAt.Add(time.Hour))
	equal(t, "why", w.Calendar("gm").LastError, "exhausted")
	w.MoveEvent("gm", eventID, three)
	w.Sweep()
	w.Run(50 * time.Minute)
	equal(t, "calls of Google in the meantime", w.Calls("")-before, 0)
	stands(t, w, pollID, rules.StateOK, ten.Start)
	w.Run(15 * time.Minute)
	stands(t, w, pollID, rules.StateRescheduled, three.Start)
	equal(t, "left alone", w.Calendar("gm").PausedUntil, time.Time{})
	atRest(t, w)
}

func TestEvent_ThatKeepsFailing_IsDeferred(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, eventID := w.Finalised()
	other := finalisedToo(w)
	fill(t, w, pollID)
	w.MoveEvent("gm", eventID, noon)
	w.MoveEvent("gm", w.View(other).Poll.GoogleEventID, three)
	w.Run(2 * time.Minute)
	stands(t, w, other, rules.StateRescheduled, three.Start)
	equal(t, "status of the poll that fails", w.View(pollID).Poll.Status, rules.Finalized)
	equal(t, "deferred", w.Calendar("gm").Deferred(eventID).Why, calendars.DeferredFailed)
	before := w.Calendar("gm").SyncToken

	w.MoveEvent("gm", w.View(other).Poll.GoogleEventID, ten)
	w.Run(2 * time.Minute)
	stands(t, w, other, rules.StateOK, ten.Start)
	equal(t, "the cursor moved on", w.Calendar("gm").SyncToken != before, true)
	equal(t, "failures", w.Calendar("gm").LastError, "")

	w.Write(poll.Path(pollID), poll.Set("fieldOfTheWebApp", "little"))
	w.Sweep()
	w.Run(2 * time.Minute)
	stands(t, w, pollID, rules.StateRescheduled, noon.Start)
	equal(t, "deferred events", len(w.Calendar("gm").DeferredEvents()), 0)
	atRest(t, w)
}

func TestALongOutage_MakesNoCrowdOfTasks(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, eventID := w.Finalised()
	cancelled, _, _ := w.Finalised()
	w.Refuse("events.*", 503, "backendError", 0)
	if _, err := w.Cancel(cancelled); err != nil {
		t.Fatal(err)
	}
	for range 12 {
		w.MoveEvent("gm", eventID, noon)
		w.Run(10 * time.Minute)
		w.MoveEvent("gm", eventID, three)
		w.Run(10 * time.Minute)
	}
	for _, kind := range w.Depths() {
		if kind.Due > 1 || w.Wakes.Waiting(kind.Kind) > 3 {
			t.Errorf("%d entries and %d wakes of kind %s wait", kind.Due, w.Wakes.Waiting(kind.Kind), kind.Kind)
		}
	}
	w.Heal()
	w.Run(15 * time.Minute)
	stands(t, w, pollID, rules.StateRescheduled, three.Start)
	equal(t, "intents", len(w.Intents()), 0)
	atRest(t, w)
}

func TestAnEventOfACalendarThatIsLost_IsNotGone(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, slots := w.Poll()
	if _, err := w.FinaliseAs(pollID, worldtest.Ask{SlotID: slots[0], CreateEvent: true, CalendarID: worldtest.ClubCalendar}); err != nil {
		t.Fatal(err)
	}
	w.Run(time.Minute)
	asked := false
	w.On("before events.get", func() {
		asked = true
		if err := w.Google.Share(worldtest.ClubCalendar, "gm", worldtest.NoAccess); err != nil {
			t.Error(err)
		}
	})
	if _, err := w.Scheduler.Sync(t.Context(), worldtest.Person("gm"), pollID, worldtest.Cause); err != nil {
		t.Error(err)
	}
	w.Run(10 * time.Minute)
	equal(t, "the event was asked for", asked, true)
	equal(t, "status", w.View(pollID).Poll.Status, rules.Finalized)
	if err := w.Google.Share(worldtest.ClubCalendar, "gm", worldtest.Owner); err != nil {
		t.Fatal(err)
	}
	w.Sweep()
	w.Run(10 * time.Minute)
	stands(t, w, pollID, rules.StateOK, ten.Start)
	atRest(t, w)
}

// What a reader does not find may be hidden from them, also where neither the listing shows it.
func TestUnfoundEvent_OfACalendarThatIsOnlyRead_IsNotGone(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID := inClub(t, w)
	eventID := w.View(pollID).Poll.GoogleEventID
	share(t, w, worldtest.Reader)
	w.DeleteEvent(worldtest.Club, eventID)
	w.LosePushes()
	w.Refuse("events.get", 404, "notFound", 0)
	if err := w.Google.ExpireSyncTokens(); err != nil {
		t.Fatal(err)
	}
	w.Sweep()
	w.Run(10 * time.Minute)
	equal(t, "status", w.View(pollID).Poll.Status, rules.Finalized)
	shows(t, w, pollID, rules.SyncFailed, rules.StateError)
}

// A deletion that Google reports needs no listing to be believed.
func TestEvent_ReportedAsDeleted_CostsOneListing(t *testing.T) {
	t.Parallel()
	calls := map[string]int{}
	for reason, status := range map[string]int{"deleted": 410, "notFound": 404} {
		w := worldtest.New(t, worldtest.Options{PageSize: 50})
		pollID, _, eventID := w.Finalised()
		w.Run(time.Minute)
		w.DeleteEvent("gm", eventID)
		if err := w.Google.ExpireSyncTokens(); err != nil {
			t.Fatal(err)
		}
		before := w.Calls("events.list")
		w.Refuse("events.get", status, reason, 1)
		w.Run(time.Minute)
		equal(t, reason+": status", w.View(pollID).Poll.Status, rules.Cancelled)
		calls[reason] = w.Calls("events.list") - before
	}
	equal(t, "listings that a 404 costs more", calls["notFound"]-calls["deleted"], 1)
}

// A run that finds a grant dead says so to polls and owner; it does not wait for what becomes of
// the account.
func TestSync_ByADeadGrant_ShowsItAtOnce(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, _ := w.Finalised()
	w.Run(time.Minute)
	w.Revoke("gm")
	w.Skip(2 * time.Hour)
	key := w.CalendarKey("gm")
	w.Write(calendars.Path(key), calendars.RequestSync(calendars.Request{At: w.Clock.Now(), Trigger: "person"})...)
	w.Syncer.Work().Handle(t.Context(), outbox.Item{ID: key, Document: w.Document(calendars.Path(key))})
	equal(t, "error", w.View(pollID).Poll.Sync.Error.Code, rules.TokenExpired)
	same(t, "notices of gm", w.Notices("gm"), []string{"CALENDAR_SYNC_ERROR"})
	equal(t, "what is tried again", w.Calendar("gm").SyncAt.IsZero(), true)
}
