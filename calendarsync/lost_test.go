package calendarsync_test

import (
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/accounts"
	"questscheduler/internal/calendars"
	"questscheduler/internal/outbox"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
	"questscheduler/operations/health"
	"questscheduler/rules"
)

// inClub is a poll that follows an event in the club's calendar.
func inClub(t *testing.T, w *worldtest.World) (pollID string) {
	t.Helper()
	pollID, slots := w.Poll()
	if _, err := w.FinaliseAs(pollID, worldtest.Ask{SlotID: slots[0], CreateEvent: true, CalendarID: worldtest.ClubCalendar}); err != nil {
		t.Fatal(err)
	}
	w.Run(time.Minute)
	return pollID
}

// share gives gm a role in the club's calendar, of which no push tells.
func share(t *testing.T, w *worldtest.World, role worldtest.Role) {
	t.Helper()
	w.ShareClub(role)
	w.LosePushes()
}

// onlyTimes links gm's account without the scope for the list of calendars.
func onlyTimes(w *worldtest.World) {
	w.LinkAs("gm", "gm", "openid", "email", accounts.ScopeEvents)
}

// clubTroubles are the codes that gm's sync status shows of the club's calendar.
func clubTroubles(t *testing.T, w *worldtest.World) (codes []string) {
	t.Helper()
	report, err := w.Health.OfPerson(w.Context(), "gm")
	if err != nil {
		t.Fatal(err)
	}
	for _, account := range report.Accounts {
		for _, calendar := range account.Calendars {
			if calendar.CalendarID != worldtest.ClubCalendar {
				continue
			}
			for _, trouble := range calendar.Troubles {
				codes = append(codes, trouble.Code)
			}
		}
	}
	return codes
}

// saysLost fails where a poll of the club's calendar, its owner and the sync status do not say
// that the calendar is lost.
func saysLost(t *testing.T, w *worldtest.World, pollID string) {
	t.Helper()
	shows(t, w, pollID, rules.CalendarLost, rules.StateError)
	same(t, "notices of gm", w.Notices("gm"), []string{"CALENDAR_SYNC_ERROR"})
	same(t, "sync status", clubTroubles(t, w), []string{"calendar_lost"})
	figures, err := w.Health.Figures(w.Context())
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "polls in the figures", figures.Errors[rules.CalendarLost] > 0, true)
	equal(t, "what the operator is alerted of", figures.FailingSince, time.Time{})
	counts, _, err := w.Health.Survey(w.Context(), "", func(health.Account) {})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "accounts in error", counts[health.Error], 1)
}

func TestLostCalendar_UntilItIsReadAgain_SaysSo(t *testing.T) {
	t.Parallel()
	for name, role := range map[string]worldtest.Role{"unshared": worldtest.NoAccess, "refused": worldtest.Refused} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			pollID := inClub(t, w)
			share(t, w, role)
			w.Sweep()
			w.Run(time.Minute)
			saysLost(t, w, pollID)
			w.Refuse("events.*", 503, "backendError", 20)
			for range 3 {
				w.Run(24 * time.Hour)
			}
			w.Sweep()
			w.Run(time.Minute)
			saysLost(t, w, pollID)
			w.Check()

			share(t, w, worldtest.Owner)
			w.Run(time.Hour + time.Minute) // the next retry finds it
			shows(t, w, pollID, "", rules.StateOK)
			equal(t, "refused since", w.Calendar("gm").RefusedSince, time.Time{})
			w.Sweep()
			w.Run(time.Minute)
			same(t, "sync status", clubTroubles(t, w), nil)
			same(t, "journal", w.Decisions(pollID), []string{"finalise", "warn", "clear_error"})
			atRest(t, w)

			share(t, w, role)
			w.Sweep()
			w.Run(time.Minute)
			shows(t, w, pollID, rules.CalendarLost, rules.StateError)
			equal(t, "notices of two losses", len(w.Notices("gm")), 2)
		})
	}
}

func TestLostCalendar_Deleted_SaysSo(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID := inClub(t, w)
	if err := w.Google.RemoveCalendar(worldtest.ClubCalendar); err != nil {
		t.Fatal(err)
	}
	w.Run(time.Minute) // a push says so
	saysLost(t, w, pollID)
}

func TestLostCalendar_WithoutItsList_IsRefusedTwice(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	onlyTimes(w)
	pollID := inClub(t, w)
	share(t, w, worldtest.NoAccess)
	w.Sweep()
	w.Run(9 * time.Minute)
	shows(t, w, pollID, "", rules.StateOK)
	share(t, w, worldtest.Owner) // between two refusals, it answers
	w.Run(10 * time.Minute)
	share(t, w, worldtest.NoAccess)
	w.Skip(time.Hour)
	w.Sweep()
	w.Run(5 * time.Minute)
	shows(t, w, pollID, "", rules.StateOK)
	w.Run(20 * time.Minute)
	saysLost(t, w, pollID)
	equal(t, "calls of calendarList.list", w.Calls("calendarList.list"), 0)
}

// What may pass without a person is no loss.
func TestCalendar_ThatFailsOtherwise_IsNotLost(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		match, reason string
		status        int
		role          worldtest.Role
	}{
		"its list names it":            {"events.*", "notFound", 404, worldtest.Owner},
		"its list names it, forbidden": {"events.*", "forbidden", 403, worldtest.Owner},
		"rates":                        {"events.*", "rateLimitExceeded", 403, worldtest.NoAccess},
		"quotas":                       {"events.*", "quotaExceeded", 403, worldtest.NoAccess},
		"another refusal":              {"events.*", "badRequest", 400, worldtest.NoAccess},
		"an outage":                    {"events.*", "backendError", 503, worldtest.NoAccess},
		"the list fails":               {"calendarList.list", "backendError", 503, worldtest.NoAccess},
		"the list is limited":          {"calendarList.list", "rateLimitExceeded", 403, worldtest.NoAccess},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			pollID := inClub(t, w)
			share(t, w, c.role)
			w.Refuse(c.match, c.status, c.reason, 0)
			w.Sweep()
			w.Run(3 * time.Hour)
			shows(t, w, pollID, "", rules.StateOK)
			equal(t, "notices", len(w.Notices("gm")), 0)
		})
	}
}

// A session that is deleted from another calendar is cancelled at once: what is lost needs
// not be searched.
func TestLostCalendar_OfOtherPolls_HoldsNothingBack(t *testing.T) {
	t.Parallel()
	for name, role := range map[string]worldtest.Role{"unshared": worldtest.NoAccess, "refused": worldtest.Refused} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			inClub(t, w)
			pollID, _, eventID := w.Finalised()
			share(t, w, role)
			w.DeleteEvent("gm", eventID)
			w.Run(time.Minute)
			equal(t, "status", w.View(pollID).Poll.Status, rules.Cancelled)
			same(t, "journal", w.Decisions(pollID), []string{"finalise", "cancel"})
			atRest(t, w)
		})
	}
	t.Run("where no list is granted", func(t *testing.T) {
		t.Parallel()
		w := worldtest.New(t, worldtest.Options{})
		onlyTimes(w)
		lostID := inClub(t, w)
		pollID, _, eventID := w.Finalised()
		share(t, w, worldtest.NoAccess)
		w.DeleteEvent("gm", eventID)
		w.Run(10 * time.Minute)
		equal(t, "status while it may come back", w.View(pollID).Poll.Status, rules.Finalized)
		w.Run(15 * time.Minute) // the search had the lost calendar read
		equal(t, "status", w.View(pollID).Poll.Status, rules.Cancelled)
		shows(t, w, lostID, rules.CalendarLost, rules.StateError)
	})
}

// The search for an event that awaited the lost calendar goes on, also after the run that found
// it lost died.
func TestLostCalendar_FoundByADyingRun_IsAwaitedNoMore(t *testing.T) {
	t.Parallel()
	deaths := 0
	for n, died := 1, true; died; n++ {
		w := worldtest.New(t, worldtest.Options{})
		onlyTimes(w)
		inClub(t, w)
		pollID, _, eventID := w.Finalised()
		share(t, w, worldtest.NoAccess)
		w.DeleteEvent("gm", eventID)
		w.Run(10 * time.Minute)
		if status := w.View(pollID).Poll.Status; status != rules.Finalized {
			t.Fatalf("it is %s before the calendar is lost", status)
		}
		w.CrashAt(n)
		lived, point := w.Survives(func() { w.Run(10 * time.Minute) })
		died = !lived
		if died {
			deaths++
		}
		w.TakeOver()
		w.Run(15 * time.Minute)
		if status := w.View(pollID).Poll.Status; status != rules.Cancelled {
			t.Fatalf("it is %s after the program died %s", status, point)
		}
	}
	if deaths < 50 {
		t.Errorf("the runs were struck at %d points alone", deaths)
	}
}

// An event that was moved to a calendar that answers again is found there, whatever is
// known of the calendar.
func TestLostCalendar_ThatAnswersAgain_IsSearched(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	onlyTimes(w)
	inClub(t, w)
	pollID, _, eventID := w.Finalised()
	share(t, w, worldtest.NoAccess)
	w.Sweep()
	w.Run(20 * time.Minute)
	w.ShareClub(worldtest.Owner)
	w.MoveAway("gm", eventID, worldtest.Club)
	w.Run(time.Minute)
	equal(t, "status", w.View(pollID).Poll.Status, rules.Finalized)
	equal(t, "calendar", w.View(pollID).Poll.GoogleCalendarID, worldtest.ClubCalendar)
}

// A listing of changes shows no event that did not change: the error is cleared all the same.
// A used up quota pauses a lost calendar too.
func TestLostCalendar_WhoseTokenStaysValid_IsCleared(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	onlyTimes(w)
	pollID := inClub(t, w)
	token := w.Calendar(worldtest.Club).SyncToken
	w.Refuse("events.*", 404, "notFound", 0)
	w.Skip(2 * time.Hour)
	w.Sweep()
	w.Run(30 * time.Minute)
	saysLost(t, w, pollID)
	w.Heal()
	w.Refuse("events.list", 403, "quotaExceeded", 1)
	w.Sweep()
	w.Run(time.Minute)
	equal(t, "paused", w.Calendar(worldtest.Club).PausedUntil.After(w.Clock.Now()), true)
	saysLost(t, w, pollID)
	w.Run(2 * time.Hour)
	shows(t, w, pollID, "", rules.StateOK)
	equal(t, "sync token", token != "", true)
	atRest(t, w)
}

// Commands that need no calendar work, and a new finalisation ends the error.
func TestLostCalendar_CommandsOfAPerson_HaveTheirEffect(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	cancelled, finalised, accepted, moved := inClub(t, w), inClub(t, w), inClub(t, w), inClub(t, w)
	for _, pollID := range []string{accepted, moved} {
		w.MoveEvent(worldtest.Club, w.View(pollID).Poll.GoogleEventID, noon)
	}
	w.Run(time.Minute)
	share(t, w, worldtest.NoAccess)
	w.Sweep()
	w.Run(time.Minute)

	_, err := w.Scheduler.AcceptNew(w.Context(), worldtest.Person("gm"), accepted, w.View(accepted).Poll.Sync.Applied.String(),
		worldtest.Cause)
	equal(t, "accept", err, nil)
	shows(t, w, accepted, rules.CalendarLost, rules.StateError)
	moveAgain := w.View(moved).Poll
	_, err = w.Scheduler.RestoreOriginal(w.Context(), worldtest.Person("gm"), moved, worldtest.Cause)
	equal(t, "restoring is refused", fault.KindOf(err), fault.NotFound)
	equal(t, "and changes nothing", w.View(moved).Poll.Sync.Applied, moveAgain.Sync.Applied)
	if _, err := w.Cancel(cancelled); err != nil {
		t.Error(err)
	}
	view := w.View(finalised)
	if _, err := w.FinaliseAs(finalised, worldtest.Ask{
		SlotID: view.Poll.WinningSlotID, CreateEvent: true, CalendarID: "gm@example.com",
	}); err != nil {
		t.Error(err)
	}
	w.Run(time.Minute)
	equal(t, "status of the cancelled one", w.View(cancelled).Poll.Status, rules.Cancelled)
	equal(t, "error of the cancelled one", w.View(cancelled).Poll.Sync.Error == nil, true)
	shows(t, w, finalised, "", rules.StateOK)
	equal(t, "calendar of the one finalised anew", w.View(finalised).Poll.GoogleCalendarID, "gm@example.com")
	w.Run(25 * time.Hour)
	equal(t, "intents", len(w.Intents()), 0)
}

// The program dies at each point of the run that finds the loss: the next one says so once.
func TestLostCalendar_FoundByADyingRun_IsAnnouncedOnce(t *testing.T) {
	t.Parallel()
	deaths := 0
	for n, died := 1, true; died; n++ {
		w := worldtest.New(t, worldtest.Options{})
		pollID := inClub(t, w)
		share(t, w, worldtest.NoAccess)
		w.Skip(2 * time.Hour)
		if err := w.SweepPages(worldtest.Cause); err != nil {
			t.Fatal(err)
		}
		w.CrashAt(n)
		lived, point := w.Survives(w.RunDue)
		died = !lived
		if died {
			deaths++
		}
		w.TakeOver()
		w.Run(5 * time.Minute)
		saysLost(t, w, pollID)
		if t.Failed() {
			t.Fatalf("the program died %s", point)
		}
	}
	if deaths < 10 {
		t.Errorf("the run was struck at %d points alone", deaths)
	}
}

// A calendar that only others than polls follow: its owner sees it in the sync status.
func TestLostCalendar_WithoutPolls_IsInTheSyncStatus(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID := inClub(t, w)
	if _, err := w.Scheduler.Cancel(w.Context(), worldtest.Person("gm"), pollID, false, worldtest.Cause); err != nil {
		t.Fatal(err)
	}
	key := w.CalendarKey(worldtest.Club)
	w.Write(calendars.Path(key), store.Update{Path: store.Field("interests", "mirrors"), Value: int64(1)})
	share(t, w, worldtest.NoAccess)
	w.Sweep()
	w.Run(time.Minute)
	same(t, "sync status", clubTroubles(t, w), []string{"calendar_lost"})
	equal(t, "notices", len(w.Notices("gm")), 0)
}

// Only a calendar that is wanted, and whose events awaited the loss of another, is read on its account.
func TestLostCalendar_ThatAnotherAwaits_HasThatRead(t *testing.T) {
	t.Parallel()
	failed := func(w *worldtest.World, why string) {
		w.Write(calendars.Path(w.CalendarKey("gm")), calendars.Defer("some", why, w.Clock.Now()))
	}
	for name, row := range map[string]struct {
		begin func(w *worldtest.World)
		read  bool
	}{
		"nothing waits":               {func(*worldtest.World) {}, false},
		"an event failed":             {func(w *worldtest.World) { failed(w, calendars.DeferredFailed) }, true},
		"an event waits for a person": {func(w *worldtest.World) { failed(w, calendars.DeferredHeld) }, false},
		"an event failed, of no concern": {func(w *worldtest.World) {
			failed(w, calendars.DeferredFailed)
			w.Write(calendars.Path(w.CalendarKey("gm")), store.Update{Path: store.Field("interests", poll.ConsumerPoll), Value: int64(0)})
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			w.Finalised()
			inClub(t, w)
			w.Run(time.Minute)
			share(t, w, worldtest.NoAccess)
			row.begin(w)
			key := w.CalendarKey(worldtest.Club)
			w.Write(calendars.Path(key), calendars.Defer("other", calendars.DeferredFailed, w.Clock.Now())) // which it awaits itself
			w.Write(calendars.Path(key), calendars.RequestSync(calendars.Request{At: w.Clock.Now(), Trigger: "person"})...)
			w.Syncer.Work().Handle(t.Context(), outbox.Item{ID: key, Document: w.Document(calendars.Path(key))})
			equal(t, "it is lost", w.Calendar(worldtest.Club).Lost(), true)
			equal(t, "it is asked for itself", w.Calendar(worldtest.Club).Asked(), false)
			equal(t, "another is asked for", w.Calendar("gm").Asked(), row.read)
		})
	}
}
