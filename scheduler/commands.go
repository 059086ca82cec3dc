package scheduler

import (
	"context"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
	"questscheduler/transition"
)

// request is what a person asks for of a poll.
type request struct {
	person Person
	pollID string
	doing  string // names it in errors
	cause  Cause
}

func (r request) mayRead(p poll.Poll, group *poll.Group) bool { return MayRead(r.person, p, group) }

// failed gives the error of a request its place.
func (r request) failed(err error) error { return pollError(r.pollID, r.doing, err) }

// command carries out a command of a person who must be the poll's creator, in one
// transaction.
func (s *Service) command(ctx context.Context, r request, do func(step *transition.Step) error) error {
	err := s.transact(ctx, s.Store.Run, r.cause, func(ctx context.Context, tx store.Tx) (*transition.Step, error) {
		st, err := load(ctx, tx, r.person, r.pollID)
		if err != nil {
			return nil, err
		}
		step := s.step(st, r.cause)
		once(step, r.cause)
		return step, do(step)
	})
	return r.failed(err)
}

// shownAfter gives the poll as a command leaves it, which do carries out.
func (s *Service) shownAfter(ctx context.Context, command rules.Command, r request, do func() error) (View, error) {
	if err := s.afterEdits(ctx, r.cause, do); err != nil {
		return View{}, err
	}
	return s.shown(ctx, command, r)
}

// Cancel cancels a poll at once. Its event is deleted by an intent, or released
// where keepEvent is set. Cancelling a cancelled poll changes nothing.
func (s *Service) Cancel(ctx context.Context, person Person, pollID string, keepEvent bool, cause Cause) (View, error) {
	r := request{person, pollID, "cancel", cause}
	return s.shownAfter(ctx, rules.CommandCancel, r, func() error {
		account, err := s.accountForCommand(ctx, r)
		if err != nil {
			return err
		}
		return s.command(ctx, r, func(step *transition.Step) error {
			return step.Cancel(person.ID, account, keepEvent)
		})
	})
}

// accountForCommand finds, before the transaction, the account of an event that
// was linked before us.
func (s *Service) accountForCommand(ctx context.Context, r request) (string, error) {
	p, _, err := created(ctx, s.Store, r.person, r.pollID)
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
