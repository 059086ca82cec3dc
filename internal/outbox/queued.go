package outbox

import (
	"context"
	"time"

	"questscheduler/internal/queue"
)

// Queued is a Waker by a queue: a task is kind and id alone.
type Queued struct{ Queue queue.Enqueuer }

// Wake implements Waker. A wake further ahead than a queue allows is left to the drain.
func (q Queued) Wake(ctx context.Context, kind, id, name string, at time.Time) error {
	_, err := q.Queue.Enqueue(ctx, queue.Task{Kind: kind, Name: name, Payload: []byte(id), NotBefore: at})
	return err
}

// Handler runs the tasks that Queued made of a kind. What is due soon again keeps its task;
// only where the store did not answer is a task repeated by the queue's own count.
func (o *Outbox) Handler(kind string) queue.Handler {
	return func(ctx context.Context, delivery queue.Delivery) queue.Verdict {
		again, err := o.Run(ctx, kind, string(delivery.Payload))
		switch {
		case err != nil:
			return queue.Verdict{Err: err}
		case again.IsZero():
			return queue.Verdict{Outcome: queue.Done}
		default:
			return queue.Verdict{Outcome: queue.Later, After: max(again.Sub(o.Now()), time.Millisecond)}
		}
	}
}
