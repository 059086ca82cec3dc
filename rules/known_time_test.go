package rules_test

import (
	"testing"

	"questscheduler/rules"
)

func TestKnownTime_IsTheAnnouncedTimeOrTheBaseline(t *testing.T) {
	t.Parallel()
	// poll is a finalisation for ten o'clock, at another time since.
	poll := func(generation int64, at rules.Fingerprint) rules.AnnouncedState {
		return rules.AnnouncedState{Status: rules.Finalized, Generation: generation, At: at, Baseline: ten, Rescheduled: at != ten}
	}
	cancelled := func(s rules.AnnouncedState) rules.AnnouncedState {
		s.Status, s.Rescheduled = rules.Cancelled, false
		return s
	}
	accepted := func(s rules.AnnouncedState) rules.AnnouncedState {
		s.Baseline, s.Rescheduled = s.At, false
		return s
	}
	for _, c := range []struct {
		name               string
		announced, current rules.AnnouncedState
		want               rules.Fingerprint
	}{
		{"moved before the first announcement", unannounced, poll(3, noon), ten},
		{"made all day before the first announcement", unannounced, poll(3, allDay), ten},
		{"moved", poll(3, ten), poll(3, noon), ten},
		{"moved again", poll(3, noon), poll(3, three), noon},
		{"moved again, from all day", poll(3, allDay), poll(3, three), allDay},
		{"moved away from a time that the creator accepted", accepted(poll(3, noon)), poll(3, three), noon},
		{"accepted before it was announced", poll(3, ten), accepted(poll(3, noon)), ten},
		{"restored", poll(3, noon), poll(3, ten), noon},
		{"the same time", poll(3, noon), poll(3, noon), noon},
		{"cancelled", poll(3, ten), cancelled(poll(3, ten)), ten},
		{"moved and cancelled before the move was announced", poll(3, ten), cancelled(poll(3, noon)), ten},
		{"moved and cancelled before the first announcement", unannounced, cancelled(poll(3, noon)), ten},
		{"on again at another time", cancelled(poll(3, ten)), poll(3, noon), ten},
		{"finalised again and moved", poll(3, three), poll(5, noon), ten},
		{"the announced state has no time", rules.AnnouncedState{Status: rules.Open, Generation: 3}, poll(3, noon), ten},
		{"neither state has a time", unannounced, rules.AnnouncedState{Status: rules.Cancelled, Generation: 3}, rules.Fingerprint{}},
		{"the time is gone that was never announced", unannounced, poll(3, rules.Fingerprint{}), rules.Fingerprint{}},
		{"the time is gone that was announced", poll(3, noon), poll(3, rules.Fingerprint{}), noon},
		{"no baseline is stored", unannounced, rules.AnnouncedState{Status: rules.Finalized, Generation: 3, At: noon}, rules.Fingerprint{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := rules.KnownTime(c.announced, c.current); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}
