package cloudtasks

import (
	"context"
	"slices"
	"time"

	"cloud.google.com/go/cloudtasks/apiv2/cloudtaskspb"
	"google.golang.org/api/iterator"

	"questscheduler/internal/queue"
)

// MaxListed is how many tasks of a kind, and how many dead letters of all, Depths
// counts at most: so many are listed in one call, and how many there are Cloud
// Tasks does not say otherwise.
const MaxListed = 1000

// keptDepths is the latest answer of Depths; guarded by Queue.mu.
type keptDepths struct {
	answer []queue.Depth
	until  time.Time
}

// Depths tells the state of each kind's queue, by kind; see queue.Queue. Waiting
// is MaxListed where there are that many or more; tasks that are being run count
// too, and one that was put off may for a moment count twice. Oldest is of those
// that were listed, and of a task that failed it is when it is to be tried again.
func (q *Queue) Depths(ctx context.Context) ([]queue.Depth, error) {
	now := q.with.Now()
	q.mu.Lock()
	kept := q.depths
	q.mu.Unlock()
	if left := kept.until.Sub(now); left > 0 && left <= q.with.DepthsKept { // further ahead: the clock was set back
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

// depth counts the tasks of one kind.
func (q *Queue) depth(ctx context.Context, kind string, now time.Time) (queue.Depth, error) {
	ctx, cancel := context.WithTimeout(ctx, callPatience)
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

// forgetDepths has Depths look again.
func (q *Queue) forgetDepths() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.depths = keptDepths{}
}
