package main

import (
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
)

// finaliseElsewhere finalises a poll by the web app's own functions, as before
// this program: with an event whose id Google makes, and without a word to us.
func (l *life) finaliseElsewhere() {
	k, p := l.anyPoll()
	if p.ID == "" || p.Status == rules.Archived {
		return
	}
	calendar, named := k.owner, one(l, []any{worldtest.Person(k.owner).Email, "primary", nil})
	if k.owner == "gm" && l.draws.IntN(4) == 0 {
		calendar, named = worldtest.Club, worldtest.ClubCalendar
	}
	slot := poll.DecodeSlot(l.w.Document(poll.SlotPath(k.id, one(l, k.slots))))
	if slot.Start.IsZero() { // edited away
		return
	}
	start := slot.Start
	if l.draws.IntN(4) == 0 { // somebody has moved it since
		start = start.Add(90 * time.Minute)
	}
	made := l.w.InsertEvent(calendar, map[string]any{
		"summary": p.Title, "start": map[string]any{"dateTime": start.Format(time.RFC3339)},
		"end": map[string]any{"dateTime": start.Add(slot.End.Sub(slot.Start)).Format(time.RFC3339)},
	})
	l.say("the web app's own functions: poll %d is finalised, event %s in the calendar of %s", l.number(k), made.ID, calendar)
	l.leaveElsewhere(p)
	at := l.w.Clock.Now()
	l.w.Edit(poll.Path(k.id), poll.Set("status", string(rules.Finalized)), poll.Set("winningSlotId", slot.ID),
		poll.Set("googleEventId", made.ID), poll.Set("googleCalendarId", named), poll.Set("finalizedAtMs", at.UnixMilli()),
		store.Update{Path: store.Field("finalizedSlotPriorityAtMs", slot.ID), Value: at.UnixMilli()})
	l.noticed(k)
}

// leaveElsewhere deletes the event that a poll had before, as the web app's own
// functions do, or leaves it in the calendar.
func (l *life) leaveElsewhere(p poll.Poll) {
	if p.GoogleEventID == "" {
		return
	}
	for _, e := range l.events(append([]string{worldtest.Club}, l.owners...)...) {
		if e.ID != p.GoogleEventID {
			continue
		}
		if l.draws.IntN(3) > 0 {
			l.delete(e)
		} else {
			l.w.Released(e.ID)
		}
	}
}
