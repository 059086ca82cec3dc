package attendees

import (
	"context"
	"strconv"
	"time"

	"questscheduler/internal/attendee"
	"questscheduler/internal/store"
	"questscheduler/scheduler"
)

const (
	// drainMost is how many records one drain enqueues.
	drainMost = 500
	// redrain is how long a record that stays due has one task of the drain.
	redrain = 2 * time.Minute
)

// Drain enqueues records that are due and may have no task, those due longest first and at
// most 500, and returns how many it enqueued. Tasks that are queued already absorb the second.
func (s *Service) Drain(ctx context.Context, cause scheduler.Cause) (enqueued int, err error) {
	if s.Observing {
		return 0, nil // records stay due, and their first task said what would be done
	}
	now := s.now()
	records, err := attendee.SomeDue(ctx, s.Store, now, drainMost)
	if err != nil {
		return 0, err
	}
	bucket := "/" + strconv.FormatInt(now.Unix()/int64(redrain/time.Second), 10)
	for _, record := range records {
		task := Task(record, cause.Trace)
		task.Name += bucket // an ended task may hold the name
		created, err := s.Queue.Enqueue(ctx, task)
		if err != nil {
			return enqueued, err
		}
		if created {
			enqueued++
		}
	}
	return enqueued, nil
}

// Keep is how long the record of an event is kept after its end.
const Keep = 90 * 24 * time.Hour

// RemoveEnded removes at most limit records of events that ended longer than Keep ago, in one
// transaction (timers.Cleaning.Remove).
func RemoveEnded(ctx context.Context, documents store.Store, now time.Time, limit int) (removed int, more bool, err error) {
	removed, err = attendee.RemoveEnded(ctx, documents, now.Add(-Keep), limit)
	return removed, removed == limit, err
}
