// Package documentchanges reacts when somebody may have written a poll's document, slots or
// votes directly: it has poll and event repaired, and the poll's card if it is ours.
//
//	Eventarc, by a route of web-hooks ─┐
//	                                   ├─ Changed → a wake a second and poll → handle → Reconcile, Cards
//	a listener in one instance ────────┘
//
// A change only names a poll. One that is lost, doubled or late changes nothing but the delay,
// since the sweep does the same; so it is recorded nowhere. The repair is itself a document
// change, whose run finds nothing to do.
package documentchanges

import (
	"context"
	"strconv"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/outbox"
	"questscheduler/internal/poll"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// Kind is the kind of the outbox that reconciles a poll after a document change.
const Kind = "document"

const (
	// window is how long the changes of one poll are collected into one run; clockSkew is how
	// far clocks may differ.
	window    = time.Second
	clockSkew = 250 * time.Millisecond
)

// Polls repairs polls (scheduler.Service, or its Observer).
type Polls interface {
	Reconcile(ctx context.Context, pollID string, cause scheduler.Cause) (rules.Repair, error)
}

// Intake accepts document changes and follows them up. All fields but Cards are required.
type Intake struct {
	Outbox *outbox.Outbox
	Polls  Polls
	Now    func() time.Time
	// NewTrace makes the trace of a run.
	NewTrace func() string
	// Cards requests that a poll's card be updated (scheduler.Service.CheckCard); nil if the
	// cards are not ours.
	Cards func(ctx context.Context, pollID string, cause scheduler.Cause) error
}

// Changed wakes a run for a poll whose document may have changed. It begins after this call,
// and collects all changes of a second. An invalid id is ignored. An error means that perhaps
// no run follows.
func (h *Intake) Changed(ctx context.Context, pollID, trace string) error {
	if !isID(pollID) {
		return nil
	}
	h.Outbox.Log.DebugContext(ctx, "document changed", "poll", pollID, "trace", trace)
	over := h.Now().Truncate(window).Add(window)
	return h.Outbox.Waker.Wake(ctx, Kind, pollID, pollID+"/"+strconv.FormatInt(over.Unix(), 10), over.Add(clockSkew))
}

func isID(id string) bool { return poll.Path(id).Valid() == nil }

// Work is the kind of the outbox that follows changes up. Nothing of it is recorded.
func (h *Intake) Work() outbox.Kind {
	return outbox.Kind{Name: Kind, Does: "polls that others may have written", Path: poll.Path, Handle: h.handle, Workers: 20, Unclaimed: true}
}

func (h *Intake) handle(ctx context.Context, item outbox.Item) outbox.Result {
	cause := scheduler.Cause{Trigger: "document", Trace: h.NewTrace()}
	_, err := h.Polls.Reconcile(ctx, item.ID, cause)
	if err == nil && h.Cards != nil {
		err = h.Cards(ctx, item.ID, cause)
	}
	switch {
	case err == nil:
		return outbox.Done()
	case fault.Is(err, fault.Unavailable):
		return outbox.Broken(err)
	default: // the sweep tries again
		return outbox.Failed(err)
	}
}
