package scheduler

import (
	"context"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
	"questscheduler/transition"
)

// command carries out a command of a person who must be the poll's creator, in one
// transaction. doing names it in errors.
func (s *Service) command(
	ctx context.Context, person Person, pollID, doing string, cause Cause, do func(step *transition.Step) error,
) error {
	err := s.transact(ctx, s.Store.Run, cause, func(ctx context.Context, tx store.Tx) (*transition.Step, error) {
		st, err := load(ctx, tx, person, pollID)
		if err != nil {
			return nil, err
		}
		step := s.step(st, cause)
		once(step, cause)
		return step, do(step)
	})
	return pollError(pollID, doing, err)
}

// shownAfter gives the poll as a command leaves it, which do carries out.
func (s *Service) shownAfter(
	ctx context.Context, command rules.Command, person Person, pollID string, cause Cause, do func() error,
) (View, error) {
	if err := s.afterEdits(ctx, cause, do); err != nil {
		return View{}, err
	}
	return s.shown(ctx, command, person, pollID, cause)
}

// Cancel cancels a poll at once. Its event is deleted by an intent, or released
// where keepEvent is set. Cancelling a cancelled poll changes nothing.
func (s *Service) Cancel(ctx context.Context, person Person, pollID string, keepEvent bool, cause Cause) (View, error) {
	return s.shownAfter(ctx, rules.CommandCancel, person, pollID, cause, func() error {
		account, err := s.accountForCommand(ctx, person, pollID)
		if err != nil {
			return err
		}
		return s.command(ctx, person, pollID, "cancel", cause, func(step *transition.Step) error {
			return step.Cancel(person.ID, account, keepEvent)
		})
	})
}

// accountForCommand finds, before the transaction, the account of an event that
// was linked before us.
func (s *Service) accountForCommand(ctx context.Context, person Person, pollID string) (string, error) {
	p, _, err := created(ctx, s.Store, person, pollID)
	if err != nil {
		return "", err
	}
	return s.accountUnindexed(ctx, p)
}

// accountUnindexed is accountForCommand for a poll that was read.
func (s *Service) accountUnindexed(ctx context.Context, p poll.Poll) (string, error) {
	entry, _, err := poll.IndexOf(ctx, s.Store, p)
	if err != nil || entry != nil {
		return "", err
	}
	account, _, err := s.legacyAccount(ctx, p)
	return account, err
}
