package cloudtasks

import (
	"context"

	"cloud.google.com/go/cloudtasks/apiv2/cloudtaskspb"
)

// Answers is Unavailable where Cloud Tasks does not answer. It costs one call and lists
// nothing: readiness probes call it.
func (q *Queue) Answers(ctx context.Context) error {
	_, err := q.state(ctx, q.with.Kinds[0])
	return err
}

// Paused returns the kinds whose queue is paused or disabled, sorted. Unavailable where
// a queue does not exist, or Cloud Tasks does not answer.
func (q *Queue) Paused(ctx context.Context) (kinds []string, err error) {
	for _, kind := range q.with.Kinds {
		state, err := q.state(ctx, kind)
		if err != nil {
			return nil, err
		}
		if state == cloudtaskspb.Queue_PAUSED || state == cloudtaskspb.Queue_DISABLED {
			kinds = append(kinds, kind)
		}
	}
	return kinds, nil
}

func (q *Queue) state(ctx context.Context, kind string) (cloudtaskspb.Queue_State, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	queue, err := q.client.GetQueue(ctx, &cloudtaskspb.GetQueueRequest{Name: q.queueName(kind)})
	if err != nil {
		return cloudtaskspb.Queue_STATE_UNSPECIFIED, unavailable(err, "ask for the queue "+q.queueName(kind))
	}
	return queue.GetState(), nil
}
