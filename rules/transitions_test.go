package rules_test

import (
	"slices"
	"testing"
	"time"

	"questscheduler/rules"
)

// column is a poll in one sync state, and the decision for each observation.
type column struct {
	name  string
	poll  rules.Poll
	cells map[string]string
}

// columns holds the table of transitions, one sync state after the other. The
// keys are all observations without an always, for every state.
var columns = []column{
	{"a poll that is OK", inStep(), map[string]string{
		"is at the baseline":                        "in_step: nothing",
		"is at the baseline, said twice":            "in_step: nothing",
		"is at the baseline in another offset":      "in_step: nothing",
		"is at noon":                                "moved: reschedule → RESCHEDULED",
		"is at noon, said twice":                    "moved: reschedule → RESCHEDULED",
		"is at three":                               "moved: reschedule → RESCHEDULED",
		"is at three by an equal updated":           "moved: reschedule → RESCHEDULED",
		"is at three and says no updated":           "moved: reschedule → RESCHEDULED",
		"starts with the baseline and lasts longer": "moved: reschedule → RESCHEDULED",
		"takes all day":                             "moved: reschedule → RESCHEDULED",
		"is gone":                                   "deleted: cancel → CANCELLED",
		"is gone and was found elsewhere":           "moved_calendar: moved_calendar → OK",
		"is gone by an equal updated":               "deleted: cancel → CANCELLED",
		"is gone by an older updated":               "deleted: cancel → CANCELLED",
		"is gone and says no updated":               "deleted: cancel → CANCELLED",
		"became a series":                           "series: warn → OK recurring_unsupported",
		"is unreadable":                             "unreadable: warn → OK unreadable_event",
		"is there without a time":                   "unreadable: warn → OK unreadable_event",
		"has an unknown state":                      "unreadable: warn → OK unreadable_event",
	}},
	{"a poll RESCHEDULED to noon", rescheduled(), map[string]string{
		"is at the baseline":                        "moved_back: restore → OK",
		"is at the baseline, said twice":            "moved_back: restore → OK",
		"is at the baseline in another offset":      "moved_back: restore → OK",
		"is at noon":                                "applied_already: nothing",
		"is at noon, said twice":                    "applied_already: nothing",
		"is at three":                               "moved_again: reschedule_again → RESCHEDULED",
		"is at three by an equal updated":           "moved_again: reschedule_again → RESCHEDULED",
		"is at three and says no updated":           "moved_again: reschedule_again → RESCHEDULED",
		"starts with the baseline and lasts longer": "moved_again: reschedule_again → RESCHEDULED",
		"takes all day":                             "moved_again: reschedule_again → RESCHEDULED",
		"is gone":                                   "deleted: cancel → CANCELLED",
		"is gone and was found elsewhere":           "moved_calendar: moved_calendar → RESCHEDULED",
		"is gone by an equal updated":               "deleted: cancel → CANCELLED",
		"is gone by an older updated":               "deleted: cancel → CANCELLED",
		"is gone and says no updated":               "deleted: cancel → CANCELLED",
		"became a series":                           "series: warn → RESCHEDULED recurring_unsupported",
		"is unreadable":                             "unreadable: warn → RESCHEDULED unreadable_event",
		"is there without a time":                   "unreadable: warn → RESCHEDULED unreadable_event",
		"has an unknown state":                      "unreadable: warn → RESCHEDULED unreadable_event",
	}},
	{"a poll in ERROR that is not over", failing(inStep(), rules.WatchFailed), map[string]string{
		"is at the baseline":                        "in_step: nothing",
		"is at the baseline, said twice":            "in_step: nothing",
		"is at the baseline in another offset":      "in_step: nothing",
		"is at noon":                                "moved: reschedule → ERROR watch_failed",
		"is at noon, said twice":                    "moved: reschedule → ERROR watch_failed",
		"is at three":                               "moved: reschedule → ERROR watch_failed",
		"is at three by an equal updated":           "moved: reschedule → ERROR watch_failed",
		"is at three and says no updated":           "moved: reschedule → ERROR watch_failed",
		"starts with the baseline and lasts longer": "moved: reschedule → ERROR watch_failed",
		"takes all day":                             "moved: reschedule → ERROR watch_failed",
		"is gone":                                   "deleted: cancel → CANCELLED",
		"is gone and was found elsewhere":           "moved_calendar: moved_calendar → ERROR watch_failed",
		"is gone by an equal updated":               "deleted: cancel → CANCELLED",
		"is gone by an older updated":               "deleted: cancel → CANCELLED",
		"is gone and says no updated":               "deleted: cancel → CANCELLED",
		"became a series":                           "series: nothing",
		"is unreadable":                             "unreadable: nothing",
		"is there without a time":                   "unreadable: nothing",
		"has an unknown state":                      "unreadable: nothing",
	}},
	{"a rescheduled poll in ERROR that is not over", failing(rescheduled(), rules.WatchFailed), map[string]string{
		"is at the baseline":                        "moved_back: restore → ERROR watch_failed",
		"is at the baseline, said twice":            "moved_back: restore → ERROR watch_failed",
		"is at the baseline in another offset":      "moved_back: restore → ERROR watch_failed",
		"is at noon":                                "applied_already: nothing",
		"is at noon, said twice":                    "applied_already: nothing",
		"is at three":                               "moved_again: reschedule_again → ERROR watch_failed",
		"is at three by an equal updated":           "moved_again: reschedule_again → ERROR watch_failed",
		"is at three and says no updated":           "moved_again: reschedule_again → ERROR watch_failed",
		"starts with the baseline and lasts longer": "moved_again: reschedule_again → ERROR watch_failed",
		"takes all day":                             "moved_again: reschedule_again → ERROR watch_failed",
		"is gone":                                   "deleted: cancel → CANCELLED",
		"is gone and was found elsewhere":           "moved_calendar: moved_calendar → ERROR watch_failed",
		"is gone by an equal updated":               "deleted: cancel → CANCELLED",
		"is gone by an older updated":               "deleted: cancel → CANCELLED",
		"is gone and says no updated":               "deleted: cancel → CANCELLED",
		"became a series":                           "series: nothing",
		"is unreadable":                             "unreadable: nothing",
		"is there without a time":                   "unreadable: nothing",
		"has an unknown state":                      "unreadable: nothing",
	}},
	{"a poll with a cancellation held", failing(inStep(), rules.MassCancellationHeld), map[string]string{
		"is at the baseline":                        "in_step: nothing",
		"is at the baseline, said twice":            "in_step: nothing",
		"is at the baseline in another offset":      "in_step: nothing",
		"is at noon":                                "moved: reschedule → ERROR mass_cancellation_held",
		"is at noon, said twice":                    "moved: reschedule → ERROR mass_cancellation_held",
		"is at three":                               "moved: reschedule → ERROR mass_cancellation_held",
		"is at three by an equal updated":           "moved: reschedule → ERROR mass_cancellation_held",
		"is at three and says no updated":           "moved: reschedule → ERROR mass_cancellation_held",
		"starts with the baseline and lasts longer": "moved: reschedule → ERROR mass_cancellation_held",
		"takes all day":                             "moved: reschedule → ERROR mass_cancellation_held",
		"is gone":                                   "held: nothing",
		"is gone and was found elsewhere":           "moved_calendar: moved_calendar → OK",
		"is gone by an equal updated":               "held: nothing",
		"is gone by an older updated":               "held: nothing",
		"is gone and says no updated":               "held: nothing",
		"became a series":                           "series: nothing",
		"is unreadable":                             "unreadable: nothing",
		"is there without a time":                   "unreadable: nothing",
		"has an unknown state":                      "unreadable: nothing",
	}},
	{"a poll that the web app restored while its sync says CANCELLED", outOfStep(rules.StateCancelled), map[string]string{
		"is at the baseline":                        "in_step: clear_error → OK",
		"is at the baseline, said twice":            "in_step: clear_error → OK",
		"is at the baseline in another offset":      "in_step: clear_error → OK",
		"is at noon":                                "moved: reschedule → RESCHEDULED",
		"is at noon, said twice":                    "moved: reschedule → RESCHEDULED",
		"is at three":                               "moved: reschedule → RESCHEDULED",
		"is at three by an equal updated":           "moved: reschedule → RESCHEDULED",
		"is at three and says no updated":           "moved: reschedule → RESCHEDULED",
		"starts with the baseline and lasts longer": "moved: reschedule → RESCHEDULED",
		"takes all day":                             "moved: reschedule → RESCHEDULED",
		"is gone":                                   "deleted: cancel → CANCELLED",
		"is gone and was found elsewhere":           "moved_calendar: moved_calendar → OK",
		"is gone by an equal updated":               "deleted: cancel → CANCELLED",
		"is gone by an older updated":               "deleted: cancel → CANCELLED",
		"is gone and says no updated":               "deleted: cancel → CANCELLED",
		"became a series":                           "series: warn → OK recurring_unsupported",
		"is unreadable":                             "unreadable: warn → OK unreadable_event",
		"is there without a time":                   "unreadable: warn → OK unreadable_event",
		"has an unknown state":                      "unreadable: warn → OK unreadable_event",
	}},
}

// outOfStep is inStep with a sync state that does not go with it.
func outOfStep(state rules.State) rules.Poll {
	p := inStep()
	p.State = state
	return p
}

func TestDecide_EachStateAndObservation_FollowsTheTable(t *testing.T) {
	t.Parallel()
	for _, c := range columns {
		for _, s := range observations {
			t.Run(c.name+" whose event "+s.name, func(t *testing.T) {
				t.Parallel()
				want, listed := c.cells[s.name]
				if s.always != "" {
					want, listed = s.always, !listed
				}
				if !listed {
					t.Fatal("the table must hold this cell exactly once")
				}
				if got := decide(t, c.poll, s.of(c.poll), dayBefore); got != want {
					t.Errorf("got  %s\nwant %s", got, want)
				}
			})
		}
	}
}

// A poll linked before this backend has applied nothing, so nothing is older.
func TestDecide_PollLinkedBefore_IsAdoptedOrCancelled(t *testing.T) {
	t.Parallel()
	longer := on("2026-03-02T10:00:00Z", 3*time.Hour)
	for _, c := range []struct {
		name string
		of   func(rules.Poll) rules.Observation
		want string
	}{
		{"adopts an event at the slot's time", placed(ten, later), "linked_before: adopt → OK"},
		{"adopts an event that lasts longer than the slot, which is no drift", placed(longer, later), "linked_before: adopt → OK"},
		{"adopts an event elsewhere, with the drift", placed(noon, later), "linked_before: adopt with drift → OK"},
		{"adopts an all-day event, with the drift", placed(allDay, later), "linked_before: adopt with drift → OK"},
		{"adopts an event that says no updated", placed(ten, time.Time{}), "linked_before: adopt → OK"},
		{"is cancelled when the event is gone", shown(rules.Gone, later), "deleted: cancel → CANCELLED"},
		{"is warned of a series", shown(rules.Series, later), "series: warn → OK recurring_unsupported"},
		{"is warned of an unreadable event", shown(rules.Unreadable, later), "unreadable: warn → OK unreadable_event"},
		{"is warned of an event without a time", shown(rules.Present, later), "unreadable: warn → OK unreadable_event"},
		{"ignores another account's view", elsewhere(rules.Present, otherAccount), foreign},
		{"ignores another calendar", elsewhere(rules.Gone, otherCalendar), foreign},
		{"ignores another event", elsewhere(rules.Gone, otherEvent), foreign},
		{"ignores a later generation", elsewhere(rules.Present, otherGeneration), foreign},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := linkedBefore()
			if got := decide(t, p, c.of(p), dayBefore); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// Polls that do not take place, and polls without a link, hear nothing from
// the calendar, whatever it says and whatever they show.
func TestPollWithoutAnEvent_IgnoresEveryObservation(t *testing.T) {
	t.Parallel()
	everything := func(t *testing.T, p rules.Poll, want string) {
		t.Helper()
		for _, s := range observations {
			for _, now := range []time.Time{dayBefore, allDay.EndTime().Add(25 * time.Hour), allDay.EndTime().Add(31 * 24 * time.Hour)} {
				o := s.of(p)
				o.AccountLive, o.WatchLive, o.Confirmed = true, true, true
				if got := decide(t, p, o, now); got != want {
					t.Errorf("the event %s at %s: got %s, want %s", s.name, now, got, want)
				}
			}
		}
	}
	for _, status := range []rules.Status{rules.Open, "", rules.Cancelled, rules.Archived, "UNKNOWN"} {
		for _, c := range columns {
			t.Run("status "+string(status)+" of "+c.name, func(t *testing.T) {
				t.Parallel()
				p := c.poll
				p.Status = status
				everything(t, p, "not_finalised: nothing")
			})
		}
	}
	t.Run("finalised without an event", func(t *testing.T) {
		t.Parallel()
		p := inStep()
		p.Link.Event = ""
		everything(t, p, foreign)
	})
}

func TestDecide_AllDayEvent_ComparesDatesAndFlag(t *testing.T) {
	t.Parallel()
	day := inStep()
	day.Baseline, day.Applied, day.Winning = allDay, allDay, allDay
	movedDay := rescheduled()
	movedDay.Baseline = allDay
	for _, c := range []struct {
		name string
		poll rules.Poll
		time rules.Fingerprint
		want string
	}{
		{"the same dates are no change", day, days("2026-03-02", "2026-03-03"), "in_step: nothing"},
		{"the next day is a move", day, days("2026-03-03", "2026-03-04"), "moved: reschedule → RESCHEDULED"},
		{"a day more is a move", day, days("2026-03-02", "2026-03-04"), "moved: reschedule → RESCHEDULED"},
		{"the same moments with hours are a move", day, timedDay, "moved: reschedule → RESCHEDULED"},
		{"back to the dates is a restore", movedDay, allDay, "moved_back: restore → OK"},
		{"back to the same moments with hours is none", movedDay, timedDay, "moved_again: reschedule_again → RESCHEDULED"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := decide(t, c.poll, presentAt(c.poll, c.time), dayBefore); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// The rows come in an order that matters, so each must decide something that
// no row before it does.
func TestEveryRow_DecidesSomething_AndIsDescribed(t *testing.T) {
	t.Parallel()
	decided := map[string]bool{}
	record := func(p rules.Poll, o rules.Observation, now time.Time) { decided[rules.Decide(p, o, now).Row] = true }
	closed := inStep()
	closed.Status = rules.Cancelled
	for _, p := range []rules.Poll{closed, inStep(), rescheduled(), linkedBefore(), failing(inStep(), rules.MassCancellationHeld)} {
		for _, s := range observations {
			record(p, s.of(p), dayBefore)
			record(p, s.of(p), allDay.EndTime().Add(25*time.Hour))
			record(p, s.of(p), allDay.EndTime().Add(31*24*time.Hour))
		}
	}
	for _, s := range observations {
		for _, now := range []time.Time{dayBefore, allDay.EndTime().Add(25 * time.Hour)} {
			p, o := awaiting(inStep()), s.of(inStep())
			record(p, o, now)
			o.Fresh = true
			record(p, o, now)
		}
	}
	var names []string
	for _, row := range rules.Transitions() {
		if !decided[row.Name] {
			t.Errorf("row %q never decides", row.Name)
		}
		if row.Poll == "" || row.Calendar == "" || row.Does == "" || row.Action() == "" {
			t.Errorf("row %q says too little: %+v", row.Name, row)
		}
		if slices.Contains(names, row.Name) {
			t.Errorf("two rows are called %q", row.Name)
		}
		names = append(names, row.Name)
	}
	if rows := rules.Transitions(); len(rows) > 0 {
		rows[0].Name = "changed by a caller"
		if rules.Transitions()[0].Name == "changed by a caller" {
			t.Error("a caller can change the table")
		}
	}
}

// What was applied is held against the latest `updated`, whatever is applied after.
func TestNewest_NeverGoesBack(t *testing.T) {
	t.Parallel()
	for updated, want := range map[time.Time]time.Time{earlier: applied, applied: applied, later: later, {}: applied} {
		if got := rules.Newest(applied, updated); !got.Equal(want) {
			t.Errorf("after %s was applied it is %s, want %s", updated, got, want)
		}
	}
}
