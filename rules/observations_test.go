package rules_test

import (
	"time"

	"questscheduler/rules"
)

// observationCase is one observation of an event. If a row that ignores the sync state
// decides it, always names the decision.
type observationCase struct {
	name   string
	of     func(p rules.Poll) rules.Observation
	always string
}

// placed is the event there at a time, with an `updated`.
func placed(when rules.Fingerprint, updated time.Time) func(rules.Poll) rules.Observation {
	return func(p rules.Poll) rules.Observation {
		o := presentAt(p, when)
		o.Updated = updated
		return o
	}
}

// shown is the event without a time, with an `updated`.
func shown(state rules.EventState, updated time.Time) func(rules.Poll) rules.Observation {
	return func(p rules.Poll) rules.Observation {
		o := observation(p, state)
		o.Updated = updated
		return o
	}
}

// elsewhere returns an observation of something else than the poll's event.
func elsewhere(state rules.EventState, change func(l *rules.Link)) func(rules.Poll) rules.Observation {
	return func(p rules.Poll) rules.Observation {
		o := observation(p, state)
		if state == rules.Present {
			o.Fingerprint = three
		}
		change(&o.Link)
		return o
	}
}

func otherAccount(l *rules.Link)    { l.Account = "acc_ana" }
func otherCalendar(l *rules.Link)   { l.Calendar = "ana@example.com" }
func otherEvent(l *rules.Link)      { l.Event = "qs2" }
func otherGeneration(l *rules.Link) { l.Generation++ }

const (
	old     = "older: nothing"
	foreign = "another_link: nothing"
)

var observations = []observationCase{
	{name: "is at the baseline", of: placed(ten, later)},
	{name: "is at the baseline, said twice", of: placed(ten, applied)},
	{name: "is at the baseline in another offset", of: placed(on("2026-03-02T18:30:00+08:30", time.Hour), later)},
	{name: "is at noon", of: placed(noon, later)},
	{name: "is at noon, said twice", of: placed(noon, applied)},
	{name: "is at three", of: placed(three, later)},
	{name: "is at three by an equal updated", of: placed(three, applied)},
	{name: "starts with the baseline and lasts longer", of: placed(on("2026-03-02T10:00:00Z", 2*time.Hour), later)},
	{name: "takes all day", of: placed(allDay, later)},
	{name: "is gone", of: shown(rules.Gone, later)},
	{name: "is gone and was found elsewhere", of: func(p rules.Poll) rules.Observation {
		o := observation(p, rules.Gone)
		o.Elsewhere = true
		return o
	}},
	{name: "is gone by an equal updated", of: shown(rules.Gone, applied)},
	{name: "is gone by an older updated", of: shown(rules.Gone, earlier)},
	{name: "is gone and says no updated", of: shown(rules.Gone, time.Time{})},
	{name: "became a series", of: shown(rules.Series, later)},
	{name: "is unreadable", of: shown(rules.Unreadable, later)},
	{name: "is there without a time", of: shown(rules.Present, later)},
	{name: "has an unknown state", of: shown(0, later)},

	{name: "is at the baseline by an older updated", of: placed(ten, earlier), always: old},
	{name: "is at noon by an older updated", of: placed(noon, earlier), always: old},
	{name: "is at three by an older updated", of: placed(three, earlier), always: old},
	{name: "is at three and says no updated", of: placed(three, time.Time{})},
	{name: "became a series by an older updated", of: shown(rules.Series, earlier), always: old},
	{name: "is unreadable by an older updated", of: shown(rules.Unreadable, earlier), always: old},

	{name: "moved in another account's view", of: elsewhere(rules.Present, otherAccount), always: foreign},
	{name: "moved in another calendar", of: elsewhere(rules.Present, otherCalendar), always: foreign},
	{name: "is another event, which moved", of: elsewhere(rules.Present, otherEvent), always: foreign},
	{name: "moved in another generation", of: elsewhere(rules.Present, otherGeneration), always: foreign},
	{name: "is gone from another account's view", of: elsewhere(rules.Gone, otherAccount), always: foreign},
	{name: "is gone from another calendar", of: elsewhere(rules.Gone, otherCalendar), always: foreign},
	{name: "is another event, which is gone", of: elsewhere(rules.Gone, otherEvent), always: foreign},
	{name: "is gone in another generation", of: elsewhere(rules.Gone, otherGeneration), always: foreign},
	{name: "became a series in another calendar", of: elsewhere(rules.Series, otherCalendar), always: foreign},
	{name: "is unreadable in another calendar", of: elsewhere(rules.Unreadable, otherCalendar), always: foreign},
}
