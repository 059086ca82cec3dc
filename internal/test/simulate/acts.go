package main

import (
	"fmt"
	"time"

	"questscheduler/internal/test/worldtest"
	"questscheduler/mirrors/plan"
)

// The times that events are moved to, apart from the slots: late is months
// later, beyond a change of the clocks; lastYear is a slip of the hand.
var (
	eight    = worldtest.Times("2026-03-10T08:00:00Z", time.Hour)
	late     = worldtest.Times("2026-07-10T10:00:00+02:00", time.Hour)
	lastYear = worldtest.Times("2025-03-10T10:00:00Z", 4*time.Hour)
	moves    = []worldtest.Slot{worldtest.Noon, worldtest.Three, eight, late, lastYear}
)

// acts are what people do in their calendars.
var acts = []step{
	{weight: 10, always: true, do: func(l *life) { l.event(func(e event) { l.move(e, one(l, moves)) }) }},
	{weight: 4, do: func(l *life) { l.event(l.moveBack) }},
	{weight: 1, do: func(l *life) { l.event(l.slip) }},
	{weight: 1, do: func(l *life) {
		l.event(func(e event) {
			for range 2 + l.draws.IntN(5) {
				l.move(e, one(l, append(moves, worldtest.Ten)))
			}
		})
	}},
	{weight: 2, do: func(l *life) {
		l.event(func(e event) {
			if start, err := time.Parse(time.RFC3339, e.Start.DateTime); err == nil {
				l.move(e, worldtest.Slot{Start: start, End: start.Add(time.Duration(1+l.draws.IntN(5)) * time.Hour)})
			}
		})
	}},
	{weight: 1, do: func(l *life) {
		l.event(func(e event) {
			start, startErr := time.Parse(time.RFC3339, e.Start.DateTime)
			end, endErr := time.Parse(time.RFC3339, e.End.DateTime)
			if startErr == nil && endErr == nil {
				zone := time.FixedZone("", -7*3600)
				l.move(e, worldtest.Slot{Start: start.In(zone), End: end.In(zone)})
			}
		})
	}},
	{weight: 1, do: func(l *life) {
		l.event(func(e event) {
			l.say("%s: %v becomes all-day", e.calendar, e)
			l.w.PatchEvent(e.calendar, e.ID, map[string]any{
				"start": map[string]any{"date": "2026-03-10", "dateTime": nil}, "end": map[string]any{"date": "2026-03-11", "dateTime": nil},
			})
		})
	}},
	{weight: 1, do: func(l *life) {
		l.event(func(e event) {
			l.say("%s: %v becomes a series", e.calendar, e)
			l.w.PatchEvent(e.calendar, e.ID, map[string]any{"recurrence": []string{"RRULE:FREQ=WEEKLY"}})
		})
	}},
	{weight: 1, do: func(l *life) {
		l.event(func(e event) {
			l.say("%s: %v becomes single", e.calendar, e)
			l.w.PatchEvent(e.calendar, e.ID, map[string]any{"recurrence": nil})
		})
	}},
	{weight: 1, do: func(l *life) {
		l.event(func(e event) {
			l.say("%s: %v gets another title", e.calendar, e)
			l.w.PatchEvent(e.calendar, e.ID, map[string]any{"summary": "x"})
		})
	}},
	{weight: 1, do: func(l *life) {
		l.say("a burst of changes")
		for range 3 + l.draws.IntN(6) {
			l.event(func(e event) {
				if l.draws.IntN(2) == 0 {
					l.w.PatchEvent(e.calendar, e.ID, map[string]any{"description": fmt.Sprint("version ", l.draws.IntN(100))})
				} else {
					l.move(e, one(l, moves))
				}
			})
		}
	}},
	{weight: 1, do: func(l *life) {
		calendar := one(l, []string{"gm", worldtest.Club})
		n := 1 + l.draws.IntN(8)
		l.say("%s: %d events that are none of ours", calendar, n)
		for range n {
			l.w.InsertEvent(calendar, map[string]any{
				"summary": "Dentist", "start": map[string]any{"dateTime": "2026-03-11T09:00:00Z"},
				"end": map[string]any{"dateTime": "2026-03-11T10:00:00Z"},
			})
		}
	}},
}

// event is one that its owner may change, with whose calendar it is in.
type event struct {
	worldtest.Event
	calendar string
}

// String names the event.
func (e event) String() string { return "event " + e.ID }

// event acts on one of the events of polls that are there.
func (l *life) event(do func(e event)) {
	if there := l.events(append([]string{worldtest.Club}, l.owners...)...); len(there) > 0 {
		do(one(l, there))
	}
}

// events are the events of polls in some calendars, guests' copies left out:
// those that we made, and those that a poll names.
func (l *life) events(calendars ...string) (there []event) {
	named := map[string]bool{}
	for _, p := range l.w.Polls() {
		named[p.GoogleEventID] = true
	}
	for _, calendar := range calendars {
		for _, e := range l.w.Events(calendar) {
			if e.Organizer.Self && e.Marks.Private[plan.MarkMirror] == "" && (len(e.Marks.Private) > 0 || named[e.ID]) {
				there = append(there, event{e, calendar})
			}
		}
	}
	return there
}

// moveBack gives an event the time that its poll has as its original one.
func (l *life) moveBack(e event) {
	for _, p := range l.w.Polls() {
		if baseline := p.Sync.Baseline; p.GoogleEventID == e.ID && !baseline.IsZero() && !baseline.AllDay {
			l.move(e, worldtest.Slot{Start: baseline.StartTime(), End: baseline.EndTime()})
			return
		}
	}
}

// slip drags an event to last year, where it stays for over a day before somebody
// sees that and drags it on.
func (l *life) slip(e event) {
	l.move(e, lastYear)
	l.w.Run(time.Minute)
	if day := 26 * time.Hour; l.w.Clock.Now().Add(day).Before(worldtest.Start.AddDate(0, 0, 5)) { // sessions stay ahead
		l.say("%v pass in which nothing runs", day)
		l.w.Skip(day)
	}
	if l.w.EventOf(e.calendar, e.ID).Live() {
		l.move(e, one(l, append(moves, worldtest.Ten)))
	}
}

// move gives an event another time.
func (l *life) move(e event, to worldtest.Slot) {
	l.say("%s: %v moves to %s", e.calendar, e, fmt.Sprint(to.Start.Format("Jan 02 15:04Z07:00"), " to ", to.End.Format("Jan 02 15:04")))
	l.w.MoveEvent(e.calendar, e.ID, to)
}
