package mirrors

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"questscheduler/internal/fault"
	"questscheduler/internal/mirror"
	"questscheduler/internal/queue"
	"questscheduler/internal/store"
	"questscheduler/scheduler"
)

// PlanKind is the kind of the tasks that plan again: all events of a person, or one event.
const PlanKind = "mirror-plan"

// planWork is the payload of a task of PlanKind.
type planWork struct {
	// Person and Generation ask for all events of a person; Event for one.
	Person     string `json:"person,omitempty"`
	Generation int64  `json:"generation,omitempty"`
	Event      string `json:"event,omitempty"`
	Trace      string `json:"trace,omitempty"`
}

func planTask(name string, work planWork) queue.Task {
	payload, err := json.Marshal(work)
	if err != nil {
		panic("mirrors: marshal a task: " + err.Error()) // strings and integers always marshal
	}
	return queue.Task{Kind: PlanKind, Name: name, Payload: payload}
}

// personTask plans all events of a person, for a generation of requests.
func personTask(ownerID string, generation int64, trace string) queue.Task {
	return planTask("person/"+ownerID+"/"+strconv.FormatInt(generation, 10), planWork{Person: ownerID, Generation: generation, Trace: trace})
}

// eventTask plans an event when its PlanAt has come.
func eventTask(event mirror.Event, trace string) queue.Task {
	task := planTask("event/"+event.ID+"/"+strconv.FormatInt(event.PlanAt.UnixMicro(), 10), planWork{Event: event.ID, Trace: trace})
	task.NotBefore = event.PlanAt
	return task
}

// HandlePlan is the handler of PlanKind.
func (s *Service) HandlePlan(ctx context.Context, delivery queue.Delivery) queue.Verdict {
	var work planWork
	if err := json.Unmarshal(delivery.Payload, &work); err != nil || (work.Person == "") == (work.Event == "") {
		return queue.Verdict{Outcome: queue.Permanent, Err: errors.New("the task names no person and no event")}
	}
	cause := scheduler.Cause{Trigger: PlanKind, Trace: work.Trace}
	if work.Event != "" {
		if err := s.PlanEvent(ctx, work.Event, cause); err != nil {
			return queue.Verdict{Err: fmt.Errorf("event %s: %w", work.Event, err)}
		}
		return queue.Verdict{Outcome: queue.Done}
	}
	more, err := s.planPerson(ctx, work.Person, work.Generation, cause)
	switch {
	case err != nil:
		return queue.Verdict{Err: err}
	case more:
		return queue.Verdict{Outcome: queue.Later, After: time.Millisecond}
	default:
		return queue.Verdict{Outcome: queue.Done}
	}
}

// PlanUID decides again about a person's mirrors of one iCalUID, in one transaction. It is
// idempotent: without a change it writes nothing. What it passes over, since the person left a
// group and is still connected to it, has their connections end; somebody whom the web app
// brought back since is planned once more. Unavailable: they left again each time.
func (s *Service) PlanUID(ctx context.Context, ownerID, icalUID string, cause scheduler.Cause) error {
	for range mostReturns {
		former, err := s.planUID(ctx, ownerID, icalUID, cause)
		if err != nil || len(former) == 0 {
			return err
		}
		if back, err := s.endFormer(ctx, ownerID, former, cause); err != nil || !back {
			return err
		}
	}
	return fault.New(fault.Unavailable, "The members of this group keep changing. Try again.")
}

// mostReturns is how often somebody may come back to a group while one of its events is planned
// for them.
const mostReturns = 3

// planUID is PlanUID but for the groups that the person left, which it returns.
func (s *Service) planUID(ctx context.Context, ownerID, icalUID string, cause scheduler.Cause) (former []string, err error) {
	_, err = s.transact(ctx, cause, func(ctx context.Context, tx store.Reader, w *write) error {
		of, err := s.situation(ctx, tx, ownerID, icalUID)
		if err != nil {
			return err
		}
		former = of.former
		w.decide(&of)
		return nil
	})
	return former, err
}

// PlanEvent plans a canonical event again for everybody concerned: its owner, and for the
// event of a group all members who connected an account, or whose mirrors are left. A
// transaction that changes a group's event sets its PlanAt to the present; call this after
// it, or the drain does.
func (s *Service) PlanEvent(ctx context.Context, eventID string, cause scheduler.Cause) error {
	event, err := mirror.LoadEvent(ctx, s.Store, eventID)
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if event.GroupID == "" {
		return s.PlanUID(ctx, event.OwnerID, event.ICalUID, cause)
	}
	owners, err := s.ownersOf(ctx, event)
	if err != nil {
		return err
	}
	var failed []error
	for _, ownerID := range owners { // one who cannot be planned does not delay the others
		if err := s.PlanUID(ctx, ownerID, event.ICalUID, cause); err != nil {
			failed = append(failed, fmt.Errorf("mirrors of a person: %w", err))
		}
	}
	if err := errors.Join(failed...); err != nil {
		return err
	}
	return s.settleGroupEvent(ctx, event)
}

// PlanEventSoon enqueues the planning of an event for its PlanAt, after the transaction that
// set it. What fails is left to the drain.
func (s *Service) PlanEventSoon(ctx context.Context, event mirror.Event, cause scheduler.Cause) {
	s.enqueue(ctx, eventTask(event, cause.Trace), cause)
}

// settleGroupEvent moves the PlanAt of a group's event that was planned for everybody, or
// removes it if it is cancelled and no mirror is left. If it changed since, it stays due.
func (s *Service) settleGroupEvent(ctx context.Context, planned mirror.Event) error {
	return s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		event, err := mirror.LoadEvent(ctx, tx, planned.ID)
		if fault.Is(err, fault.NotFound) {
			return nil
		}
		if err != nil || event.Version != planned.Version || !event.PlanAt.Equal(planned.PlanAt) {
			return err
		}
		shown, err := mirror.OfEvent(ctx, tx, event.ID)
		if err != nil {
			return err
		}
		if event.Status == cancelled && len(shown) == 0 {
			return tx.Delete(mirror.EventPath(event.ID))
		}
		at := planAt(event, s.now())
		if at.Equal(event.PlanAt) {
			return nil
		}
		return tx.Update(mirror.EventPath(event.ID), store.Set("planAt", store.NullIfZero(at)))
	})
}
