package mirrors

import (
	"context"
	"strconv"
	"time"

	"questscheduler/internal/mirror"
	"questscheduler/scheduler"
)

// Drained counts what a drain enqueued.
type Drained struct {
	People int // whose events must be planned again
	Events int // whose PlanAt has come
}

const (
	// planAgain is how long a drain takes a task of its own for granted before it enqueues
	// another one for the same work.
	planAgain = 5 * time.Minute
	// mostEvents is how many events a drain enqueues.
	mostEvents = 500
)

// Drain enqueues planning that was committed and may not have been enqueued, and events
// whose PlanAt has come. Tasks that are done or queued already absorb the second. The
// writer's own Drain does that for mirrors.
func (s *Service) Drain(ctx context.Context, cause scheduler.Cause) (drained Drained, err error) {
	now := s.Now()
	// A name of its own each time: one that an ended task still holds must not keep its
	// document waiting.
	bucket := "/" + strconv.FormatInt(now.Unix()/int64(planAgain/time.Second), 10)
	for person, err := range mirror.PeoplePending(ctx, s.Store) {
		if err != nil {
			return drained, err
		}
		task := personTask(person.OwnerID, person.PlanGeneration, cause.Trace)
		task.Name += bucket
		if _, err := s.Queue.Enqueue(ctx, task); err != nil {
			return drained, err
		}
		drained.People++
	}
	for event, err := range mirror.ToPlan(ctx, s.Store, now) {
		if err != nil || drained.Events == mostEvents {
			return drained, err
		}
		task := eventTask(event, cause.Trace)
		task.Name += bucket
		if _, err := s.Queue.Enqueue(ctx, task); err != nil {
			return drained, err
		}
		drained.Events++
	}
	return drained, nil
}
