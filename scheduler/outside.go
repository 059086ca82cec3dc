package scheduler

import (
	"context"
	"time"

	"questscheduler/cursor"
	"questscheduler/fault"
	"questscheduler/poll"
	"questscheduler/rules"
	"questscheduler/store"
)

// Reconcile sets a poll and its link right after somebody wrote its document
// directly, as the web app does for its own cancel, restore, reopen and delete
// (data-contract.md, "Document hints"). What was written is never thrown away:
// it is carried through, and journaled as the outside edit that it was. Nothing
// happens where poll and index agree. (What a crash of ours leaves is an intent:
// see drain.go.)
func (s *Service) Reconcile(ctx context.Context, pollID string, cause Cause) (rules.Mending, error) {
	account, calendarID, err := s.outsideAccount(ctx, pollID)
	if err != nil {
		return rules.MendNothing, pollError(pollID, "reconcile", err)
	}
	var done handover
	var mending rules.Mending
	err = s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		done, mending = handover{}, rules.MendNothing
		st, exists, err := loadOutside(ctx, tx, pollID)
		if err != nil {
			return err
		}
		mending = rules.Mend(st.documents(exists, s.Now()))
		switch mending {
		case rules.MendGone:
			return s.mendGone(tx, st, &done, cause)
		case rules.MendCancel:
			return s.mendCancel(tx, st, account, &done, cause)
		case rules.MendReopen:
			return s.mendReopen(tx, st, &done, cause)
		case rules.MendUnlink:
			return s.mendUnlink(tx, st, &done, cause)
		case rules.MendRestore:
			return s.mendRestore(tx, st, &done, cause)
		case rules.MendLink:
			if account == "" {
				mending = rules.MendNothing // nobody's account is linked: there is nothing to look with
				return nil
			}
			return s.mendLink(ctx, tx, st, account, calendarID, cause)
		default:
			return nil
		}
	})
	if err != nil {
		return rules.MendNothing, pollError(pollID, "reconcile", err)
	}
	if mending != rules.MendNothing {
		s.Log.InfoContext(ctx, "direct edit set right", "poll", pollID, "mending", string(mending), "trace", cause.Trace)
		s.handOver(ctx, done, cause)
	}
	return mending, nil
}

// outsideAccount finds, before the transaction, the account of an event that
// the poll names and the index does not know.
func (s *Service) outsideAccount(ctx context.Context, pollID string) (account, calendarID string, err error) {
	p, err := poll.Load(ctx, s.Store, pollID)
	if fault.Is(err, fault.NotFound) {
		return "", "", nil
	}
	if err != nil {
		return "", "", err
	}
	entry, _, err := poll.IndexOf(ctx, s.Store, p)
	if err != nil || entry != nil {
		return "", "", err
	}
	return s.legacyAccount(ctx, p)
}

// loadOutside reads a poll with whatever entry the index holds for it, whether
// or not that is for the event the poll names.
func loadOutside(ctx context.Context, tx store.Tx, pollID string) (st state, exists bool, err error) {
	p, err := poll.Load(ctx, tx, pollID)
	if exists = err == nil; err != nil && !fault.Is(err, fault.NotFound) {
		return state{}, false, err
	}
	p.ID = pollID
	st.poll = p
	if st.winning, err = poll.LoadSlot(ctx, tx, pollID, p.WinningSlotID); err != nil {
		return state{}, false, err
	}
	entries, paths, err := poll.IndexesOf(ctx, tx, pollID)
	if err != nil {
		return state{}, false, err
	}
	for i := range entries {
		if st.entry == nil || entries[i].EventID != p.GoogleEventID { // one that does not fit is set right first
			st.entry, st.entryPath = &entries[i], paths[i]
		}
	}
	if st.entry != nil {
		if st.calendar, _, err = cursor.Load(ctx, tx, st.entry.AccountID, st.entry.CalendarID); err != nil {
			return state{}, false, err
		}
	}
	st.intents, err = poll.IntentsOf(ctx, tx, pollID)
	return st, exists, err
}

// documents is how poll and index stand to each other.
func (st state) documents(exists bool, now time.Time) rules.Documents {
	p := st.poll
	return rules.Documents{
		Exists: exists, Status: p.Status, State: p.Sync.State, HasEvent: p.GoogleEventID != "",
		HasEntry: st.entry != nil, Fits: st.entry != nil && st.entry.EventID == p.GoogleEventID,
		Rescheduled: p.Sync.Rescheduled != nil, Cancelled: p.Cancelled != nil && p.Sync.Cancelled != nil,
		Inserting: st.pendingInsert() != nil, LongPast: st.longPast(now),
	}
}

// longPast tells whether the session is over for so long that its event is
// forgotten.
func (st state) longPast(now time.Time) bool {
	if st.winning == nil {
		return false
	}
	limit := now.Add(-rules.ForgetAfter)
	return st.winning.End.Before(limit) && (st.poll.Sync.Applied.IsZero() || st.poll.Sync.Applied.EndTime().Before(limit))
}

// outsideEntry is the journal's line of a mending. For announcements a direct
// edit counts as the creator's.
func outsideEntry(st state, mending rules.Mending, command rules.Command, cause Cause) poll.Entry {
	return poll.Entry{
		Trace: cause.Trace, Hint: "outside_edit", Who: st.poll.CreatorID, Command: command, Reason: string(mending),
		EventID: st.poll.GoogleEventID, CalendarID: st.poll.GoogleCalendarID, Before: st.poll.Sync.Applied,
	}
}

func (s *Service) mendGone(tx store.Tx, st state, done *handover, cause Cause) error {
	now := s.Now()
	done.superseded = st.intents
	if err := st.supersede(tx, now); err != nil || st.entry == nil {
		return err
	}
	st.poll.GoogleEventID, st.poll.GoogleCalendarID = st.entry.EventID, st.entry.CalendarID
	var err error
	done.deletion, err = st.unlink(tx, true, "", now, cause.Trace)
	return err
}

func (s *Service) mendCancel(tx store.Tx, st state, account string, done *handover, cause Cause) error {
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
	if done.deletion, err = linked.unlink(tx, true, account, now, cause.Trace); err != nil {
		return err
	}
	cancelled := poll.Cancelled{At: now, Reason: rules.ReasonManual}
	if st.poll.Cancelled != nil {
		cancelled = *st.poll.Cancelled
	}
	done.due, err = s.writeCancelled(tx, st, cancelled, true, outsideEntry(st, rules.MendCancel, rules.CommandCancel, cause))
	return err
}

func (s *Service) mendReopen(tx store.Tx, st state, done *handover, cause Cause) error {
	if _, err := st.unlink(tx, false, "", s.Now(), cause.Trace); err != nil {
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
	after, err := forgetTimes(tx, st)
	if err != nil {
		return err
	}
	entry := outsideEntry(st, rules.MendUnlink, "", cause)
	entry.Decision = rules.Record
	_, err = s.record(tx, entry, outcome{after, st.winning}, st.poll.CreatorID, false)
	return err
}

// forgetTimes takes away what is known of the times of an event that the poll no
// longer names, and what it moved: the next event is adopted as it is.
func forgetTimes(tx store.Tx, st state) (poll.Poll, error) {
	after := st.poll
	after.Sync.Baseline, after.Sync.Applied, after.Sync.Observed = rules.Fingerprint{}, rules.Fingerprint{}, time.Time{}
	updates := []store.Update{
		poll.SetSync("baseline", store.Delete), poll.SetSync("lastEventFingerprint", store.Delete),
		poll.SetSync("observedUpdated", store.Delete),
	}
	if moved := st.poll.Sync.Rescheduled; moved != nil {
		after.Sync.Rescheduled = nil
		updates = append(updates, poll.SetRescheduled(nil))
		if st.poll.WinningSlotID == moved.ToSlotID {
			after.WinningSlotID = moved.FromSlotID
			updates = append(updates, poll.Set("winningSlotId", store.NullIfEmpty(moved.FromSlotID)))
		}
		if err := tx.Delete(poll.SlotPath(after.ID, moved.ToSlotID)); err != nil {
			return after, err
		}
	}
	return after, tx.Update(poll.Path(after.ID), updates...)
}

// mendRestore takes away what says that a poll is cancelled which is finalised
// again. Where it still names an event, the next look finds out about it.
func (s *Service) mendRestore(tx store.Tx, st state, done *handover, cause Cause) error {
	after := st.poll
	after.Cancelled, after.Sync.Cancelled = nil, nil
	updates := append(poll.SetCancelled(nil), poll.Set("updatedAt", s.Now()))
	if after.Sync.State == rules.StateCancelled {
		after.Sync.State = rules.StateNone
		if after.GoogleEventID != "" {
			after.Sync.State = rules.Recovered(st.rules())
		}
		var state any = store.Delete
		if after.Sync.State != rules.StateNone {
			state = string(after.Sync.State)
		}
		updates = append(updates, poll.SetSync("state", state))
	}
	if err := tx.Update(poll.Path(after.ID), updates...); err != nil {
		return err
	}
	entry := outsideEntry(st, rules.MendRestore, "", cause)
	entry.Decision, entry.After = rules.Clear, st.poll.Sync.Applied
	var err error
	done.due, err = s.record(tx, entry, outcome{after, st.winning}, after.CreatorID, true)
	return err
}

// mendLink makes the index entry of an event that the poll names, and asks for
// a look at it: an event without a baseline is adopted there.
func (s *Service) mendLink(ctx context.Context, tx store.Tx, st state, account, calendarID string, cause Cause) error {
	if st.poll.GoogleCalendarID != "" && st.poll.GoogleCalendarID != "primary" {
		calendarID = st.poll.GoogleCalendarID
	}
	calendar, _, err := cursor.Load(ctx, tx, account, calendarID)
	if err != nil {
		return err
	}
	other, path, err := poll.FindIndex(ctx, tx, account, calendarID, st.poll.GoogleEventID)
	if err != nil || other != nil {
		return err // another poll follows this event
	}
	entry := poll.IndexEntry{
		EventID: st.poll.GoogleEventID, PollID: st.poll.ID, AccountID: account, CreatorID: st.poll.CreatorID,
		CalendarID: calendarID, Generation: st.poll.Sync.Generation, CreatedAt: s.Now(),
	}
	if err := tx.Create(path, poll.EncodeIndex(entry)); err != nil {
		return err
	}
	updates := append(calendar.Link(s.Now(), st.poll.CreatorID, entry.EventID), cursor.Park(entry.EventID, cursor.PendingCommand)) // no poll followed it: nothing is held
	if err := tx.Merge(cursor.Path(calendar.Key), updates...); err != nil {
		return err
	}
	after := st.poll
	var own []store.Update
	if after.GoogleCalendarID != calendarID { // "primary" is resolved once
		after.GoogleCalendarID = calendarID
		own = append(own, poll.Set("googleCalendarId", calendarID))
	}
	if len(own) > 0 {
		if err := tx.Update(poll.Path(after.ID), own...); err != nil {
			return err
		}
	}
	line := outsideEntry(st, rules.MendLink, "", cause)
	line.Decision, line.After = rules.Record, st.poll.Sync.Applied
	_, err = s.record(tx, line, outcome{after, st.winning}, after.CreatorID, false)
	return err
}
