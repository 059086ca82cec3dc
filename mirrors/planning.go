package mirrors

import (
	"context"
	"errors"
	"fmt"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/mirror"
	"questscheduler/internal/outbox"
	"questscheduler/internal/store"
	"questscheduler/scheduler"
)

// The kinds of the outbox that plan again: all events of a person, and one event. The journal
// has the first as the trigger of both.
const (
	PlanKind  = "mirror-plan"
	EventKind = "mirror-event"
)

// EventWork is the kind of the outbox that plans events whose PlanAt has come.
func (s *Service) EventWork() outbox.Kind {
	return outbox.Kind{
		Name: EventKind, Does: "events to plan", Path: mirror.EventPath, Due: mirror.ToPlan, Codec: outbox.DueAt("planAt", "planTrace"),
		Handle: s.planDue, Workers: 10, Unclaimed: true, Planned: true,
	}
}

// postponed is how long an event rests that cannot be planned.
const postponed = 10 * time.Minute

// planDue plans an event whose PlanAt has come. One that cannot be planned is due again later,
// so that it costs few runs; while the store does not answer the waker repeats the run.
func (s *Service) planDue(ctx context.Context, item outbox.Item) outbox.Result {
	event, err := mirror.LoadEvent(ctx, s.Store, item.ID)
	switch {
	case fault.Is(err, fault.NotFound), err == nil && event.PlanAt.IsZero():
		return outbox.Done()
	case err == nil && event.PlanAt.After(s.Now()):
		return outbox.Kept(event.PlanAt)
	case err == nil:
		err = s.planEvent(ctx, event, scheduler.Cause{Trigger: PlanKind, Trace: event.PlanTrace})
	}
	if err != nil && ctx.Err() == nil && !fault.Is(err, fault.Unavailable) {
		s.Log.WarnContext(ctx, "event not planned", "event", event.ID, "trace", event.PlanTrace, "error", err)
		err = s.postpone(ctx, event)
	}
	if err != nil {
		return outbox.Broken(err)
	}
	return outbox.Done()
}

// postpone moves the PlanAt of an event, unless it changed since.
func (s *Service) postpone(ctx context.Context, planned mirror.Event) error {
	return s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		event, err := mirror.LoadEvent(ctx, tx, planned.ID)
		if fault.Is(err, fault.NotFound) {
			return nil
		}
		if err != nil || event.Version != planned.Version || !event.PlanAt.Equal(planned.PlanAt) {
			return err
		}
		return tx.Update(mirror.EventPath(event.ID), store.Set("planAt", s.now().Add(postponed)))
	})
}

// PlanUID decides again about a person's mirrors of one iCalUID, in one transaction. It is
// idempotent: without a change it writes nothing. What it passes over, since the person left a
// group and is still connected to it, has their connections end; somebody whom the web app
// brought back since is planned once more. Unavailable: they left again each time.
func (s *Service) PlanUID(ctx context.Context, ownerID, icalUID string, cause scheduler.Cause) error {
	for range mostReturns {
		former, err := s.planTogether(ctx, ownerID, []string{icalUID}, cause)
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

// planTogether decides again about a person's mirrors of some iCalUIDs, in one transaction that
// reads what they share once. It passes over the events of groups that the person left, and
// returns those groups.
func (s *Service) planTogether(ctx context.Context, ownerID string, icalUIDs []string, cause scheduler.Cause) (former []string, err error) {
	_, err = s.transact(ctx, cause, func(ctx context.Context, tx store.Reader, w *write) error {
		all, err := s.situations(ctx, tx, ownerID, icalUIDs, nil)
		if err != nil {
			return err
		}
		former = nil
		for i := range all {
			former = append(former, all[i].former...)
			w.decide(&all[i])
		}
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
	return s.planEvent(ctx, event, cause)
}

func (s *Service) planEvent(ctx context.Context, event mirror.Event, cause scheduler.Cause) error {
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

// PlanEventSoon has an event planned at its PlanAt, after the transaction that set it. What
// fails is left to the drain.
func (s *Service) PlanEventSoon(ctx context.Context, event mirror.Event) {
	s.Outbox.Soon(ctx, EventKind, event.ID, event.PlanAt)
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
