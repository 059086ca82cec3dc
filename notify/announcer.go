// Package notify tells people what became of their polls, through channels: the
// app, and Discord with its messages and cards.
//
// The transaction of a transition writes the state to announce
// (announcements/{pollId}). When that is due, the Announcer compares it with the
// state announced before, so a change that was taken back is never announced (see
// rules.Announce). A run takes these steps, and continues those that an earlier
// run did not finish:
//
//	begin    records what is announced now, or defers it (pending.go)
//	deliver  sends a message through each channel and records each delivery (delivery.go)
//	finish   records the state as announced
//	card     makes the poll's card show the present state (card_draw.go)
package notify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"questscheduler/internal/fault"
	"questscheduler/internal/meter"
	"questscheduler/internal/poll"
	"questscheduler/internal/queue"
	"questscheduler/internal/store"
)

// Announcer carries out announcements. Store, Now, Channels and Log are needed.
type Announcer struct {
	Store    store.Store
	Now      func() time.Time
	Channels []Channel // deliver each message in this order
	// PerHour limits the notices of a poll in an hour, at least 1; 0: no limit. One
	// notice is at most one message in each channel for each recipient, so the limit
	// holds for both.
	PerHour int
	// Repair applies a direct edit of a poll, as a document change does. It runs
	// before a poll that was edited since is announced, so that a change that was
	// reverted directly is not announced. nil: direct edits are ignored.
	Repair func(ctx context.Context, pollID, trace string) error
	Log    *slog.Logger
	// Meter counts events of meter.go; nil: nothing does.
	Meter meter.Meter
}

type task struct {
	ID    string `json:"id"` // the poll's
	Trace string `json:"trace"`
}

// Handle carries out a task of kind poll.AnnounceKind: it announces what is due of
// the poll and updates its card. A task of a poll without a pending announcement
// updates the card alone; one of a deleted poll does nothing.
//
// Later: the announcement is not due yet, or another became pending during the run.
// A deferred announcement ends Done, since the drain enqueues it when it is due and
// tasks of many changes would wait beside each other. Retry: the store or a channel
// failed; nothing that was done is done again. A final refusal by a channel is
// recorded and does not fail the task. Permanent: the payload names no poll.
func (a *Announcer) Handle(ctx context.Context, delivery queue.Delivery) queue.Verdict {
	var work task
	if err := json.Unmarshal(delivery.Payload, &work); err != nil || strings.Contains(work.ID, "/") || poll.Path(work.ID).Valid() != nil {
		return queue.Verdict{Outcome: queue.Permanent, Err: errors.New("announce: the payload names no poll")}
	}
	verdict, err := a.announce(ctx, work, delivery.Attempt > 1)
	if err == nil {
		return verdict
	}
	err = fmt.Errorf("poll %s: announce: %w", work.ID, err)
	after := fault.RetryAfter(err)
	wait := max(after, queue.Backoff(delivery.Attempt, nil)) + queue.Grace
	return queue.Verdict{Outcome: queue.Retry, After: after, Err: errors.Join(err, a.keepFromDrain(ctx, work.ID, wait))}
}

// keepFromDrain leaves a failed announcement to the retries of its task for a
// while.
func (a *Announcer) keepFromDrain(ctx context.Context, pollID string, wait time.Duration) error {
	return a.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		announcement, err := poll.LoadAnnouncement(ctx, tx, pollID)
		if err != nil || announcement.Due.IsZero() {
			return err
		}
		return tx.Update(poll.AnnouncementPath(pollID), poll.AgainUpdate(store.Instant(a.Now().Add(wait))))
	})
}

// announce is Handle. retried says that an earlier run of the task failed or
// ended without a verdict.
func (a *Announcer) announce(ctx context.Context, work task, retried bool) (queue.Verdict, error) {
	verdict := queue.Verdict{Outcome: queue.Done}
	r, err := a.begin(ctx, work.ID, a.Repair != nil)
	if err == nil && r.edited {
		if err = a.Repair(ctx, work.ID, work.Trace); err == nil {
			r, err = a.begin(ctx, work.ID, false) // an edit that cannot be repaired holds up nothing
		}
	}
	if err != nil || r.gone {
		return verdict, err
	}
	if r.wait > 0 {
		return queue.Verdict{Outcome: queue.Later, After: r.wait}, nil
	}
	if r.state.Ref != "" {
		if verdict, err = a.deliver(ctx, r, work.Trace); err != nil {
			return verdict, err
		}
	}
	return verdict, a.drawCards(ctx, work.ID, retried || r.retried())
}

func (a *Announcer) drawCards(ctx context.Context, pollID string, redraw bool) error {
	for _, channel := range a.Channels {
		if cards, ok := channel.(CardChannel); ok {
			refused, err := cards.DrawCard(ctx, pollID, redraw)
			if err != nil {
				return err
			}
			if refused != nil {
				a.Meter.Count(ChannelRefused{CardName, refused.Code})
			}
		}
	}
	return nil
}
