package scheduler

import (
	"context"
	"time"

	"questscheduler/internal/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
)

// Reopen opens a poll again for votes. Nothing of a reschedule or cancellation
// is kept; its event stays in the calendar, released, unless deleteEvent is
// set. Reopening an open poll changes nothing.
func (s *Service) Reopen(ctx context.Context, person Person, pollID string, deleteEvent bool, cause Cause) (View, error) {
	err := s.afterEdits(ctx, cause, func() error { return s.reopen(ctx, person, pollID, deleteEvent, cause) })
	if err != nil {
		return View{}, err
	}
	return s.shown(ctx, rules.CommandReopen, person, pollID, cause)
}

func (s *Service) reopen(ctx context.Context, person Person, pollID string, deleteEvent bool, cause Cause) error {
	account, err := s.accountForCommand(ctx, person, pollID)
	if err != nil {
		return err
	}
	var done handover
	err = s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		done = handover{}
		st, err := load(ctx, tx, person, pollID)
		if err != nil {
			return err
		}
		change, err := rules.Apply(st.rules(), rules.CommandReopen)
		if err != nil {
			return err
		}
		if change.Nothing {
			done.superseded, err = s.supersedeOnly(tx, st, rules.CommandReopen, person, cause)
			return err
		}
		now := s.Now()
		done.superseded = st.intents
		if err := st.supersede(tx, now); err != nil {
			return err
		}
		if done.deletion, err = st.unlink(tx, deleteEvent, account, now, cause.Trace); err != nil {
			return err
		}
		done.due, err = s.writeReopened(tx, st, deleteEvent, poll.Entry{
			Trace: cause.Trace, Hint: cause.Hint, Who: person.ID, Command: rules.CommandReopen, Reason: "reopened",
			EventID: st.poll.GoogleEventID, CalendarID: st.poll.GoogleCalendarID, Before: st.poll.Sync.Applied,
		})
		return err
	})
	if err != nil {
		return pollError(pollID, "reopen", err)
	}
	s.handOver(ctx, done, cause)
	return nil
}

// writeReopened writes a poll as open, with journal and announcement.
func (s *Service) writeReopened(tx store.Tx, st state, eventGone bool, entry poll.Entry) (*announcement, error) {
	after := reopened(st.poll, eventGone)
	after.UpdatedAt = s.Now()
	if left := st.poll.Sync.Rescheduled; left != nil {
		if err := tx.Delete(poll.SlotPath(after.ID, left.ToSlotID)); err != nil {
			return nil, err
		}
	}
	return s.record(tx, entry, outcome{poll: after}, entry.Who, true)
}

// reopened is the poll after a reopening. An event that stays keeps its id on
// the poll, so that the next finalisation knows of it.
func reopened(p poll.Poll, eventGone bool) poll.Poll {
	p = p.Unmarked()
	p.Status, p.WinningSlotID = rules.Open, ""
	p.Sync = poll.Sync{
		Generation: p.Sync.Generation + 1, LastSyncedAt: p.Sync.LastSyncedAt, Recorded: p.Sync.Recorded, Request: p.Sync.Request,
	}
	if eventGone {
		p.GoogleEventID = ""
	}
	return p
}

// Archive puts a poll away. What it follows stays linked, and what people were
// told stays as it is; the calendar decides nothing meanwhile.
func (s *Service) Archive(ctx context.Context, person Person, pollID string, cause Cause) (View, error) {
	return s.setStatus(ctx, person, pollID, rules.CommandArchive, cause)
}

// Unarchive brings a poll back as what it was. Where it follows an event, the
// event is looked at, since it may have changed meanwhile.
func (s *Service) Unarchive(ctx context.Context, person Person, pollID string, cause Cause) (View, error) {
	return s.setStatus(ctx, person, pollID, rules.CommandUnarchive, cause)
}

// setStatus carries out a command that changes nothing but the status.
func (s *Service) setStatus(ctx context.Context, person Person, pollID string, command rules.Command, cause Cause) (View, error) {
	err := s.afterEdits(ctx, cause, func() error { return s.writeStatus(ctx, person, pollID, command, cause) })
	if err != nil {
		return View{}, err
	}
	return s.shown(ctx, command, person, pollID, cause)
}

func (s *Service) writeStatus(ctx context.Context, person Person, pollID string, command rules.Command, cause Cause) error {
	var entry *poll.IndexEntry
	var after poll.Poll // the zero poll where nothing changed
	err := s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		entry, after = nil, poll.Poll{}
		st, err := load(ctx, tx, person, pollID)
		if err != nil {
			return err
		}
		change, err := rules.Apply(st.rules(), command)
		if err != nil || change.Nothing {
			return err
		}
		if st.pendingInsert() != nil {
			return fault.New(fault.Conflict, "This poll is being finalised. Try again in a moment.")
		}
		after = st.poll
		if after.Status = change.To; command == rules.CommandUnarchive {
			after.Status = rules.Before(st.poll.WinningSlotID != "", st.poll.MarkedCancelled())
		}
		after.UpdatedAt = s.Now()
		if st.poll.Status == rules.Cancelled && !st.poll.MarkedCancelled() {
			// The web app cancelled it, and nothing but the status says so:
			// unarchived, it would be something else.
			cancelled := poll.Cancelled{At: s.Now(), Reason: rules.ReasonManual}
			after.Cancelled, after.Sync.Cancelled = &cancelled, &cancelled
		}
		mustShow := false
		if st.entry != nil && (after.Linked() || st.awaiting() && after.Status != rules.Archived) {
			entry = st.entry
			if mustShow, err = st.askAgain(tx); err != nil {
				return err
			}
		}
		at := s.entryTime(st.poll)
		_, err = s.record(tx, poll.Entry{
			At: at, Trace: cause.Trace, Hint: cause.Hint, Who: person.ID, Command: command, Reason: string(command),
			Before: st.poll.Sync.Applied, After: st.poll.Sync.Applied,
		}, outcome{after, st.winning}, person.ID, false)
		if err == nil && mustShow {
			err = s.showHeld(tx, after, st.winning, at, cause)
		}
		if err != nil {
			return err
		}
		return oweCard(tx, after)
	})
	if err != nil {
		return pollError(pollID, string(command), err)
	}
	if entry != nil {
		s.lookSoon(ctx, entry.AccountID, entry.CalendarID, cause)
	}
	s.cardSoon(ctx, after, string(command)+"/"+store.Instant(s.Now()).String(), cause)
	return nil
}

// Delete removes a poll with everything below it. Its event is deleted, or
// released where keepEvent is set. What a crash leaves half removed is removed
// by the drain.
func (s *Service) Delete(ctx context.Context, person Person, pollID string, keepEvent bool, cause Cause) error {
	return s.afterEdits(ctx, cause, func() error { return s.remove(ctx, person, pollID, keepEvent, cause) })
}

func (s *Service) remove(ctx context.Context, person Person, pollID string, keepEvent bool, cause Cause) error {
	account, err := s.accountForCommand(ctx, person, pollID)
	if err != nil {
		return err
	}
	var done handover
	err = s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		done = handover{}
		st, err := load(ctx, tx, person, pollID)
		if err != nil {
			return err
		}
		now := s.Now()
		done.superseded = st.intents
		if err := st.supersede(tx, now); err != nil {
			return err
		}
		if done.deletion, err = st.unlink(tx, !keepEvent, account, now, cause.Trace); err != nil {
			return err
		}
		if done.removal, err = purge(tx, pollID, st.lastGeneration(), now, cause.Trace); err != nil {
			return err
		}
		return tx.Delete(poll.Path(pollID))
	})
	if err != nil {
		return pollError(pollID, "delete", err)
	}
	s.Meter.Count(Commanded{rules.CommandDelete})
	s.Log.InfoContext(ctx, "poll deleted", "poll", pollID, "userId", person.ID, "trace", cause.Trace)
	s.handOver(ctx, done, cause)
	return nil
}

// purge writes the intent to remove whatever is below a poll that goes, whose last
// generation it keeps, and takes its announcement away. Purging what is not there
// does nothing.
func purge(tx store.Tx, pollID string, generation int64, now time.Time, trace string) (*poll.Intent, error) {
	intent := poll.Intent{Kind: poll.IntentPurge, PollID: pollID, Generation: generation, Due: now, CreatedAt: now, Trace: trace}
	if err := tx.Set(intent.Path(), poll.EncodeIntent(intent)); err != nil {
		return nil, err
	}
	return &intent, tx.Delete(poll.AnnouncementPath(pollID))
}

// handover is what a committed transaction leaves to tasks.
type handover struct {
	superseded        []poll.Intent
	deletion, removal *poll.Intent
	due               *announcement
}

func (s *Service) handOver(ctx context.Context, done handover, cause Cause) {
	s.deletionsSoon(ctx, done.superseded)
	s.carryOutSoon(ctx, done.deletion)
	s.carryOutSoon(ctx, done.removal)
	s.announceSoon(ctx, done.due, cause.Trace)
}
