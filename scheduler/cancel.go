package scheduler

import (
	"context"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
)

// Cancel cancels a poll at once. Its event is deleted by an intent, or released
// where keepEvent is set. Cancelling a cancelled poll changes nothing.
func (s *Service) Cancel(ctx context.Context, person Person, pollID string, keepEvent bool, cause Cause) (View, error) {
	err := s.afterEdits(ctx, cause, func() error { return s.cancel(ctx, person, pollID, keepEvent, cause) })
	if err != nil {
		return View{}, err
	}
	return s.shown(ctx, rules.CommandCancel, person, pollID, cause)
}

func (s *Service) cancel(ctx context.Context, person Person, pollID string, keepEvent bool, cause Cause) error {
	account, err := s.accountForCommand(ctx, person, pollID)
	if err != nil {
		return err
	}
	var due *announcement
	var deletion *poll.Intent
	var superseded []poll.Intent
	err = s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		due, deletion, superseded = nil, nil, nil
		st, err := load(ctx, tx, person, pollID)
		if err != nil {
			return err
		}
		change, err := rules.Apply(st.rules(), rules.CommandCancel)
		if err != nil {
			return err
		}
		if change.Nothing {
			superseded, err = s.supersedeOnly(tx, st, rules.CommandCancel, person, cause)
			return err
		}
		now := s.Now()
		superseded = st.intents
		if err := st.supersede(tx, now); err != nil {
			return err
		}
		if deletion, err = st.unlink(tx, !keepEvent, account, now, cause.Trace); err != nil {
			return err
		}
		due, err = s.writeCancelled(tx, st, poll.Cancelled{At: now, Reason: rules.ReasonManual}, !keepEvent, poll.Entry{
			Trace: cause.Trace, Hint: cause.Hint, Who: person.ID, Command: rules.CommandCancel, Reason: "cancelled by hand",
		})
		return err
	})
	if err != nil {
		return pollError(pollID, "cancel", err)
	}
	s.deletionsSoon(ctx, superseded)
	s.carryOutSoon(ctx, deletion)
	s.announceSoon(ctx, due, cause.Trace)
	return nil
}

// supersedeOnly is for a command that finds the poll as asked already: where a
// finalisation is under way, it must not come through any more. Nothing is
// announced, since nothing changed for anybody.
func (s *Service) supersedeOnly(tx store.Tx, st state, command rules.Command, person Person, cause Cause) ([]poll.Intent, error) {
	if st.pendingInsert() == nil {
		return nil, nil
	}
	if err := st.supersede(tx, s.Now()); err != nil {
		return nil, err
	}
	if err := st.stopAwaiting(tx); err != nil {
		return nil, err
	}
	after := st.poll
	after.Sync.Generation++
	after.Sync.Awaited = nil
	_, err := s.record(tx, poll.Entry{
		Trace: cause.Trace, Hint: cause.Hint, Who: person.ID, Command: command, Reason: "a finalisation under way was taken back",
		Before: st.poll.Sync.Applied, After: st.poll.Sync.Applied,
	}, outcome{after, st.winning}, person.ID, false)
	return st.intents, err
}

// accountForCommand finds, before the transaction, the account of an event that
// was linked before us.
func (s *Service) accountForCommand(ctx context.Context, person Person, pollID string) (string, error) {
	p, _, err := readable(ctx, s.Store, person, pollID)
	if err != nil {
		return "", err
	}
	if err := checkCreator(person, p); err != nil {
		return "", err
	}
	entry, _, err := poll.IndexOf(ctx, s.Store, p)
	if err != nil || entry != nil {
		return "", err
	}
	account, _, err := s.legacyAccount(ctx, p)
	return account, err
}

// writeCancelled writes a poll as cancelled, with journal and announcement. The
// winning slot and what is left of a reschedule stay. unlinked says that the
// event goes; an event that stays keeps its id on the poll, so that the next
// finalisation knows of it.
func (s *Service) writeCancelled(tx store.Tx, st state, cancelled poll.Cancelled, unlinked bool, entry poll.Entry) (*announcement, error) {
	after := st.poll
	after.Status, after.Cancelled, after.UpdatedAt = rules.Cancelled, &cancelled, cancelled.At
	after.Sync.State, after.Sync.Cancelled, after.Sync.Error = rules.StateCancelled, &cancelled, nil
	if unlinked {
		after.GoogleEventID = ""
	}
	if entry.Command != "" { // a command supersedes what is under way
		after.Sync.Generation++
		after.Sync.Awaited = nil
	} else {
		after.Sync.LastSyncedAt, after.Sync.Observed = cancelled.At, rules.Newest(after.Sync.Observed, entry.Updated)
	}
	entry.EventID, entry.CalendarID = st.poll.EventID(), st.poll.GoogleCalendarID
	entry.Before, entry.After = st.poll.Sync.Applied, st.poll.Sync.Applied
	actor := entry.Who
	if actor == "" {
		actor = after.CreatorID
	}
	return s.record(tx, entry, outcome{after, st.winning}, actor, true)
}
