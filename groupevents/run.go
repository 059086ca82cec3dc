package groupevents

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"

	"questscheduler/internal/poll"
	"questscheduler/internal/queue"
	"questscheduler/internal/store"
	"questscheduler/scheduler"
)

// soon enqueues recorded work after its commit. A failure is only logged: the drain finds the
// work.
func (s *Service) soon(ctx context.Context, w work) {
	if err := s.enqueue(ctx, w, w.ID+"/"+w.Ref); err != nil {
		s.Log.WarnContext(ctx, "work for a group's events is left to the drain", "group", w.GroupID, "trace", w.Trace, "error", err)
	}
}

func (s *Service) enqueue(ctx context.Context, w work, name string) error {
	payload, err := json.Marshal(scheduler.Work{ID: w.ID, Trace: w.Trace})
	if err == nil {
		_, err = s.Queue.Enqueue(ctx, queue.Task{Kind: poll.GroupWorkKind, Name: name, Payload: payload, NotBefore: w.Due})
	}
	return err
}

// Drain enqueues the recorded work that is due, and returns how much.
func (s *Service) Drain(ctx context.Context) (handedOver int, err error) {
	now := s.Now()
	bucket := "/drain/" + strconv.FormatInt(now.Unix()/60, 10)
	for w, err := range store.All(ctx, s.Store, workDue.With(now), decodeWork) {
		if err == nil {
			err = s.enqueue(ctx, w, w.ID+"/"+w.Ref+bucket)
		}
		if err != nil {
			return handedOver, err
		}
		handedOver++
	}
	return handedOver, nil
}

// Handle carries out the work that a task names: the handler of poll.GroupWorkKind. Work that
// fails is recorded as due again later, and its task ends.
func (s *Service) Handle(ctx context.Context, delivery queue.Delivery) queue.Verdict {
	var asked scheduler.Work
	if err := json.Unmarshal(delivery.Payload, &asked); err != nil || poll.GroupWorkPath(asked.ID).Valid() != nil {
		return queue.Verdict{Outcome: queue.Permanent, Err: errors.New("the task names no work")}
	}
	w, ok, err := s.take(ctx, asked.ID)
	if err != nil {
		return queue.Verdict{Err: err}
	}
	if !ok {
		return queue.Verdict{Outcome: queue.Done}
	}
	if err := s.finish(ctx, w, s.carryOut(ctx, w)); err != nil {
		return queue.Verdict{Err: err}
	}
	return queue.Verdict{Outcome: queue.Done}
}

// finish removes work that is done, and defers work that failed.
func (s *Service) finish(ctx context.Context, w work, failed error) error {
	again := s.Now().Add(pause(w.Attempts))
	same, err := s.settle(ctx, w, func(tx store.Tx, path store.Path) error {
		if failed == nil {
			return tx.Delete(path)
		}
		return tx.Update(path, store.Set("due", again))
	})
	if err == nil && same && failed != nil {
		s.Log.WarnContext(ctx, "work for a group's events failed", "group", w.GroupID, "attempts", w.Attempts, "trace", w.Trace, "error", failed)
	}
	return err
}

func (s *Service) carryOut(ctx context.Context, w work) error {
	cause := scheduler.Cause{Trigger: "group", Trace: w.Trace}
	if w.Sessions {
		return s.followSessions(ctx, w, cause)
	}
	return s.followSession(ctx, w.PollID, cause)
}

// advance records how far work is. same is false where it is for a later change by now, which
// begins again.
func (s *Service) advance(ctx context.Context, w *work, at string) (same bool, err error) {
	w.At = at
	return s.settle(ctx, *w, func(tx store.Tx, path store.Path) error {
		return tx.Update(path, store.Set("at", w.At), store.Set("due", s.Now().Add(lease)))
	})
}
