package scheduler

import (
	"context"

	"questscheduler/internal/poll"
	"questscheduler/rules"
	"questscheduler/transition"
)

// DeleteEvent deletes a poll's event and leaves the poll at its time: the web app asks for it
// before it reopens, edits or deletes a poll. deleted reports whether the poll named an event. A
// finalisation under way is taken back. Only the creator may. Revoked, with nothing changed,
// where no account lets us delete it.
func (s *Service) DeleteEvent(ctx context.Context, person Person, pollID string, cause Cause) (deleted bool, err error) {
	err = s.afterEdits(ctx, cause, func() error {
		account, err := s.accountToDelete(ctx, person, pollID)
		if err != nil {
			return err
		}
		return s.command(ctx, request{person, pollID, "delete event", cause}, func(step *transition.Step) error {
			deleted, err = step.DeleteEvent(person.ID, account)
			return err
		})
	})
	if err != nil {
		return false, err
	}
	s.Meter.Count(Commanded{rules.CommandDeleteEvent})
	s.Log.InfoContext(ctx, "event deleted", "poll", pollID, "user_id", person.ID, "named", deleted, "trace", cause.Trace)
	return deleted, nil
}

// accountToDelete finds, before the transaction, the account that an event is deleted by: the
// one that follows it, or that owns its calendar. Revoked where it does not let us in; ""
// without an event.
func (s *Service) accountToDelete(ctx context.Context, person Person, pollID string) (string, error) {
	p, _, err := created(ctx, s.Store, person, pollID)
	if err != nil || p.GoogleEventID == "" {
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
