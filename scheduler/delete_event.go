package scheduler

import (
	"context"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
)

// DeleteEvent takes a poll's event out of the calendar and leaves the poll as it
// is, at the time that was agreed: the web app asks for it before it reopens,
// edits or deletes a poll. It
// gives whether the poll named an event; one that is gone from the calendar
// already was one too. A finalisation under way is taken back. Only the creator
// may; Revoked, and nothing is changed, where no account lets us in that could
// delete it.
func (s *Service) DeleteEvent(ctx context.Context, person Person, pollID string, cause Cause) (deleted bool, err error) {
	err = s.afterEdits(ctx, cause, func() error {
		deleted, err = s.deleteEvent(ctx, person, pollID, cause)
		return err
	})
	return deleted, err
}

func (s *Service) deleteEvent(ctx context.Context, person Person, pollID string, cause Cause) (deleted bool, err error) {
	account, err := s.accountToDelete(ctx, person, pollID)
	if err != nil {
		return false, err
	}
	var done handover
	var card poll.Poll // the zero poll where nothing changed
	err = s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		done, deleted, card = handover{}, false, poll.Poll{}
		st, err := load(ctx, tx, person, pollID)
		if err != nil {
			return err
		}
		if _, err := rules.Apply(st.rules(), rules.CommandDeleteEvent); err != nil {
			return err
		}
		if deleted = st.poll.GoogleEventID != ""; !deleted {
			done.superseded, err = s.supersedeOnly(tx, st, rules.CommandDeleteEvent, person, cause)
			return err
		}
		done.superseded, card = st.intents, st.poll
		if err := st.supersede(tx, s.Now()); err != nil {
			return err
		}
		if done.deletion, err = st.unlink(tx, true, account, s.Now(), cause.Trace); err != nil {
			return err
		}
		if err := s.writeWithoutEvent(tx, st, person, cause); err != nil {
			return err
		}
		return oweCard(tx, card)
	})
	if err != nil {
		return false, pollError(pollID, "delete event", err)
	}
	s.handOver(ctx, done, cause)
	s.cardSoon(ctx, card, string(rules.CommandDeleteEvent)+"/"+store.Instant(s.Now()).String(), cause)
	s.Log.InfoContext(ctx, "event deleted", "poll", pollID, "userId", person.ID, "named", deleted, "trace", cause.Trace)
	return deleted, nil
}

// writeWithoutEvent writes a poll that follows no event any more. Nothing is
// announced: the session stands, and what becomes of the poll comes next.
func (s *Service) writeWithoutEvent(tx store.Tx, st state, person Person, cause Cause) error {
	entry := poll.Entry{
		Trace: cause.Trace, Hint: cause.Hint, Who: person.ID, Command: rules.CommandDeleteEvent, Reason: "the event was deleted by hand",
		EventID: st.poll.GoogleEventID, CalendarID: st.poll.GoogleCalendarID, Before: st.poll.Sync.Applied,
	}
	named := st.poll.GoogleEventID
	st.poll.GoogleEventID = "" // its calendar is kept
	after, err := s.withoutTimes(tx, st)
	if err != nil {
		return err
	}
	if st.poll.Sync.Applied.IsZero() && st.poll.Sync.Error == nil { // an event that was not looked at yet is forgotten, too
		after.Sync.State, _ = rules.Forgotten(st.rules(), false)
	}
	after.UpdatedAt = s.Now()
	winning := st.winning
	if winning != nil && winning.ID != after.WinningSlotID {
		winning = nil
	}
	entry.EventID, entry.After = named, after.Sync.Applied
	_, err = s.record(tx, entry, outcome{after, winning}, person.ID, false)
	return err
}

// accountToDelete finds, before the transaction, the account that an event is
// deleted by: the one that follows it, or for an event from before us the one
// that owns its calendar. Revoked where it does not let us in; "" without an
// event.
func (s *Service) accountToDelete(ctx context.Context, person Person, pollID string) (string, error) {
	p, _, err := readable(ctx, s.Store, person, pollID)
	if err != nil {
		return "", err
	}
	if err := checkCreator(person, p); err != nil || p.GoogleEventID == "" {
		return "", err
	}
	entry, _, err := poll.IndexOf(ctx, s.Store, p)
	if err != nil {
		return "", err
	}
	following := ""
	if entry != nil {
		following = entry.AccountID
	}
	account, _, err := s.Accounts.Choose(ctx, p.CreatorID, following, p.GoogleCalendarID)
	return account, err
}
