package transition

import (
	"slices"
	"time"

	"questscheduler/internal/calendars"
	"questscheduler/internal/poll"
	"questscheduler/rules"
)

const (
	// InsertGrace is how long a run holds the insert intent that it claimed.
	InsertGrace = 30 * time.Second
	// ClockSkew is how far the clocks of two instances may be apart: 5 minutes either way.
	ClockSkew = 10 * time.Minute
)

// supersede turns every insert under way into a deletion that is due at once. A request
// may have made the event already, or may still make it.
func (s *Step) supersede() {
	s.State.Intents = slices.Clone(s.State.Intents)
	for i, intent := range s.State.Intents {
		if intent.Kind == poll.IntentInsert {
			s.State.Intents[i] = AsDelete(intent, s.Now)
			s.Outcome.Intents = append(s.Outcome.Intents, s.State.Intents[i])
		}
	}
}

// AsDelete turns an insert intent into the deletion of its event. Another process may
// still run the insert: it claimed the intent for InsertGrace, by its own clock, and may
// make the event until then.
func AsDelete(intent poll.Intent, now time.Time) poll.Intent {
	if intent.Kind == poll.IntentInsert && now.Before(intent.Due.Add(ClockSkew)) {
		intent.Until = now.Add(InsertGrace + ClockSkew)
	}
	intent = intent.Untried()
	intent.Kind, intent.Due, intent.Session = poll.IntentDelete, now, poll.Session{}
	return intent
}

// unlink takes the index entry of the linked or awaited event away, and has the
// event deleted where it is to go; else it is released. An awaited one was deleted
// already: should it be back by now, it is its owner's. account is for an event that has no entry.
// gone is false where the event stays: also where it is to go and no account may delete it, so that
// the poll goes on naming it.
func (s *Step) unlink(deleteEvent bool, account string) (gone bool) {
	event, calendar := s.Poll.GoogleEventID, s.Poll.GoogleCalendarID
	if s.Entry != nil { // a direct edit may have changed what the poll names
		event, calendar, account = s.Entry.EventID, s.Entry.CalendarID, s.Entry.AccountID
		s.dropEntry()
	}
	s.deleteEvent(deleteEvent && (s.Entry == nil || !s.Entry.Awaited), account, calendar, event)
	return deleteEvent && (event == "" || account != "")
}

func (s *Step) deleteEvent(asked bool, account, calendar, event string) {
	if !asked || event == "" || account == "" {
		return
	}
	s.Outcome.Intents = append(s.Outcome.Intents, poll.Intent{
		Kind: poll.IntentDelete, PollID: s.Poll.ID, Generation: s.Poll.Sync.Generation,
		AccountID: account, CalendarID: calendar, EventID: event, Due: s.Now, CreatedAt: s.Now, Trace: s.Trace,
	})
}

// dropEntry removes the index entry of an event that is not followed any more.
func (s *Step) dropEntry() {
	s.Writes.Delete(s.EntryPath)
	s.Writes.Merge(calendars.Path(s.Calendar.Key), s.Calendar.Unlink(s.Entry.EventID)...)
}

// stopAwaiting removes the index entry of an awaited event. The caller clears Sync.Awaited.
func (s *Step) stopAwaiting() {
	if s.Entry != nil && s.Entry.Awaited {
		s.dropEntry()
	}
}

// moveEntry has the index entry follow the event to another calendar. A sync there
// may have passed the event before, so it is fetched individually.
func (s *Step) moveEntry(to poll.Place) {
	event := s.Entry.EventID
	if s.EntryPath == poll.IndexPath(event) {
		s.Writes.Update(s.EntryPath, poll.MoveIndex(to)...)
	} else {
		moved := *s.Entry
		moved.AccountID, moved.CalendarID = to.AccountID, to.CalendarID
		s.Writes.Delete(s.EntryPath)
		s.Writes.Set(s.NextPath, poll.EncodeIndex(moved))
	}
	s.Writes.Merge(calendars.Path(s.Calendar.Key), s.Calendar.Unlink(event)...)
	legacy := ""
	if slices.Contains(s.Calendar.LegacyEventIDs, event) {
		legacy = event
	}
	linked := s.Next.Link(s.request(), s.Poll.CreatorID, legacy)
	s.Writes.Merge(calendars.Path(s.Next.Key), append(linked, calendars.Defer(event, calendars.DeferredMoved, s.Now))...)
}

// askAgain asks for a sync of the event of a poll that was archived or edited directly,
// since no decision was made about it. The poll and its calendar record a hold together:
// mustShow reports a hold that the poll does not show yet (showHeld). If the poll shows a
// hold that was confirmed since, its owner must confirm again. While the calendar holds others,
// the event was perhaps missing with them, and is held as well if it is gone.
func (s *Step) askAgain() (mustShow bool) {
	event, failure := s.Entry.EventID, s.Poll.Sync.Error
	shows := failure != nil && failure.Code == rules.MassCancellationHeld
	updates := s.Calendar.RequestFetch(s.request(), event)
	switch awaits := s.Calendar.Deferred(event).Awaits(); {
	case awaits:
	case shows:
		updates = append(calendars.RequestSync(s.request()), calendars.Defer(event, calendars.DeferredHeld, s.Now))
	case len(s.Calendar.Held()) > 0:
		updates = append(calendars.RequestSync(s.request()), calendars.Defer(event, calendars.DeferredMissing, s.Now))
	}
	s.Writes.Merge(calendars.Path(s.Calendar.Key), updates...)
	return s.Calendar.Deferred(event).Why == calendars.DeferredHeld && !shows
}

// Ask asks for a sync of the event of what a command observed: a sync may have
// overtaken it, since the event could have been moved and read again.
func (s *Step) Ask(eventID string) {
	s.Writes.Merge(calendars.Path(s.Calendar.Key), s.Calendar.RequestFetch(s.request(), eventID)...)
}

// Defer has an event fetched individually once its insert is done: a sync passes it.
func (s *Step) Defer(eventID string) {
	s.Writes.Merge(calendars.Path(s.Calendar.Key), calendars.Defer(eventID, calendars.DeferredRace, s.Now))
}
