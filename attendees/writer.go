package attendees

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"questscheduler/internal/attendee"
	"questscheduler/internal/fault"
	"questscheduler/internal/gcal"
	"questscheduler/internal/queue"
	"questscheduler/scheduler"
)

const (
	// maxTurns bounds how often one task starts over for an event that keeps changing.
	maxTurns = 3
	// startOver is after how long the task does so again.
	startOver = 5 * time.Second
	// soon is how far ahead a record may be due for its task to wait for that; the drain
	// enqueues later ones.
	soon = 2 * time.Minute
)

// Handle brings the guests of an event up to date: the handler of Kind. It counts failed
// calls in the record, so the queue repeats only what the store refused.
func (s *Service) Handle(ctx context.Context, delivery queue.Delivery) queue.Verdict {
	var work Work
	if err := json.Unmarshal(delivery.Payload, &work); err != nil || attendee.EventPath(work.ID).Valid() != nil {
		return queue.Verdict{Outcome: queue.Permanent, Err: errors.New("the task names no event")}
	}
	settled, err := s.write(ctx, work.ID, scheduler.Cause{Trigger: Kind, Trace: work.Trace})
	if err != nil {
		return queue.Verdict{Err: fmt.Errorf("attendees of %s: %w", work.ID, err), After: fault.RetryAfter(err)}
	}
	if !settled {
		return queue.Verdict{Outcome: queue.Later, After: startOver}
	}
	return s.wait(ctx, work.ID)
}

// wait ends a task, or has it run again when its record is due soon.
func (s *Service) wait(ctx context.Context, id string) queue.Verdict {
	record, _, err := attendee.Load(ctx, s.Store, id)
	if err != nil {
		return queue.Verdict{Err: fmt.Errorf("attendees of %s: %w", id, err), After: fault.RetryAfter(err)}
	}
	left := record.Due.Sub(s.Now())
	if record.Due.IsZero() || s.Observing || left > soon {
		return queue.Verdict{Outcome: queue.Done}
	}
	return queue.Verdict{Outcome: queue.Later, After: max(left, time.Millisecond)}
}

// write takes turns at an event until nothing is due. settled is false if it kept changing.
// The error is the store's.
func (s *Service) write(ctx context.Context, id string, cause scheduler.Cause) (settled bool, err error) {
	for range maxTurns {
		a, err := s.load(ctx, id, cause)
		if err != nil {
			return false, err
		}
		if a.record.Due.IsZero() || a.record.Due.After(s.now()) {
			return true, nil
		}
		if settled, err = s.turn(ctx, a); err != nil || settled {
			return settled, err
		}
	}
	return false, nil
}

// turn is one turn at an event: the first of its copies that Google lets us change decides.
// settled is false if the record or the event changed since it was read.
func (s *Service) turn(ctx context.Context, a *attempt) (settled bool, err error) {
	var refused error
	for _, key := range a.candidates() {
		usable, later, err := s.usable(ctx, a.copies[key].AccountID)
		if err != nil {
			return false, err
		}
		if !usable {
			a.waiting = a.waiting || later
			continue
		}
		end, err := s.through(ctx, a, key)
		switch {
		case err != nil && isRefusal(err):
			refused = err
		case err != nil && isCall(err):
			return true, s.failed(ctx, a, err)
		case err != nil:
			return false, err
		case end != nextCopy:
			return end == done, nil
		}
	}
	switch found, err := s.findOrganizer(ctx, a); {
	case err != nil && isCall(err):
		refused = err
	case err != nil:
		return false, err
	case found:
		return false, nil // through that copy
	}
	if refused != nil {
		return true, s.failed(ctx, a, refused)
	}
	return s.withoutCopy(ctx, a)
}

// outcome is what came of a copy.
type outcome int

const (
	// done: the record is settled.
	done outcome = iota
	// again: the record or the event changed; start over.
	again
	// nextCopy: the event cannot be changed through this copy.
	nextCopy
)

// through brings the guests up to date through one copy. Its errors are those of calls (see
// isCall) and of the store.
func (s *Service) through(ctx context.Context, a *attempt, key string) (outcome, error) {
	list, err := s.Google.GuestList(ctx, a.ref(key), a.copies[key].EventID)
	if a.isMissing(err) {
		a.lose(key)
		return nextCopy, nil
	}
	if err != nil {
		return nextCopy, called(err)
	}
	shown := a.shown(key, list.Event)
	if !editable(shown.copied) {
		return nextCopy, nil
	}
	decision := a.judge(shown, s.now())
	if len(decision.Add)+len(decision.Remove) == 0 {
		return s.settle(ctx, a, decision)
	}
	if s.Observing {
		return s.observeOnly(ctx, a, decision)
	}
	before := a.record
	if held, err := s.begin(ctx, a, decision); err != nil || !held {
		return again, err
	}
	answer, err := s.Google.PatchGuests(ctx, a.ref(key), list,
		gcal.GuestChange{Add: decision.Add, Remove: decision.Remove, Optional: decision.Optional}, s.Notify)
	if err != nil {
		return s.notPatched(ctx, a, before, decision, err)
	}
	s.Meter.Count(Patched{Added: len(decision.Add), Withdrawn: len(decision.Remove)})
	return s.confirm(ctx, a, decision, a.shown(key, answer))
}
