package scheduler

import (
	"context"

	"questscheduler/internal/calendars"
	"questscheduler/internal/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
)

// completeInsert is transaction 2 of a finalisation: the event is there, the
// poll follows it. Where something newer was commanded meanwhile, the event is
// left to its deletion and the answer is Conflict. Doing it twice changes
// nothing the second time. made tells that this very run made the event, so
// that nobody else can know of it.
func (s *Service) completeInsert(ctx context.Context, intent poll.Intent, event Event, made bool, cause Cause) error {
	return s.afterEdits(ctx, cause, func() error { return s.completeOnce(ctx, intent, event, made, cause) })
}

func (s *Service) completeOnce(ctx context.Context, intent poll.Intent, event Event, made bool, cause Cause) error {
	var due *announcement
	var oldEvent *poll.Intent
	superseded := false
	err := s.runRepeatable(ctx, func(ctx context.Context, tx store.Tx) error {
		due, oldEvent, superseded = nil, nil, false
		stands, err := poll.LoadIntent(ctx, tx, intent.ID())
		if err != nil {
			return err
		}
		p, err := poll.Load(ctx, tx, intent.PollID)
		if err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
		if stands == nil { // somebody else finished it, or undid it
			superseded = p.GoogleEventID != intent.EventID || p.Status != rules.Finalized
			if made && p.GoogleEventID != intent.EventID { // and did so before it was made
				return tx.Set(intent.Path(), poll.EncodeIntent(asDelete(intent, s.Now())))
			}
			return nil
		}
		if stands.Kind == poll.IntentDelete {
			superseded = true
			// A deletion that is under way may have come too early: this one
			// is another.
			return tx.Update(intent.Path(), poll.Set("due", s.Now()))
		}
		if p.ID == "" || p.Sync.Generation != intent.Generation {
			superseded = true
			return tx.Set(intent.Path(), poll.EncodeIntent(asDelete(*stands, s.Now())))
		}
		if err := checkEdits(p); err != nil {
			return err
		}
		st, err := complete(ctx, tx, p)
		if err != nil {
			return err
		}
		due, oldEvent, err = s.linkEvent(ctx, tx, st, *stands, event, cause)
		return err
	})
	switch {
	case err != nil:
		return err
	case superseded:
		deletion := asDelete(intent, s.Now())
		s.carryOutSoon(ctx, &deletion)
		return errSuperseded
	}
	s.carryOutSoon(ctx, oldEvent)
	s.announceSoon(ctx, due, cause.Trace)
	return nil
}

// linkEvent writes the poll as finalised for the event, takes the place of an
// older one, and removes the intent.
func (s *Service) linkEvent(ctx context.Context, tx store.Tx, st state, intent poll.Intent, event Event, cause Cause) (due *announcement, oldEvent *poll.Intent, err error) {
	slot, err := poll.LoadSlot(ctx, tx, st.poll.ID, intent.Session.SlotID)
	if err != nil {
		return nil, nil, err
	}
	at := event.at(intent)
	calendar, _, err := calendars.Load(ctx, tx, at.AccountID, at.CalendarID)
	if err != nil {
		return nil, nil, err
	}
	if slot == nil { // removed by the web app since: the time is still what was chosen
		slot = &poll.Slot{ID: intent.Session.SlotID, Start: intent.Session.Start, End: intent.Session.End, AllDay: intent.Session.AllDay}
		if err := tx.Create(poll.SlotPath(st.poll.ID, slot.ID), poll.EncodeSlot(*slot)); err != nil {
			return nil, nil, err
		}
	} else if chosen := intent.Session.Fingerprint(); slot.Fingerprint().Start != chosen.Start || slot.AllDay != chosen.AllDay {
		// Edited since: the event was made for the time that was chosen.
		slot.Start, slot.End, slot.AllDay = intent.Session.Start, intent.Session.End, intent.Session.AllDay
		if err := tx.Update(poll.SlotPath(st.poll.ID, slot.ID), poll.MoveSlot(chosen)...); err != nil {
			return nil, nil, err
		}
	}
	if oldEvent, err = s.replaceLink(tx, st, calendar, intent, cause); err != nil {
		return nil, nil, err
	}
	if event.MovedTo == at { // a look there may have passed it
		if err := tx.Merge(calendars.Path(calendar.Key), calendars.Defer(intent.EventID, calendars.DeferredMoved)); err != nil {
			return nil, nil, err
		}
	}
	entry := poll.IndexEntry{
		EventID: intent.EventID, PollID: st.poll.ID, AccountID: at.AccountID, CreatorID: st.poll.CreatorID,
		CalendarID: at.CalendarID, Generation: intent.Generation, CreatedAt: s.Now(),
	}
	if err := tx.Create(poll.IndexPath(entry.EventID), poll.EncodeIndex(entry)); err != nil {
		return nil, nil, err
	}
	if err := tx.Delete(intent.Path()); err != nil {
		return nil, nil, err
	}
	after := finalised(st.poll, slot, intent.Generation, poll.Request{ID: intent.Session.Request, At: s.Now()})
	after.GoogleEventID, after.GoogleCalendarID = intent.EventID, at.CalendarID
	after.Sync.State, after.Sync.Baseline, after.Sync.Applied = rules.StateOK, event.Fingerprint, event.Fingerprint
	after.Sync.Observed, after.Sync.LastSyncedAt = event.Updated, s.Now()
	due, err = s.writeFinalised(tx, st, after, slot, poll.Entry{
		Trace: cause.Trace, Hint: cause.Hint, Who: intent.Session.Actor, Command: rules.CommandFinalise,
		Reason: "the event was made", Seen: "present", Fingerprint: event.Fingerprint, Updated: event.Updated,
		AccountID: at.AccountID,
	})
	return due, oldEvent, err
}

// replaceLink takes the older event of a poll out of the index, writes its
// deletion unless it is to stay, and counts the interest in the new event's
// calendar.
func (s *Service) replaceLink(tx store.Tx, st state, calendar calendars.Calendar, intent poll.Intent, cause Cause) (*poll.Intent, error) {
	sameCalendar := st.entry != nil && st.calendar.Key == calendar.Key
	if sameCalendar {
		if err := tx.Delete(st.entryPath); err != nil {
			return nil, err
		}
		if err := tx.Merge(calendars.Path(calendar.Key), calendar.Exchange(st.entry.EventID)...); err != nil {
			return nil, err
		}
		account := st.entry.AccountID
		st.entry = nil
		return st.unlink(tx, !intent.Session.KeepOld, account, s.Now(), cause.Trace)
	}
	if err := tx.Merge(calendars.Path(calendar.Key), calendar.Link(s.Now(), st.poll.CreatorID, "")...); err != nil {
		return nil, err
	}
	return st.unlink(tx, !intent.Session.KeepOld, intent.Session.OldAccount, s.Now(), cause.Trace)
}
