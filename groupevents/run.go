package groupevents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"questscheduler/internal/mirror"
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
		_, err = s.Queue.Enqueue(ctx, queue.Task{Kind: poll.GroupWorkKind, Name: name, Payload: payload})
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
	switch {
	case w.PollID != "":
		return s.followSession(ctx, w.PollID, cause)
	case w.Sessions:
		return s.followSessions(ctx, w, cause)
	default:
		return s.planMember(ctx, w, cause)
	}
}

// memberPage is how many events are planned between two marks of progress.
const memberPage = 50

// window is how long ago an event may have ended that is still planned, with time to spare
// for days in any zone.
const window = 72 * time.Hour

// planMember has the calendars followed that a member's connections concern, whose native
// copies and changed copies count, and plans the group's present and future events for the
// member, after their connections changed or planning passed over them. If they left the
// group, it ends their connections instead, which brings work of its own.
func (s *Service) planMember(ctx context.Context, w work, cause scheduler.Cause) error {
	if w.AccountID != "" {
		write := func(marked []mirror.Mirror) { s.Plans.WriteSoon(ctx, marked, cause) }
		if err := s.deleteCopies(ctx, w.GroupID, w.AccountID, cause, write); err != nil {
			return err
		}
	}
	connections, err := mirror.ConnectionsOf(ctx, s.Store, w.OwnerID)
	if err != nil {
		return err
	}
	if ended, err := s.endOver(ctx, connections, cause); err != nil || ended > 0 {
		return err
	}
	if err := s.Plans.FollowWanted(ctx, w.OwnerID, cause); err != nil {
		return fmt.Errorf("follow the calendars of a member of group %s: %w", w.GroupID, err)
	}
	after := s.Now().Add(-window)
	for {
		events, next, err := mirror.OfGroupEndingAfter(ctx, s.Store, w.GroupID, after, memberPage, w.At)
		if err != nil {
			return err
		}
		for _, event := range events {
			if err := s.Plans.PlanUID(ctx, w.OwnerID, event.ICalUID, cause); err != nil {
				return fmt.Errorf("plan event %s of group %s: %w", event.ID, w.GroupID, err)
			}
		}
		if next == "" {
			return nil
		}
		if same, err := s.advance(ctx, &w, next); err != nil || !same {
			return err
		}
	}
}

// advance records how far work is. same is false where it is for a later change by now, which
// begins again.
func (s *Service) advance(ctx context.Context, w *work, at string) (same bool, err error) {
	w.At = at
	return s.settle(ctx, *w, func(tx store.Tx, path store.Path) error {
		return tx.Update(path, store.Set("at", w.At), store.Set("due", s.Now().Add(lease)))
	})
}
