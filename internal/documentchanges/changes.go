// Package documentchanges reacts when somebody may have written a poll's document, slots or
// votes directly: it has poll and event repaired, and the poll's card if it is ours.
//
//	Eventarc, by a route of web-hooks ─┐
//	                                   ├─ Changed → a task a second and poll → Handle → Reconcile, Cards
//	a listener in one instance ────────┘
//
// A change only names a poll. One that is lost, doubled or late changes nothing but the delay,
// since the sweep does the same. The repair is itself a document change, whose task finds
// nothing to do.
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

// Kind is the kind of the tasks that reconcile a poll after a document change.
const Kind = "document"

// window is how long a poll's changes are collected into one task; clockSkew is how far
// clocks may differ.
const (
	// window is how long the changes of one poll are collected into one task; clockSkew
	// is how far clocks may differ.
	window    = time.Second
	clockSkew = 250 * time.Millisecond
)

// Polls repairs polls (scheduler.Service, or its Observer).
type Polls interface {
	Reconcile(ctx context.Context, pollID string, cause scheduler.Cause) (rules.Repair, error)
}

// Intake accepts document changes and follows them up. Queue, Polls and Now are required.
type Intake struct {
	Queue queue.Enqueuer
	Polls Polls
	Now   func() time.Time
	// Cards requests that a poll's card be updated (scheduler.Service.CheckCard); nil if the
	// cards are not ours.
	Cards func(ctx context.Context, pollID string, cause scheduler.Cause) error
}

// Changed enqueues a task for a poll whose document may have changed. The task begins after
// this call, and collects all changes of a second. An invalid id is ignored. The errors
// are the queue's.
func (h *Intake) Changed(ctx context.Context, pollID, trace string) error {
	if !isID(pollID) {
		return nil
	}
	payload, err := json.Marshal(task{ID: pollID, Trace: trace})
	if err != nil {
		return err
	}
	over := h.Now().Truncate(window).Add(window)
	_, err = h.Queue.Enqueue(ctx, queue.Task{
		Kind: Kind, Name: pollID + "/" + strconv.FormatInt(over.Unix(), 10), Payload: payload, NotBefore: over.Add(clockSkew),
	})
	return err
}

// task is the payload of a task: the poll whose document changed.
type task struct {
	ID    string `json:"id"`
	Trace string `json:"trace,omitempty"`
}

func isID(id string) bool { return poll.Path(id).Valid() == nil }

// Handle is the handler of Kind.
func (h *Intake) Handle(ctx context.Context, delivery queue.Delivery) queue.Verdict {
	var work task
	if err := json.Unmarshal(delivery.Payload, &work); err != nil || !isID(work.ID) {
		return queue.Verdict{Outcome: queue.Permanent, Err: errors.New("the task names no poll")}
	}
	cause := scheduler.Cause{Trigger: "document", Trace: work.Trace}
	_, err := h.Polls.Reconcile(ctx, work.ID, cause)
	if err == nil && h.Cards != nil {
		err = h.Cards(ctx, work.ID, cause)
	}
	if err != nil {
		return queue.Verdict{Err: err}
	}
	return queue.Verdict{Outcome: queue.Done}
}
