package cloudtasks

import (
	"context"

	"cloud.google.com/go/cloudtasks/apiv2/cloudtaskspb"
)

// Answers tells whether Cloud Tasks answers, by one call that lists nothing: what
// is asked each time that somebody asks whether the server can work. Unavailable
// where it does not.
func (q *Queue) Answers(ctx context.Context) error {
	_, err := q.standing(ctx, q.with.Kinds[0])
	return err
}

// Paused gives the kinds whose queue hands nothing over, since somebody paused or
// disabled it, in the order of their names. Unavailable where a queue is not
// there, or Cloud Tasks does not answer.
func (q *Queue) Paused(ctx context.Context) (kinds []string, err error) {
	for _, kind := range q.with.Kinds {
		state, err := q.standing(ctx, kind)
		if err != nil {
			return nil, err
		}
		if state == cloudtaskspb.Queue_PAUSED || state == cloudtaskspb.Queue_DISABLED {
			kinds = append(kinds, kind)
		}
	}
	return kinds, nil
}

func (q *Queue) standing(ctx context.Context, kind string) (cloudtaskspb.Queue_State, error) {
	ctx, cancel := context.WithTimeout(ctx, callPatience)
	defer cancel()
	queue, err := q.client.GetQueue(ctx, &cloudtaskspb.GetQueueRequest{Name: q.queueName(kind)})
	if err != nil {
		return cloudtaskspb.Queue_STATE_UNSPECIFIED, unavailable(err, "ask for the queue "+q.queueName(kind))
	}
	return queue.GetState(), nil
}
