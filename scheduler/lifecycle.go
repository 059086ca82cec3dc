package scheduler

import (
	"context"
	"fmt"

	"questscheduler/rules"
	"questscheduler/transition"
)

// Reopen opens a poll for votes, without its reschedule or cancellation. Its event is
// released, or deleted where deleteEvent is set. Reopening an open poll changes nothing.
func (s *Service) Reopen(ctx context.Context, person Person, pollID string, deleteEvent bool, cause Cause) (View, error) {
	r := request{person, pollID, "reopen", cause}
	return s.shownAfter(ctx, rules.CommandReopen, r, func() error {
		account, err := s.accountForCommand(ctx, r)
		if err != nil {
			return err
		}
		return s.command(ctx, r, func(step *transition.Step) error {
			return step.Reopen(person.ID, account, deleteEvent)
		})
	})
}

// Archive puts a poll away. Its event stays linked, and its announcements stay as they
// are; the calendar decides nothing until the poll is unarchived.
func (s *Service) Archive(ctx context.Context, person Person, pollID string, cause Cause) (View, error) {
	return s.setStatus(ctx, rules.CommandArchive, request{person, pollID, "archive", cause})
}

// Unarchive brings a poll back as what it was. Where it follows an event, the
// event is read, since it may have changed.
func (s *Service) Unarchive(ctx context.Context, person Person, pollID string, cause Cause) (View, error) {
	return s.setStatus(ctx, rules.CommandUnarchive, request{person, pollID, "unarchive", cause})
}

func (s *Service) setStatus(ctx context.Context, command rules.Command, r request) (View, error) {
	return s.shownAfter(ctx, command, r, func() error {
		return s.command(ctx, r, func(step *transition.Step) error {
			return step.Archive(command, r.person.ID)
		})
	})
}

// Delete removes a poll with everything below it. Its event is deleted, or released where
// keepEvent is set. The drain completes what a crash interrupts.
func (s *Service) Delete(ctx context.Context, person Person, pollID string, keepEvent bool, cause Cause) error {
	r := request{person, pollID, "delete", cause}
	return s.afterEdits(ctx, cause, func() error {
		account, err := s.accountForCommand(ctx, r)
		if err != nil {
			return err
		}
		err = s.command(ctx, r, func(step *transition.Step) error {
			step.Delete(account, keepEvent)
			return nil
		})
		if err == nil {
			s.Meter.Count(Commanded{rules.CommandDelete})
			s.Log.InfoContext(ctx, "poll deleted", "poll", pollID, "user_id", person.ID, "trace", cause.Trace)
		}
		return err
	})
}

// pollError gives an error its place: which poll, and what was being done.
func pollError(pollID, doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("poll %s: %s: %w", pollID, doing, err)
}
