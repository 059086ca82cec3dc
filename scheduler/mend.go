package scheduler

import (
	"context"
	"time"

	"questscheduler/internal/calendars"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
)

// outsideEntry is the journal's line of a mending. For announcements a direct
// edit counts as the creator's.
func outsideEntry(st state, mending rules.Mending, command rules.Command, cause Cause) poll.Entry {
	return poll.Entry{
		Trace: cause.Trace, Hint: "outside_edit", Who: st.poll.CreatorID, Command: command, Reason: string(mending),
		EventID: st.poll.GoogleEventID, CalendarID: st.poll.GoogleCalendarID, Before: st.poll.Sync.Applied,
	}
}

// mendGone does what deleting a poll does, for one that somebody else deleted:
// what the web app cannot remove, or did not, would stay for ever otherwise, and
// be read by whoever makes another poll of the same id.
func (s *Service) mendGone(tx store.Tx, st state, creator poll.Creator, done *handover, cause Cause) (err error) {
	now := s.Now()
	done.superseded = st.intents
	if err := st.supersede(tx, now); err != nil {
		return err
	}
	if st.entry != nil {
		st.poll.GoogleEventID, st.poll.GoogleCalendarID = st.entry.EventID, st.entry.CalendarID
		if done.deletion, err = st.unlink(tx, !creator.KeepsEvents, "", now, cause.Trace); err != nil {
			return err
		}
	}
	done.removal, err = purge(tx, st.poll.ID, st.lastGeneration(), now, cause.Trace)
	return err
}

func (s *Service) mendCancel(tx store.Tx, st state, creator poll.Creator, account string, done *handover, cause Cause) error {
	now := s.Now()
	done.superseded = st.intents
	if err := st.supersede(tx, now); err != nil {
		return err
	}
	linked := st
	if st.entry != nil { // the direct edit may have changed what the poll names
		linked.poll.GoogleEventID, linked.poll.GoogleCalendarID = st.entry.EventID, st.entry.CalendarID
	}
	var err error
	if done.deletion, err = linked.unlink(tx, !creator.KeepsEvents, account, now, cause.Trace); err != nil {
		return err
	}
	cancelled := poll.Cancelled{At: now, Reason: rules.ReasonManual}
	for _, known := range []*poll.Cancelled{st.poll.Sync.Cancelled, st.poll.Cancelled} {
		if known != nil && !known.At.IsZero() { // the app shows its badge for a time alone
			cancelled = *known
		}
	}
	done.due, err = s.writeCancelled(tx, st, cancelled, !creator.KeepsEvents, outsideEntry(st, rules.MendCancel, rules.CommandCancel, cause))
	return err
}

func (s *Service) mendReopen(tx store.Tx, st state, done *handover, cause Cause) error {
	now := s.Now()
	done.superseded = st.intents
	if err := st.supersede(tx, now); err != nil {
		return err
	}
	if _, err := st.unlink(tx, false, "", now, cause.Trace); err != nil {
		return err
	}
	var err error
	done.due, err = s.writeReopened(tx, st, false, outsideEntry(st, rules.MendReopen, rules.CommandReopen, cause))
	return err
}

func (s *Service) mendUnlink(tx store.Tx, st state, done *handover, cause Cause) error {
	named, namedCalendar := st.poll.GoogleEventID, st.poll.GoogleCalendarID
	st.poll.GoogleEventID, st.poll.GoogleCalendarID = st.entry.EventID, st.entry.CalendarID
	var err error
	if done.deletion, err = st.unlink(tx, true, "", s.Now(), cause.Trace); err != nil {
		return err
	}
	st.poll.GoogleEventID, st.poll.GoogleCalendarID = named, namedCalendar
	after, err := s.ofItsEvent(tx, st)
	if err != nil {
		return err
	}
	after.Sync.Awaited = nil
	entry := outsideEntry(st, rules.MendUnlink, "", cause)
	entry.Decision, entry.After = rules.Record, after.Sync.Applied
	_, err = s.record(tx, entry, outcome{after, st.winning}, st.poll.CreatorID, false)
	return err
}

// ofItsEvent is the poll as it stands with the event that it names, where that is
// another than it knew: somebody gave it one directly, or took its own away. That
// is another finalisation, of which people heard elsewhere, and it supersedes one
// of ours that is under way. What the poll knows of the other event goes: a time
// that it does not have, a move that was none, and what was wrong. So the event is
// adopted as it is.
func (s *Service) ofItsEvent(tx store.Tx, st state) (after poll.Poll, err error) {
	after = st.poll
	if after.GoogleEventID == after.Sync.Recorded.EventID {
		return after, nil
	}
	if err := st.supersede(tx, s.Now()); err != nil {
		return after, err
	}
	return s.withoutTimes(tx, st)
}

// withoutTimes is a poll that knows nothing any more of the event it followed,
// in the next generation.
func (s *Service) withoutTimes(tx store.Tx, st state) (after poll.Poll, err error) {
	after = st.poll
	after.Sync.Generation++
	if after.Sync.Applied.IsZero() && after.Sync.Error == nil { // nothing was known of it
		return after, nil
	}
	after.Sync.Baseline, after.Sync.Applied, after.Sync.Observed = rules.Fingerprint{}, rules.Fingerprint{}, time.Time{}
	var code rules.ErrorCode
	if after.Sync.State, code = rules.Forgotten(st.rules(), after.GoogleEventID != ""); code == "" {
		after.Sync.Error = nil
	}
	if moved := st.poll.Sync.Rescheduled; moved != nil {
		after.Sync.Rescheduled = nil
		if st.poll.WinningSlotID == moved.ToSlotID {
			after.WinningSlotID = moved.FromSlotID
		}
		if err := tx.Delete(poll.SlotPath(after.ID, moved.ToSlotID)); err != nil {
			return after, err
		}
	}
	return after, nil
}

// mendRestore takes away what says that a poll is cancelled which is finalised
// again. Where it still names an event, that is followed again, and the next look
// finds out about it. One that it awaits is awaited on. Where the event went with
// the cancellation, a move of it went too: nothing could undo that any more.
func (s *Service) mendRestore(ctx context.Context, tx store.Tx, st state, account, calendarID string, done *handover, cause Cause) error {
	superseding := st.pendingInsert() != nil // a finalisation under way, of before
	if superseding {
		st.poll.Sync.Generation++
	}
	after, winning, linked := st.poll, st.winning, false
	told, err := poll.LoadAnnouncement(ctx, tx, st.poll.ID)
	if err != nil {
		return err
	}
	if st.entry == nil && st.poll.GoogleEventID != "" && !st.rules().Over(s.Now(), rules.ForgetAfter) {
		if after, linked, err = s.followAgain(ctx, tx, st, account, calendarID); err != nil {
			return err
		}
	}
	switch {
	case st.awaiting():
		if after, err = restoreAwaiting(tx, st); err != nil {
			return err
		}
		if _, err := st.askAgain(tx); err != nil { // it may be back already
			return err
		}
	case st.poll.GoogleEventID == "" && st.poll.Sync.Rescheduled != nil:
		if after, err = s.withoutTimes(tx, st); err != nil {
			return err
		}
	case st.poll.GoogleEventID != "" && !linked:
		if after, err = s.ofItsEvent(tx, st); err != nil {
			return err
		}
	}
	if after.WinningSlotID != st.poll.WinningSlotID {
		winning = st.original
	}
	after = after.Unmarked()
	after.UpdatedAt = s.Now()
	if after.Sync.State == rules.StateCancelled {
		after.Sync.State = rules.StateNone
		if after.GoogleEventID != "" {
			after.Sync.State = rules.Recovered(after.Rules("", st.winning, nil))
		}
	}
	if superseding {
		done.superseded = st.intents
		if err := st.supersede(tx, s.Now()); err != nil {
			return err
		}
	}
	if st.poll.GoogleEventID == st.poll.Sync.Recorded.EventID {
		if err := stillKnown(tx, told, after); err != nil {
			return err
		}
	}
	entry := outsideEntry(st, rules.MendRestore, "", cause)
	entry.Decision, entry.After = rules.Clear, after.Sync.Applied
	done.due, err = s.record(tx, entry, outcome{after, winning}, after.CreatorID, true)
	return err
}

// stillKnown lets what people were told of a restored poll stand for its present
// generation, whose number the cancellation counted up: it is still the
// finalisation that they know, and what is told next is compared with that.
// Where it was finalised again before it was cancelled, they heard of that
// elsewhere, and it is another one.
func stillKnown(tx store.Tx, told poll.Announcement, p poll.Poll) error {
	known, cancelled := told.Announced.Story, told.Wanted.Story
	if known.Status != rules.Cancelled && (cancelled.Status != rules.Cancelled || cancelled.Generation != known.Generation+1) {
		return nil
	}
	updates := poll.RenumberUpdates(told, known.Generation, p.Sync.Generation)
	if len(updates) == 0 || known.Generation == p.Sync.Generation {
		return nil
	}
	return tx.Update(poll.AnnouncementPath(p.ID), updates...)
}

// mendLink has an event followed that the poll names. It gives false where that
// cannot be.
func (s *Service) mendLink(ctx context.Context, tx store.Tx, st state, account, calendarID string, cause Cause) (linked bool, err error) {
	after, linked, err := s.followAgain(ctx, tx, st, account, calendarID)
	if err != nil || !linked {
		return false, err
	}
	line := outsideEntry(st, rules.MendLink, "", cause)
	line.Decision, line.After = rules.Record, after.Sync.Applied
	_, err = s.record(tx, line, outcome{after, st.winning}, after.CreatorID, false)
	return true, err
}

// followAgain makes the index entry of an event that the poll names, and asks for
// a look at it: an event without a baseline is adopted there. It does neither,
// and gives false, where nobody's account is linked to look with, or another
// poll follows the event.
func (s *Service) followAgain(ctx context.Context, tx store.Tx, st state, account, calendarID string) (after poll.Poll, linked bool, err error) {
	after = st.poll
	if account == "" {
		return after, false, nil
	}
	calendarID = followedCalendar(after, calendarID)
	calendar, _, err := calendars.Load(ctx, tx, account, calendarID)
	if err != nil {
		return after, false, err
	}
	other, path, err := poll.FindIndex(ctx, tx, account, calendarID, after.GoogleEventID)
	if err != nil || other != nil {
		return after, false, err
	}
	if after, err = s.ofItsEvent(tx, st); err != nil {
		return after, false, err
	}
	entry := poll.IndexEntry{
		EventID: after.GoogleEventID, PollID: after.ID, AccountID: account, CreatorID: after.CreatorID,
		CalendarID: calendarID, Generation: after.Sync.Generation, CreatedAt: s.Now(),
	}
	if err := tx.Create(path, poll.EncodeIndex(entry)); err != nil {
		return after, false, err
	}
	asked := append(calendar.Link(s.Now(), after.CreatorID, entry.EventID), calendars.Defer(entry.EventID, calendars.DeferredCommand)) // no poll followed it: nothing is held
	if err := tx.Merge(calendars.Path(calendar.Key), asked...); err != nil {
		return after, false, err
	}
	if after.GoogleCalendarID != calendarID { // "primary" is resolved once
		after.GoogleCalendarID = calendarID
	}
	return after, true, nil
}

// mendNote writes down that a poll has another status, winning slot or event than
// its journal knew. Where it follows an event, the event is looked at: nothing may
// have been decided about it while the poll stood otherwise.
func (s *Service) mendNote(tx store.Tx, st state, cause Cause) error {
	mustShow := false
	if st.entry != nil && (st.poll.Linked() || st.awaiting() && st.poll.Status != rules.Archived) {
		var err error
		if mustShow, err = st.askAgain(tx); err != nil {
			return err
		}
	}
	after, err := s.ofItsEvent(tx, st)
	if err != nil {
		return err
	}
	entry := outsideEntry(st, rules.MendNote, "", cause)
	entry.At, entry.Decision, entry.After = s.entryTime(st.poll), rules.Record, after.Sync.Applied
	_, err = s.record(tx, entry, outcome{after, st.winning}, after.CreatorID, false)
	if err == nil && mustShow {
		err = s.showHeld(tx, after, st.winning, entry.At, cause)
	}
	return err
}
