package scheduler

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"questscheduler/internal/calendars"
	"questscheduler/internal/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/queue"
	"questscheduler/internal/store"
	"questscheduler/internal/transition"
)

// relinkPause is how long an intent rests whose account needs its owner.
const relinkPause = 10 * time.Minute

// lostFor is how long an intent waits for a calendar that is found no more.
const lostFor = 24 * time.Hour

// mayComeBack reports whether to wait for a calendar that is not found, which proves no
// deletion: one that was read before may be shared with us again. A store error means to wait.
func (s *Service) mayComeBack(ctx context.Context, intent poll.Intent) bool {
	calendar, _, err := calendars.Load(ctx, s.Store, intent.AccountID, intent.CalendarID)
	return err != nil || !calendar.SuccessAt.IsZero() && s.Now().Sub(intent.CreatedAt) < lostFor
}

// HandleIntent carries out the intent of a task: the handler of KindIntent. An
// intent that is gone was done by somebody else.
func (s *Service) HandleIntent(ctx context.Context, delivery queue.Delivery) queue.Verdict {
	var work Work
	if err := json.Unmarshal(delivery.Payload, &work); err != nil || poll.IntentPath(work.ID).Valid() != nil {
		return queue.Verdict{Outcome: queue.Permanent, Err: errors.New("the task names no intent")}
	}
	intent, err := s.takeUp(ctx, work.ID)
	if err != nil {
		return queue.Verdict{Err: err}
	}
	if intent == nil {
		return queue.Verdict{Outcome: queue.Done}
	}
	cause := Cause{Trigger: "intent", Trace: intent.Trace}
	switch intent.Kind {
	case poll.IntentDelete:
		err = s.carryOutDelete(ctx, *intent)
	case poll.IntentPurge:
		err = s.carryOutPurge(ctx, *intent)
	default:
		err = s.carryOutInsert(ctx, *intent, cause)
		if err == nil { // what its request would have logged
			s.Log.InfoContext(ctx, "poll finalise", "poll", intent.PollID, "event", intent.EventID, "userId", intent.Session.Actor,
				"hint", cause.Trigger, "trace", cause.Trace)
		}
	}
	return s.intentVerdict(ctx, *intent, delivery.Attempt, err)
}

// takeUp reads an intent to carry it out; nil where it is done. An insert belongs to this run
// for transition.InsertGrace. It is counted as an attempt before it is made, since a run that
// dies may have made the event.
func (s *Service) takeUp(ctx context.Context, id string) (intent *poll.Intent, err error) {
	err = s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		if intent, err = poll.LoadIntent(ctx, tx, id); err != nil || intent == nil || intent.Kind != poll.IntentInsert {
			return err
		}
		intent.Due, intent.Attempts = s.Now().Add(transition.InsertGrace), intent.Attempts+1
		return tx.Update(intent.Path(), poll.Set("due", intent.Due), poll.Set("attempts", intent.Attempts))
	})
	return intent, err
}

// intentVerdict is the verdict on an intent's task. An intent is never given
// up by the queue: while its document exists, the drain finds it again.
func (s *Service) intentVerdict(ctx context.Context, intent poll.Intent, attempt int, err error) queue.Verdict {
	switch {
	case err == nil, errors.Is(err, errSuperseded):
		return queue.Verdict{Outcome: queue.Done}
	case fault.Is(err, fault.Revoked), fault.Is(err, fault.Exhausted):
		if err := s.postpone(ctx, intent, relinkPause, err); err != nil {
			return queue.Verdict{Err: err}
		}
		return queue.Verdict{Outcome: queue.Done}
	default:
		// The task is retried; were the drain to hand over another
		// each minute, an outage would make a crowd of them.
		wait := max(fault.RetryAfter(err), queue.Backoff(attempt, nil))
		if err := s.postpone(ctx, intent, wait+queue.Grace, err); err != nil {
			return queue.Verdict{Err: err}
		}
		s.Log.WarnContext(ctx, "an intent is tried again", "intent", intent.ID(), "kind", intent.Kind,
			"poll", intent.PollID, "trace", intent.Trace, "error", err)
		return queue.Verdict{Outcome: queue.Retry, After: fault.RetryAfter(err), Err: err}
	}
}

// postpone leaves an intent alone for a while.
func (s *Service) postpone(ctx context.Context, intent poll.Intent, wait time.Duration, cause error) error {
	return s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		current, err := poll.LoadIntent(ctx, tx, intent.ID())
		if err != nil || current == nil {
			return err
		}
		return tx.Update(intent.Path(), poll.Set("due", s.Now().Add(wait)),
			poll.Set("attempts", current.Attempts+1), poll.Set("lastError", fault.KindOf(cause).String()))
	})
}

// carryOutDelete deletes an event, wherever its owner moved it, and removes its intent. A
// missing event counts as deleted; while an insert may still make it, the intent stays
// (Intent.Until). Where the calendar refuses for good, or stays lost, the event is released
// and logged.
func (s *Service) carryOutDelete(ctx context.Context, intent poll.Intent) error {
	err := s.deleteWhereItIs(ctx, intent)
	if fault.Is(err, fault.Provider) || fault.Is(err, fault.NotFound) && !s.mayComeBack(ctx, intent) {
		s.Log.ErrorContext(ctx, "the calendar refuses to delete an event; it stays there", "poll", intent.PollID,
			"event", intent.EventID, "calendar", intent.CalendarID, "trace", intent.Trace, "error", err)
		err = nil
	}
	if err != nil {
		return pollError(intent.PollID, "delete event", err)
	}
	return s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		current, err := poll.LoadIntent(ctx, tx, intent.ID())
		asked := current != nil && current.Kind == poll.IntentDelete && current.Due.Equal(intent.Due)
		if err != nil || !asked { // or asked for once more while this run was at it
			return err
		}
		if now := s.Now(); now.Before(current.Until) { // soon once more, then later, and at the end
			due := now.Add(transition.InsertGrace << min(current.Attempts, 10))
			if due.After(current.Until) {
				due = current.Until
			}
			return tx.Update(intent.Path(), poll.Set("due", due), poll.Set("attempts", current.Attempts+1))
		}
		return tx.Delete(intent.Path())
	})
}
