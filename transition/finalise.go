package transition

import (
	"cmp"

	"questscheduler/internal/calendars"
	"questscheduler/internal/poll"
	"questscheduler/rules"
)

// BeginInsert is the first transaction of a finalisation with an event: it gives the
// intent to insert the event under the poll's next generation.
func (s *Step) BeginInsert(session poll.Session, at poll.Place) poll.Intent {
	s.supersede()
	s.NameFirst()
	intent := poll.Intent{
		Kind: poll.IntentInsert, PollID: s.Poll.ID, Generation: s.Poll.Sync.Generation + 1,
		AccountID: at.AccountID, CalendarID: at.CalendarID, CreatedAt: s.Now, Trace: s.Trace, Session: session,
	}
	return s.insert(intent)
}

// insert writes an insert intent, and gives the poll its generation.
func (s *Step) insert(intent poll.Intent) poll.Intent {
	intent.EventID, intent.Due = poll.EventID(intent.PollID, intent.Generation), s.Now.Add(InsertGrace)
	s.Writes.Create(intent.Path(), poll.EncodeIntent(intent))
	after := s.Poll
	after.Sync.Generation = intent.Generation
	s.After = &after
	return intent
}

// ResumeInsert takes an intent up again for the same choice, under the name of the
// later request, which is the one that has no answer yet.
func (s *Step) ResumeInsert(intent poll.Intent, request string) poll.Intent {
	intent.Due, intent.Attempts = s.Now.Add(InsertGrace), intent.Attempts+1
	intent.Session.Request = cmp.Or(request, intent.Session.Request)
	s.Writes.Update(intent.Path(), poll.Set("due", intent.Due), poll.Set("attempts", intent.Attempts),
		poll.SetSessionRequest(intent.Session.Request))
	return intent
}

// InsertAgain takes the next generation for an intent whose event was made and
// deleted before the poll could follow it.
func (s *Step) InsertAgain(intent poll.Intent) poll.Intent {
	s.Writes.Delete(intent.Path())
	intent = intent.Untried()
	intent.Generation++
	return s.insert(intent)
}

// Undo has the event deleted that an intent may have made.
func (s *Step) Undo(intent poll.Intent) {
	s.Outcome.Intents = append(s.Outcome.Intents, AsDelete(intent, s.Now))
}

// DeleteAgain has the event of a deletion deleted once more: a run that is under way may have
// come too early, and does not end it.
func (s *Step) DeleteAgain(intent poll.Intent) {
	s.Writes.Update(intent.Path(), poll.Set("due", s.Now), poll.Set("asked", intent.Asked+1))
}

// GiveUp ends an insert that the calendar refused, and gives the link that stands the
// generation that is current, so it is followed again. announcement is the poll's. The intent
// goes, unless mayBeThere: an earlier attempt may have had an effect, so its event is deleted.
func (s *Step) GiveUp(intent poll.Intent, announcement poll.Announcement, mayBeThere bool) {
	if s.Entry != nil {
		s.renumber(announcement)
	}
	if mayBeThere {
		s.Writes.Set(intent.Path(), poll.EncodeIntent(AsDelete(intent, s.Now)))
	} else {
		s.Writes.Delete(intent.Path())
	}
}

// renumber gives the link the poll's present generation, and has its event fetched:
// earlier changes decided nothing. Announcements of its old generation are
// renumbered too.
func (s *Step) renumber(announcement poll.Announcement) {
	generation := s.Poll.Sync.Generation
	s.Writes.Update(s.EntryPath, poll.Set("generation", generation))
	if s.Poll.Sync.Awaited != nil && s.Entry.Awaited {
		after, awaited := s.Poll, *s.Poll.Sync.Awaited
		awaited.Link.Generation = generation
		after.Sync.Awaited = &awaited
		s.After = &after
	}
	if updates := poll.RenumberUpdates(announcement, s.Entry.Generation, generation); len(updates) > 0 {
		s.Writes.Update(poll.AnnouncementPath(s.Poll.ID), updates...)
	}
	s.Ask(s.Entry.EventID)
}

// Finalise finalises the poll for a slot without an event. account is that of an
// older event that the index does not know.
func (s *Step) Finalise(who string, slot poll.Slot, request, account string, keepOld bool) {
	s.supersede()
	s.unlink(!keepOld, account)
	entry := s.commandEntry(rules.CommandFinalise, who, "finalised without a calendar event")
	entry.EventID, entry.CalendarID = "", ""
	entry.Generation, entry.Fingerprint = s.Poll.Sync.Generation+1, slot.Fingerprint()
	s.finalise(entry, slot, request)
}

// Link finalises the poll for the event of an intent, which was made at a place, and
// replaces an older one. slot is the chosen one, nil where somebody removed it; Next
// is the event's calendar. earlier reports that another run, or an attempt before, made the event.
func (s *Step) Link(intent poll.Intent, slot *poll.Slot, at poll.Place, earlier bool, event rules.Observation) {
	session := intent.Session
	if chosen := session.Fingerprint(); slot == nil { // the time is still what was chosen
		slot = &poll.Slot{ID: session.SlotID, Start: session.Start, End: session.End, AllDay: session.AllDay}
		s.Writes.Create(poll.SlotPath(s.Poll.ID, slot.ID), poll.EncodeSlot(*slot))
	} else if slot.Fingerprint().Start != chosen.Start || slot.AllDay != chosen.AllDay { // edited since: so is the event's
		slot.Start, slot.End, slot.AllDay = session.Start, session.End, session.AllDay
		s.Writes.Update(poll.SlotPath(s.Poll.ID, slot.ID), poll.MoveSlot(chosen)...)
	}
	s.replaceLink(session)
	if earlier { // it may have changed, and a sync there passed it
		s.Writes.Merge(calendars.Path(s.Next.Key), calendars.Defer(intent.EventID, calendars.DeferredRace, s.Now))
	}
	s.Writes.Create(poll.IndexPath(intent.EventID), poll.EncodeIndex(poll.IndexEntry{
		EventID: intent.EventID, PollID: s.Poll.ID, AccountID: at.AccountID, CreatorID: s.Poll.CreatorID,
		CalendarID: at.CalendarID, Generation: intent.Generation, CreatedAt: s.Now,
	}))
	s.Writes.Delete(intent.Path())
	entry := s.commandEntry(rules.CommandFinalise, session.Actor, "the event was made")
	entry.EventState, entry.Fingerprint, entry.Updated = EventStateName(rules.Present), event.Fingerprint, event.Updated
	entry.EventID, entry.CalendarID, entry.AccountID, entry.Generation = intent.EventID, at.CalendarID, at.AccountID, intent.Generation
	s.finalise(entry, *slot, session.Request)
}

// replaceLink takes the older event of a poll out of the index, has it deleted unless
// it is to stay, and counts the interest in the new event's calendar.
func (s *Step) replaceLink(session poll.Session) {
	next := calendars.Path(s.Next.Key)
	if s.Entry == nil || s.Calendar.Key != s.Next.Key {
		s.Writes.Merge(next, s.Next.Link(s.request(), s.Poll.CreatorID, "")...)
		s.unlink(!session.KeepOld, session.OldAccount)
		return
	}
	s.Writes.Delete(s.EntryPath)
	s.Writes.Merge(next, s.Next.Exchange(s.request(), s.Entry.EventID)...)
	s.deleteEvent(!session.KeepOld && !s.Entry.Awaited, s.Entry.AccountID, s.Entry.CalendarID, s.Entry.EventID)
}

// finalise leaves the poll finalised for a slot. The calendar's slot of a reschedule
// goes, unless it was chosen: then it becomes an ordinary one.
func (s *Step) finalise(entry poll.JournalEntry, slot poll.Slot, request string) {
	if left := s.Poll.Sync.Rescheduled; left != nil && left.ToSlotID == slot.ID {
		s.makeOrdinary(slot.ID)
	} else {
		s.removeCalendarSlot()
	}
	entry.WinningSlotID = slot.ID
	after := Commanded(s.Poll, entry, Details{Request: poll.Request{ID: request, At: s.Now}})
	entry.After = after.Sync.Applied
	s.record(after, entry, &slot, true)
}

// Begin has a poll begin that somebody made of the id of a deleted one, of which
// nothing is left; generation was the last of that one.
func (s *Step) Begin(generation int64) {
	s.NameFirst()
	after := s.Poll.Begun(generation, poll.Recorded{At: s.entryTime(s.Poll)})
	s.After, s.Card = &after, &after
}
