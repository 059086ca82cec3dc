package cloudtasks

import (
	"context"

	"cloud.google.com/go/cloudtasks/apiv2/cloudtaskspb"
	"google.golang.org/api/iterator"
)

// Answers is Unavailable where Cloud Tasks does not answer. It costs one call and lists
// nothing: readiness probes call it.
func (w *Waker) Answers(ctx context.Context) error {
	_, err := w.state(ctx, w.with.Kinds[0])
	return err
}

// Paused returns the kinds whose queue is paused or disabled, in the order of Options.Kinds.
// Unavailable where a queue does not exist, or Cloud Tasks does not answer.
func (w *Waker) Paused(ctx context.Context) (kinds []string, err error) {
	for _, kind := range w.with.Kinds {
		state, err := w.state(ctx, kind)
		if err != nil {
			return nil, err
		}
		if state == cloudtaskspb.Queue_PAUSED || state == cloudtaskspb.Queue_DISABLED {
			kinds = append(kinds, kind)
		}
	}
	return kinds, nil
}

func (w *Waker) state(ctx context.Context, kind string) (cloudtaskspb.Queue_State, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	queue, err := w.client.GetQueue(ctx, &cloudtaskspb.GetQueueRequest{Name: w.queueName(kind)})
	if err != nil {
		return cloudtaskspb.Queue_STATE_UNSPECIFIED, unavailable(err, "ask for the queue "+w.queueName(kind))
	}
	return queue.GetState(), nil
}

// mostListed is the most tasks of a kind that Waiting counts, since Cloud Tasks has no count.
const mostListed = 1000

// Waiting counts the tasks of all kinds that wait or run, at most 1000 of each.
func (w *Waker) Waiting(ctx context.Context) (n int, err error) {
	for _, kind := range w.with.Kinds {
		listed := w.client.ListTasks(ctx, &cloudtaskspb.ListTasksRequest{Parent: w.queueName(kind), PageSize: mostListed})
		for range mostListed {
			_, err := listed.Next()
			if err == iterator.Done { //nolint:errorlint // it is documented to be given as it is
				break
			}
			if err != nil {
				return 0, unavailable(err, "list the tasks of "+w.queueName(kind))
			}
			n++
		}
	}
	return n, nil
}
