package rules_test

import (
	"strings"
	"testing"
	"time"

	"questscheduler/rules"
)

// Whatever state the event has, a session that is over is left unchanged:
// what comes earlier in the table (another link, an older observation) stays
// nothing, all else goes to the journal and is forgotten after 30 days. A hold that a
// person confirms is below.
func TestPastSession_AnyObservation_LeavesItUnchanged(t *testing.T) {
	t.Parallel()
	lastEnd := allDay.EndTime() // of all the times in the observations
	for _, age := range []struct {
		name string
		now  time.Time
		want string
	}{
		{"a day past", lastEnd.Add(25 * time.Hour), "past: record"},
		{"a month past", lastEnd.Add(31 * 24 * time.Hour), "long_past: forget"},
	} {
		for _, c := range columns {
			for _, s := range observations {
				t.Run(age.name+", "+c.name+" whose event "+s.name, func(t *testing.T) {
					t.Parallel()
					want := age.want
					if s.always != "" {
						want = s.always
					}
					o := s.of(c.poll)
					o.AccountLive, o.WatchLive, o.Confirmed = true, true, c.poll.Error != rules.MassCancellationHeld
					if got := decide(t, c.poll, o, age.now); got != want {
						t.Errorf("got  %s\nwant %s", got, want)
					}
				})
			}
		}
	}
}

func TestPastSession_LinkedBefore_IsOnlyRecorded(t *testing.T) {
	t.Parallel()
	p := linkedBefore()
	for _, s := range observations {
		if s.always == foreign {
			continue
		}
		if got := decide(t, p, s.of(p), allDay.EndTime().Add(25*time.Hour)); got != "past: record" {
			t.Errorf("the event %s: got %s, want past: record", s.name, got)
		}
	}
}

// Both the event and the slot must have ended, and over the time ago: at the
// very moment the session still counts.
func TestDecide_SessionAroundItsEnd_IsPastOnTime(t *testing.T) {
	t.Parallel()
	slotAt := func(p rules.Poll, winning rules.Fingerprint) rules.Poll {
		p.Winning = winning
		return p
	}
	neverApplied := inStep()
	neverApplied.Applied, neverApplied.AppliedUpdated = rules.Fingerprint{}, time.Time{}
	putElsewhere := slotAt(neverApplied, ten)
	putElsewhere.Baseline = allDay
	observedLater := linkedBefore()
	observedLater.Applied = noon
	applied := rescheduled() // baseline ten, applied and winning noon

	held := failing(applied, rules.MassCancellationHeld)
	confirmedGone := func(p rules.Poll) rules.Observation {
		observed := shown(rules.Gone, later)(p)
		observed.Confirmed = true
		return observed
	}

	const ms = time.Millisecond
	const past, forgotten = 24 * time.Hour, 30 * 24 * time.Hour
	for _, c := range []struct {
		name string
		poll rules.Poll
		of   func(rules.Poll) rules.Observation
		now  time.Time
		want string
	}{
		{"24 h after the end it is not", inStep(), placed(noon, later), noon.EndTime().Add(past), "moved: reschedule → RESCHEDULED"},
		{"a millisecond later it is", inStep(), placed(noon, later), noon.EndTime().Add(past + ms), "past: record"},
		{"30 days after the end it is not forgotten", inStep(), placed(noon, later), noon.EndTime().Add(forgotten), "past: record"},
		{"a millisecond later it is forgotten", inStep(), placed(noon, later), noon.EndTime().Add(forgotten + ms), "long_past: forget"},
		{
			"an all-day event ends with its last day", inStep(), placed(allDay, later), allDay.EndTime().Add(past),
			"moved: reschedule → RESCHEDULED",
		},
		{"and is past a day after that", inStep(), placed(allDay, later), allDay.EndTime().Add(past + ms), "past: record"},

		{
			"not while the slot is to come, though the event was moved into the past",
			slotAt(inStep(), days("2026-05-01", "2026-05-02")), placed(noon, later), noon.EndTime().Add(forgotten + ms),
			"moved: reschedule → RESCHEDULED",
		},
		{
			"not when the event was moved out of the past", inStep(), placed(days("2026-05-01", "2026-05-02"), later),
			noon.EndTime().Add(forgotten + ms), "moved: reschedule → RESCHEDULED",
		},
		{
			"without a winning slot the applied time tells", slotAt(inStep(), rules.Fingerprint{}), placed(noon, later),
			noon.EndTime().Add(forgotten + ms), "long_past: forget",
		},
		{
			"and a poll without any time is never past", slotAt(linkedBefore(), rules.Fingerprint{}), placed(noon, later),
			noon.EndTime().Add(forgotten + ms), "linked_before: adopt with drift → OK",
		},

		{
			"a gone event ended where it was observed last", applied, shown(rules.Gone, later), noon.EndTime().Add(past),
			"deleted: cancel → CANCELLED",
		},
		{"and is past by that time", applied, shown(rules.Gone, later), noon.EndTime().Add(past + ms), "past: record"},
		{
			"a series ended where the event was observed last", applied, shown(rules.Series, later), noon.EndTime().Add(past),
			"series: warn → RESCHEDULED recurring_unsupported",
		},
		{
			"held and gone, it waits for a person though it is past", held, shown(rules.Gone, later), noon.EndTime().Add(past + ms), "past: record",
		},
		{
			"and what the person confirmed is no error any more", held, confirmedGone, noon.EndTime().Add(past + ms), "past: clear_error → RESCHEDULED",
		},
		{"a series is past by that time", applied, shown(rules.Series, later), noon.EndTime().Add(past + ms), "past: record"},
		{
			"an unreadable event is past by where it was observed last", applied, shown(rules.Unreadable, later),
			noon.EndTime().Add(past + ms), "past: record",
		},
		{
			"an event without a time is past by where it was observed last", applied, shown(rules.Present, later),
			noon.EndTime().Add(past + ms), "past: record",
		},
		{
			"a gone event never observed ended where it was put", putElsewhere, shown(rules.Gone, later),
			allDay.EndTime().Add(past), "deleted: cancel → CANCELLED",
		},
		{"and is past by where it was put", putElsewhere, shown(rules.Gone, later), allDay.EndTime().Add(past + ms), "past: record"},
		{
			"a gone event of a poll linked before is cancelled while the slot counts", linkedBefore(), shown(rules.Gone, later),
			ten.EndTime().Add(past), "deleted: cancel → CANCELLED",
		},
		{"and is past with the slot", linkedBefore(), shown(rules.Gone, later), ten.EndTime().Add(past + ms), "past: record"},
		{
			"a gone event that was applied ends there where it is the latest", observedLater, shown(rules.Gone, later),
			noon.EndTime().Add(past), "deleted: cancel → CANCELLED",
		},
		{"and is past a millisecond after", observedLater, shown(rules.Gone, later), noon.EndTime().Add(past + ms), "past: record"},
		{
			"a gone event of a poll without any time is cancelled", slotAt(linkedBefore(), rules.Fingerprint{}),
			shown(rules.Gone, later), noon.EndTime().Add(forgotten + ms), "deleted: cancel → CANCELLED",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := decide(t, c.poll, c.of(c.poll), c.now); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// Where the calendar moved the session, the time that it gave ends it, unless it
// was over already when it was applied.
func TestDecide_SessionTheCalendarMoved_IsPastByItsOwnTimeOnly(t *testing.T) {
	t.Parallel()
	lastYear := on("2025-03-02T10:00:00Z", time.Hour)
	nextYear := on("2027-03-02T10:00:00Z", time.Hour)
	dayLastYear := days("2025-03-02", "2025-03-03")
	movedTo := func(when rules.Fingerprint, moved time.Time) rules.Poll {
		p := rescheduled()
		p.Baseline, p.Original, p.Applied, p.Winning, p.MovedAt = ten, ten, when, when, moved
		return p
	}
	longSlot := movedTo(lastYear, dayBefore)
	longSlot.Original = on("2026-03-02T10:00:00Z", 10*24*time.Hour)
	finalisedLate := inStep()
	finalisedLate.FinalizedAt = ten.EndTime().AddDate(0, 2, 0)
	stillOn := rescheduled()
	stillOn.MovedAt = noon.StartTime() // it was under way

	april, atMarch := on("2026-04-10T10:00:00Z", time.Hour), at("2026-03-15T09:00:00Z")
	forwardThenPast := movedTo(lastYear, atMarch)
	forwardThenPast.Timely = april

	goneAt := func(when rules.Fingerprint, updated time.Time) func(rules.Poll) rules.Observation {
		return func(p rules.Poll) rules.Observation {
			o := shown(rules.Gone, updated)(p)
			o.Fingerprint = when
			return o
		}
	}

	const day = 24 * time.Hour
	for _, c := range []struct {
		name string
		poll rules.Poll
		of   func(rules.Poll) rules.Observation
		now  time.Time
		want string
	}{
		{"dragged to last year, and back", movedTo(lastYear, dayBefore), placed(ten, later), dayBefore, "moved_back: restore → OK"},
		{
			"dragged to last year, and observed again", movedTo(lastYear, dayBefore), placed(lastYear, later), dayBefore,
			"applied_already: nothing",
		},
		{
			"dragged to last year, and on", movedTo(lastYear, dayBefore), placed(nextYear, later), dayBefore,
			"moved_again: reschedule_again → RESCHEDULED",
		},
		{"dragged to last year, and deleted", movedTo(lastYear, dayBefore), shown(rules.Gone, later), dayBefore, "deleted: cancel → CANCELLED"},
		{"dragged to a day of last year, and back", movedTo(dayLastYear, dayBefore), placed(ten, later), dayBefore, "moved_back: restore → OK"},
		{
			"dragged to the moment that is over now", movedTo(lastYear, lastYear.EndTime()), placed(ten, later), dayBefore,
			"moved_back: restore → OK",
		},
		{
			"dragged to last year, it is past with the baseline", movedTo(lastYear, dayBefore),
			placed(ten, ten.EndTime().Add(2*day)), ten.EndTime().Add(2 * day), "past: record",
		},
		{"but not while the slot from before lasts", longSlot, placed(ten, later), ten.EndTime().Add(2 * day), "moved_back: restore → OK"},
		{
			"put off, then dragged to last year, and back", forwardThenPast, placed(april, atMarch), atMarch,
			"moved_again: reschedule_again → RESCHEDULED",
		},
		{"put off, then dragged to last year, and deleted", forwardThenPast, shown(rules.Gone, atMarch), atMarch, "deleted: cancel → CANCELLED"},
		{
			"put off, dragged to last year, and over by the time that was put off to", forwardThenPast,
			placed(ten, april.EndTime().Add(2*day)), april.EndTime().Add(2 * day), "past: record",
		},
		{"moved forward and held", movedTo(lastYear, lastYear.StartTime().Add(-day)), placed(ten, dayBefore), dayBefore, "long_past: forget"},
		{
			"moved while it was under way, and held", stillOn, placed(three, noon.EndTime().Add(2*day)),
			noon.EndTime().Add(2 * day), "past: record",
		},
		{
			"finalised when it was over already", finalisedLate, placed(noon, later), finalisedLate.FinalizedAt.Add(day),
			"moved: reschedule → RESCHEDULED",
		},
		{
			"and a day after that", finalisedLate, placed(noon, finalisedLate.FinalizedAt.Add(2*day)),
			finalisedLate.FinalizedAt.Add(2 * day), "past: record",
		},
		{
			"and a month after that", finalisedLate, placed(noon, finalisedLate.FinalizedAt.Add(32*day)),
			finalisedLate.FinalizedAt.Add(31 * day), "long_past: forget",
		},
		{
			"put off in time, which an outage hid", inStep(), placed(nextYear, ten.EndTime()), ten.EndTime().Add(5 * day),
			"moved: reschedule → RESCHEDULED",
		},
		{"put off, which Google does not date", inStep(), placed(nextYear, time.Time{}), ten.EndTime().Add(5 * day), "past: record"},
		{
			"put off before this program first observed it", linkedBefore(), placed(nextYear, time.Time{}),
			ten.EndTime().Add(5 * day), "linked_before: adopt with drift → OK",
		},
		{
			"deleted in time, and listed with a time to come", inStep(), goneAt(nextYear, ten.EndTime()),
			ten.EndTime().Add(5 * day), "past: record",
		},
		{"put off when it was past", inStep(), placed(nextYear, ten.EndTime().Add(2*day)), ten.EndTime().Add(5 * day), "past: record"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := decide(t, c.poll, c.of(c.poll), c.now); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// A person's command counts however long ago the session ended.
func TestDecide_CommandAboutAPastSession_Counts(t *testing.T) {
	t.Parallel()
	p := rescheduled()
	p.MovedAt = dayBefore
	for _, days := range []int{2, 40} {
		o := presentAt(p, p.Baseline)
		o.Asked = true
		if got := decide(t, p, o, noon.EndTime().AddDate(0, 0, days)); got != "moved_back: restore → OK" {
			t.Errorf("%d days after: %s", days, got)
		}
	}
}

func TestPastSession_WithAnError_KeepsIt(t *testing.T) {
	t.Parallel()
	for _, code := range everyCode {
		p := failing(inStep(), code)
		o := presentAt(p, ten)
		o.AccountLive, o.WatchLive, o.Confirmed = true, true, true
		got := decide(t, p, o, ten.EndTime().Add(25*time.Hour))
		if !strings.HasPrefix(got, "past: ") {
			t.Errorf("%s: got %s, want a past session", code, got)
		}
	}
}
