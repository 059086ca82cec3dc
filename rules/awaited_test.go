package rules_test

import (
	"testing"
	"time"

	"questscheduler/rules"
)

// awaiting is a poll that the calendar cancelled the day before.
func awaiting(p rules.Poll) rules.Poll {
	p.Awaited, p.AwaitedUntil = p.Link, dayBefore.Add(rules.AwaitFor)
	p.Status, p.State, p.Link.Event = rules.Cancelled, rules.StateCancelled, ""
	return p
}

// restoredByHand is one that the web app finalised again while its event is gone.
func restoredByHand(p rules.Poll) rules.Poll {
	p = awaiting(p)
	p.Status, p.State = rules.Finalized, rules.StateNone
	return p
}

func TestDecide_AwaitedEvent_RevivesThePollOnlyWhenFetched(t *testing.T) {
	t.Parallel()
	neverAdopted := awaiting(linkedBefore())
	decided := awaiting(inStep())
	decided.Awaited, decided.AwaitedUntil = rules.Link{}, time.Time{}
	archived := awaiting(inStep())
	archived.Status = rules.Archived
	const day = 24 * time.Hour
	for _, c := range []struct {
		name  string
		poll  rules.Poll
		of    func(rules.Poll) rules.Observation
		fresh bool
		now   time.Time
		want  string
		then  string
	}{
		{"is back", awaiting(inStep()), placed(ten, later), true, dayBefore, "revived: revive → OK", "in_step: nothing"},
		{"is back, by a page", awaiting(inStep()), placed(ten, later), false, dayBefore, "maybe_back: nothing", ""},
		{"is back elsewhere", awaiting(inStep()), placed(noon, later), true, dayBefore, "revived: revive → RESCHEDULED", "moved: reschedule"},
		{
			"is back where it had been moved to", awaiting(rescheduled()), placed(noon, later), true, dayBefore,
			"revived: revive → RESCHEDULED", "applied_already: nothing",
		},
		{
			"had been moved, and is back at the baseline", awaiting(rescheduled()), placed(ten, later), true, dayBefore,
			"revived: revive → OK", "moved_back: restore",
		},
		{
			"had been moved, and is back at a third time", awaiting(rescheduled()), placed(three, later), true, dayBefore,
			"revived: revive → RESCHEDULED", "moved_again: reschedule_again",
		},
		{
			"is back as a series", awaiting(inStep()), shown(rules.Series, later), true, dayBefore,
			"revived: revive → OK recurring_unsupported", "series: warn",
		},
		{"was never adopted, and is back", neverAdopted, placed(ten, later), true, dayBefore, "revived: revive → OK", "linked_before: adopt"},
		{"is not readable", awaiting(inStep()), shown(rules.Unreadable, later), true, dayBefore, "maybe_back: nothing", ""},
		{"is still gone", awaiting(inStep()), shown(rules.Gone, later), true, dayBefore, "still_gone: nothing", ""},
		{"is back by an older fetch", awaiting(inStep()), placed(ten, earlier), true, dayBefore, "not_finalised: nothing", ""},
		{
			"is back in another calendar", awaiting(inStep()), elsewhere(rules.Present, otherCalendar), true, dayBefore,
			"not_finalised: nothing", "",
		},
		{
			"is back under another generation", awaiting(inStep()), elsewhere(rules.Present, otherGeneration), true, dayBefore,
			"not_finalised: nothing", "",
		},
		{"is back after a person decided", decided, placed(ten, later), true, dayBefore, "not_finalised: nothing", ""},
		{"is back while the poll is archived", archived, placed(ten, later), true, dayBefore, "not_finalised: nothing", ""},
		{
			"is back when the session is past", awaiting(inStep()), placed(ten, later), true, ten.EndTime().Add(day + time.Second),
			"back_when_past: record", "",
		},
		{
			"is back at the end of its time", awaiting(inStep()), placed(on("2026-05-02T10:00:00Z", time.Hour), later), true,
			dayBefore.Add(rules.AwaitFor), "revived: revive → RESCHEDULED", "moved: reschedule",
		},
		{
			"is back after its time", awaiting(inStep()), placed(on("2026-05-02T10:00:00Z", time.Hour), later), true,
			dayBefore.Add(rules.AwaitFor + 1), "not_finalised: nothing", "",
		},
		{
			"is gone, of a poll that a person restored", restoredByHand(inStep()), shown(rules.Gone, later), true, dayBefore,
			"still_gone: nothing", "",
		},
		{
			"is back, of a poll that a person restored", restoredByHand(inStep()), placed(noon, later), true, dayBefore,
			"revived: revive → RESCHEDULED", "moved: reschedule",
		},
	} {
		t.Run("an event that "+c.name, func(t *testing.T) {
			t.Parallel()
			before := c.poll
			before.Link = before.Awaited // the link that the observations are of
			if before.Link.Event == "" {
				before.Link = link
			}
			o := c.of(before)
			o.Fresh = c.fresh
			if got := decide(t, c.poll, o, c.now); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			d, then := rules.Decide(c.poll, o, c.now), ""
			if d.Then != "" {
				then = d.ThenRow + ": " + string(d.Then)
			}
			if then != c.then || d.Refetch != (d.Row == "maybe_back" && !c.fresh) {
				t.Errorf("then %q, want %q; to be fetched: %t", then, c.then, d.Refetch)
			}
		})
	}
}

func TestApply_CancelOfAnAwaitingPoll_IsADecision(t *testing.T) {
	t.Parallel()
	change, err := rules.Apply(awaiting(inStep()), rules.CommandCancel)
	if err != nil || change.Nothing || !change.Unlinks || !change.Supersedes || change.To != rules.Cancelled {
		t.Errorf("got %+v, %v", change, err)
	}
}
