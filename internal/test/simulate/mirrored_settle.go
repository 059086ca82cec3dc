package main

import (
	"slices"
	"time"
)

// mostWaits bounds the rests of mirroring.
const mostWaits = 8

// settleMirrors has mirroring come to rest, and checks it: first as it is, then after the
// daily reconciliation, which alone finds events that no document names.
func (l *life) settleMirrors() {
	if len(l.mirrored.names) == 0 {
		return
	}
	l.restMirrors()
	l.restSecondTool()
	l.problems = append(l.problems, l.w.MirrorDisagreements(false, l.mirrored.touched)...)
	l.say("the mirrors are reconciled")
	l.must(l.w.ReconcileMirrors())
	l.w.RunDue()
	l.restMirrors()
	for _, problem := range l.w.MirrorDisagreements(true, l.mirrored.touched) {
		if !slices.Contains(l.problems, problem) {
			l.problems = append(l.problems, problem)
		}
	}
	before := l.writes()
	l.must(l.w.ReconcileMirrors())
	l.w.Sweep()
	l.w.Run(2 * time.Minute)
	if len(l.w.Wakes.Due(l.w.Clock.Now().AddDate(0, 0, 1))) > 0 { // a sync of a calendar that was deleted
		l.w.Run(l.patience())
	}
	if after := l.writes(); after != before && len(l.problems) == 0 {
		l.Errorf("mirroring that came to rest wrote %d more times", after-before)
	}
}

// writes is how often the program wrote events, other than their guests.
func (l *life) writes() int {
	return l.w.Calls("events.insert") + l.w.Calls("events.patch") + l.w.Calls("events.delete") +
		l.w.Calls("calendars.insert") - l.w.GuestCalls()
}

// restMirrors waits for what was put off, and for listings that must confirm others.
func (l *life) restMirrors() {
	for range mostWaits {
		if !l.w.AwaitMirrors() {
			return
		}
		if len(l.w.HeldListings()) > 0 {
			l.w.Sweep()
			l.w.Run(2 * time.Minute)
		}
	}
}
