package scheduler

import (
	"context"
	"errors"

	"questscheduler/fault"
	"questscheduler/internal/poll"
)

// editTries is how often direct edits may delay a command.
const editTries = 5

// editedError says that somebody edited a poll's document directly and the journal does
// not have the edit yet, or deleted it while the index still names it.
type editedError struct{ pollID string }

func (e *editedError) Error() string { return "poll " + e.pollID + " was edited directly" }

// checkEdits refuses to continue over a direct edit that the journal does not know: the next
// entry would not follow from the last. It costs no read (poll.Recorded).
func checkEdits(p poll.Poll) error {
	if p.EditedDirectly() {
		return &editedError{p.ID}
	}
	return nil
}

// afterEdits runs a transaction that calls checkEdits. Where that refuses, it repairs and
// journals the direct edit, and runs the transaction again: no sweep finds a poll without an
// event.
func (s *Service) afterEdits(ctx context.Context, cause Cause, do func() error) error {
	for range editTries {
		err := do()
		edited, found := errors.AsType[*editedError](err)
		if !found {
			return err
		}
		if _, err := s.Reconcile(ctx, edited.pollID, cause); err != nil {
			return err
		}
	}
	return errEdited
}

// errEdited is the answer when direct edits kept preceding a command.
var errEdited = fault.New(fault.Unavailable, "Somebody edits this poll at the same time. Try again in a moment.")
