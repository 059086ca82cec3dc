// Package documentchanges takes in that somebody may have written a poll's document
// directly, or its slots or votes, and has
// poll and event brought in order, and the poll's card, where it is ours.
//
//	Eventarc, by a route of web-hooks ─┐
//	                                   ├─ Told → a task a second and poll → Handle → Reconcile, Cards
//	a listener in one instance ────────┘
//
// A hint is believed in nothing but which poll it is about. One that is lost,
// doubled or late changes nothing but the delay: the sweep does the same. What is
// written in answer to one is a change of the document too, and so the next hint;
// that one finds everything in order, and writes nothing.
package documentchanges

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/queue"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// Kind is the kind of the tasks that look at a poll's document.
const Kind = "document"

// gather is for how long the hints about one poll are gathered into one task;
// clockSkew is how far the clock of whoever runs it may be ahead.
const (
	gather    = time.Second
	clockSkew = 250 * time.Millisecond
)

// Polls is what sets polls right (scheduler.Service, or its Observer).
type Polls interface {
	Reconcile(ctx context.Context, pollID string, cause scheduler.Cause) (rules.Mending, error)
}

// Hints takes hints in and follows them. Queue, Polls and Now are needed.
type Hints struct {
	Queue queue.Enqueuer
	Polls Polls
	Now   func() time.Time
	// Cards hands over that a poll's card is to show what is true
	// (scheduler.Service.CheckCard); occasion names the hints that it answers. nil
	// where the cards are not ours.
	Cards func(ctx context.Context, pollID, occasion string, cause scheduler.Cause) error
}

// Told hands over that the document of a poll may have been written. After nil
// the poll is looked at, by a task that begins later than this call: all hints of
// a second come together in one, which begins when the second is over. An id that
// is none is nothing to look at. The errors are the queue's.
func (h *Hints) Told(ctx context.Context, pollID, trace string) error {
	if !isID(pollID) {
		return nil
	}
	payload, err := json.Marshal(scheduler.Work{ID: pollID, Trace: trace})
	if err != nil {
		return err
	}
	over := h.Now().Truncate(gather).Add(gather)
	_, err = h.Queue.Enqueue(ctx, queue.Task{
		Kind: Kind, Name: pollID + "/" + strconv.FormatInt(over.Unix(), 10), Payload: payload, NotBefore: over.Add(clockSkew),
	})
	return err
}

// isID tells whether a poll may have an id.
func isID(id string) bool { return poll.Path(id).Valid() == nil }

// Handle looks at the poll of a task: the handler of Kind.
func (h *Hints) Handle(ctx context.Context, delivery queue.Delivery) queue.Verdict {
	var work scheduler.Work
	if err := json.Unmarshal(delivery.Payload, &work); err != nil || !isID(work.ID) {
		return queue.Verdict{Outcome: queue.Permanent, Err: errors.New("the task names no poll")}
	}
	cause := scheduler.Cause{Hint: "document", Trace: work.Trace}
	_, err := h.Polls.Reconcile(ctx, work.ID, cause)
	if err == nil && h.Cards != nil {
		err = h.Cards(ctx, work.ID, delivery.Name, cause)
	}
	if err != nil {
		return queue.Verdict{Err: err}
	}
	return queue.Verdict{Outcome: queue.Done}
}
