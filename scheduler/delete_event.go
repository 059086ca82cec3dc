package scheduler

import (
	"context"

	"questscheduler/internal/poll"
	"questscheduler/internal/transition"
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
		account, err := s.accountToDelete(ctx, person, pollID)
		if err != nil {
			return err
		}
		return s.command(ctx, person, pollID, "delete event", cause, func(step *transition.Step) error {
			deleted, err = step.DeleteEvent(person.ID, account)
			return err
		})
	})
	if err != nil {
		return false, err
	}
	s.Log.InfoContext(ctx, "event deleted", "poll", pollID, "userId", person.ID, "named", deleted, "trace", cause.Trace)
	return deleted, nil
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
