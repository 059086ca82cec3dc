package cloudtasks

import (
	"context"
	"slices"
	"time"

	"cloud.google.com/go/cloudtasks/apiv2/cloudtaskspb"
	"google.golang.org/api/iterator"

	"questscheduler/internal/queue"
)

// MaxListed is the most tasks of a kind, and the most dead letters, that Depths counts:
// Cloud Tasks has no count, and lists so many in one call.
const MaxListed = 1000

// keptDepths is a cached answer of Depths.
type keptDepths struct {
	answer []queue.Depth
	until  time.Time
}

// Depths implements queue.Queue. Waiting is at most MaxListed, includes running tasks,
// and may briefly count a postponed task twice. Oldest is that of the listed tasks; a
// failed task is due at its next attempt.
func (q *Queue) Depths(ctx context.Context) ([]queue.Depth, error) {
	now := q.with.Now()
	q.mu.Lock()
	kept := q.depths
	q.mu.Unlock()
	if left := kept.until.Sub(now); left > 0 && left <= q.with.DepthsKept { // a larger rest means that the clock was set back
		return slices.Clone(kept.answer), nil
	}
	depths, err := q.Waiting(ctx)
	if err != nil {
		return nil, err
	}
	letters, err := q.with.Store.Query(ctx, deadLetters.With().First(MaxListed))
	if err != nil {
		return nil, err
	}
	for _, doc := range letters {
		kind, _ := doc.Data["kind"].(string)
		if i := slices.Index(q.with.Kinds, kind); i >= 0 {
			depths[i].Dead++
		}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.depths = keptDepths{answer: slices.Clone(depths), until: now.Add(q.with.DepthsKept)}
	return depths, nil
}

// Waiting is Depths without dead letters, and reads no store.
func (q *Queue) Waiting(ctx context.Context) ([]queue.Depth, error) {
	depths := make([]queue.Depth, len(q.with.Kinds))
	for i, kind := range q.with.Kinds {
		var err error
		if depths[i], err = q.depth(ctx, kind, q.with.Now()); err != nil {
			return nil, err
		}
	}
	return depths, nil
}

func (q *Queue) depth(ctx context.Context, kind string, now time.Time) (queue.Depth, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	depth := queue.Depth{Kind: kind}
	listed := q.client.ListTasks(ctx, &cloudtaskspb.ListTasksRequest{Parent: q.queueName(kind), PageSize: MaxListed})
	for depth.Waiting < MaxListed {
		task, err := listed.Next()
		if err == iterator.Done { //nolint:errorlint // it is documented to be given as it is
			break
		}
		if err != nil {
			return queue.Depth{}, unavailable(err, "list the tasks of "+q.queueName(kind))
		}
		depth.Waiting++
		if due := task.GetScheduleTime().AsTime(); !due.After(now) && (depth.Oldest.IsZero() || due.Before(depth.Oldest)) {
			depth.Oldest = due
		}
	}
	return depth, nil
}

func (q *Queue) forgetDepths() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.depths = keptDepths{}
}
