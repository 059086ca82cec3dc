package main

import (
	"slices"
	"strings"

	"questscheduler/internal/calendars"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
	"questscheduler/notify"
)

// deletions are how events go, and come back.
var deletions = []step{
	{weight: 3, do: func(l *life) { l.event(l.delete) }},
	{weight: 2, do: func(l *life) { l.undelete() }},
	{weight: 2, do: func(l *life) {
		calendar := one(l, append([]string{worldtest.Club}, l.owners...))
		there := l.events(calendar)
		if len(there) == 0 {
			return
		}
		n := len(there)
		if l.draws.IntN(2) == 0 {
			n = 1 + l.draws.IntN(n)
		}
		l.say("%s: %d of %d events are deleted at once", calendar, n, len(there))
		for range n {
			i := l.draws.IntN(len(there))
			l.delete(there[i])
			there = append(there[:i:i], there[i+1:]...)
		}
		if l.draws.IntN(4) > 0 { // what is deleted then is in no listing of changes
			l.say("Google: the sync tokens expire")
			l.must(l.w.Google.ExpireSyncTokens())
		}
	}},
	{weight: 2, do: func(l *life) { l.event(func(e event) { l.moveAway(e) }) }},
	{weight: 1, do: func(l *life) {
		l.event(func(e event) {
			if moved, ok := l.moveAway(e); ok {
				l.move(moved, one(l, moves))
			}
		})
	}},
	{weight: 1, do: func(l *life) {
		l.event(func(e event) {
			if moved, ok := l.moveAway(e); ok {
				l.moveAway(moved)
			}
		})
	}},
	{weight: 1, do: func(l *life) {
		guest := one(l, []string{"ana", "ben", "cho"})
		for _, e := range l.w.Events(guest) {
			if !e.Organizer.Self && (!l.w.Mirroring() || !strings.Contains(e.ID, "_")) { // no occurrence of a series
				l.say("%s: removes their copy of event %s", guest, e.ID)
				l.delete(event{e, guest})
				return
			}
		}
	}},
	{weight: 3, do: func(l *life) { l.confirm() }},
}

// moveAway gives an event of gm to the other calendar of theirs; ok is false where
// that cannot be.
func (l *life) moveAway(e event) (moved event, ok bool) {
	to := map[string]string{"gm": worldtest.Club, worldtest.Club: "gm"}[e.calendar]
	if to == "" || !l.w.MoveAway(e.calendar, e.ID, to) {
		return e, false
	}
	l.say("%s: %v is moved to the calendar of %s", e.calendar, e, to)
	l.gone = append(l.gone, e)
	e.calendar = to
	return e, true
}

// delete takes an event out of a calendar.
func (l *life) delete(e event) {
	l.say("%s: %v is deleted", e.calendar, e)
	l.w.DeleteEvent(e.calendar, e.ID)
	l.gone = append(l.gone, e)
}

// undelete brings one of the events back that people deleted.
func (l *life) undelete() {
	if len(l.gone) == 0 {
		return
	}
	e := one(l, l.gone)
	l.say("%s: %v is brought back from the bin", e.calendar, e)
	if !l.w.UndeleteEvent(e.calendar, e.ID) {
		l.add("there is nothing to bring back")
	}
}

// confirm has an owner give their word on some of the cancellations that are
// held, or all.
func (l *life) confirm() {
	for _, calendar := range l.held() {
		var polls []string
		all := l.draws.IntN(2) == 0
		for _, k := range l.polls {
			if all || l.draws.IntN(2) == 0 {
				polls = append(polls, k.id)
			}
		}
		l.say("%s: confirms what is held of %s, for %d polls", calendar.OwnerID, calendar.CalendarID, len(polls))
		l.answer(l.w.Confirm(calendar, polls))
	}
}

// held are the calendars where cancellations wait for their owner's word.
func (l *life) held() (held []calendars.Calendar) {
	found, _, err := calendars.Followed(l.w.Context(), l.w.Documents, store.Paging{Limit: 0})
	l.must(err)
	for _, calendar := range found {
		for _, event := range calendar.DeferredEvents() {
			if calendar.Deferred(event).Why == calendars.DeferredHeld {
				held = append(held, calendar)
				break
			}
		}
	}
	return held
}

// notifiedOfHold reports whether a poll's owner was notified of held cancellations.
func (l *life) notifiedOfHold(p poll.Poll) bool {
	return slices.Contains(l.w.Notices(p.CreatorID), notify.NoticeHeld)
}
