package worldtest

import (
	"fmt"
	"slices"
	"time"

	"questscheduler/internal/calendars"
	"questscheduler/internal/poll"
	"questscheduler/rules"
)

// absence is when an event was taken out of a calendar, and when it came back
// (zero: it did not).
type absence struct{ from, until time.Time }

// goneFrom records that an event is not in a calendar any more, and backIn that
// it is there again.
func (w *World) goneFrom(person, eventID string) {
	for _, key := range w.placesOf(person, eventID, false) {
		delete(w.past.arrived, key)
		w.past.absences[key] = append(w.past.absences[key], absence{from: w.Clock.Now()})
	}
}

func (w *World) backIn(person, eventID string) {
	for _, key := range w.placesOf(person, eventID, true) {
		if gone := w.past.absences[key]; len(gone) > 0 && gone[len(gone)-1].until.IsZero() {
			gone[len(gone)-1].until = w.Clock.Now()
		}
	}
}

// placesOf are the keys of a person's calendar and an event, and of the other calendars that have a
// copy of it since it was moved, and show it now, or show it no more: a copy goes and comes back with
// the organizer's.
func (w *World) placesOf(person, eventID string, live bool) (keys []string) {
	_, calendarID := calendarOf(person)
	keys = append(keys, calendarID+"/"+eventID)
	for _, name := range Calendars {
		_, other := calendarOf(name)
		if key := other + "/" + eventID; other != calendarID && w.past.moved[key] && w.EventOf(name, eventID).Live() == live {
			keys = append(keys, key)
		}
	}
	return keys
}

// syncTakes is how long a sync run may still apply an observation: until another
// sync run replaces it.
const syncTakes = 2 * time.Minute

// Confirm has the owner of a calendar give their word on the polls whose
// cancellations are held there.
func (w *World) Confirm(calendar calendars.Calendar, pollIDs []string) error {
	w.t.Helper()
	for _, entry := range w.Index() {
		if entry.CalendarID == calendar.CalendarID && slices.Contains(pollIDs, entry.PollID) {
			w.past.confirmed[entry.EventID] = true
		}
	}
	_, err := w.Watcher.Confirm(w.ctx, Person(calendar.OwnerID), calendar.Key, pollIDs, Cause)
	return err
}

// deletionProblems: nothing but an event's deletion cancels a poll for the
// calendar, whatever Google answers (invariant 7). An event that did so and
// comes back is its owner's, unless its poll follows it again.
func (w *World) deletionProblems(p poll.Poll, journal []poll.JournalEntry) (problems []string) {
	for i, entry := range journal {
		if entry.Decision == rules.Revive && w.once(entry) && p.Linked() && p.GoogleEventID == entry.EventID {
			delete(w.released, entry.EventID)
		}
		if entry.Decision != rules.Cancel || !w.once(entry) {
			continue
		}
		w.Released(entry.EventID)
		if !w.wasGone(entry) {
			problems = append(problems, fmt.Sprintf("poll %s was cancelled for event %s, which was in its calendar", p.ID, entry.EventID))
		}
		if name := w.stoodElsewhere(entry); name != "" {
			problems = append(problems,
				fmt.Sprintf("poll %s was cancelled for event %s, which was moved to the calendar of %s", p.ID, entry.EventID, name))
		}
		if i > 0 && journal[i-1].Error == rules.MassCancellationHeld && !w.past.confirmed[entry.EventID] {
			problems = append(problems, fmt.Sprintf("poll %s was held, and was cancelled without a person's word", p.ID))
		}
		if entry.EventState != "gone" || entry.Status != rules.Cancelled {
			problems = append(problems,
				fmt.Sprintf("poll %s was cancelled for an event that was observed as %s, and then was %s", p.ID, entry.EventState, entry.Status))
		}
	}
	return problems
}

// stoodElsewhere names the calendar of gm to which the event of a cancellation was
// moved long enough before that for every sync run to find it there. It is "" for
// no such calendar, or if the event was moved back since and left only a guest's
// copy there.
func (w *World) stoodElsewhere(entry poll.JournalEntry) string {
	before := entry.At.Add(-syncTakes)
	if w.skewed || entry.AccountID != w.accountOf("gm") || w.past.moved[entry.CalendarID+"/"+entry.EventID] {
		return ""
	}
	for _, name := range []string{"gm", Club} {
		_, calendarID := calendarOf(name)
		since, there := w.past.arrived[calendarID+"/"+entry.EventID]
		reached := name != Club || w.club == Owner && !w.past.owned.After(before)
		if there && calendarID != entry.CalendarID && reached && !since.After(before) {
			return name
		}
	}
	return ""
}

// wasGone reports whether the event of a cancellation was out of its calendar when
// a sync run could have observed that.
func (w *World) wasGone(entry poll.JournalEntry) bool {
	for _, name := range Calendars {
		if _, calendarID := calendarOf(name); calendarID == entry.CalendarID && !w.EventOf(name, entry.EventID).Live() {
			return true
		}
	}
	for _, gone := range w.past.absences[entry.CalendarID+"/"+entry.EventID] {
		if w.skewed || !entry.At.Before(gone.from) && (gone.until.IsZero() || entry.At.Before(gone.until.Add(syncTakes))) {
			return true
		}
	}
	return false
}
