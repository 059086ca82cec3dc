// Package notify tells people what became of their polls, through channels: the
// app, and Discord with its messages and cards.
//
// The transaction of a transition writes the state to announce
// (announcements/{pollId}). When that is due, the Announcer compares it with the
// state announced before, so a change that was taken back is never announced (see
// rules.Announce). A run takes these steps, and continues those that an earlier
// run did not finish:
//
//	begin    records what is announced now, with the documents of people in the app, or
//	         defers it (pending.go)
//	deliver  sends the message through each other channel and records each delivery
//	         (delivery.go)
//	finish   records the state as announced, in the transaction of the last delivery
//	card     makes the poll's card show the present state (card_draw.go)
//
// The card is no part of the last delivery: a message that was sent would wait unrecorded
// for another call to Discord.
//
// A card that a change of the poll has pending is drawn without an announcement, and stays
// pending until what it shows is recorded.
package notify

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"questscheduler/internal/meter"
	"questscheduler/internal/outbox"
	"questscheduler/internal/poll"
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

// Work is the kind of the outbox that announces what is due of polls and draws their cards.
// Its runs compare the announcement's document in transactions of their own.
func (a *Announcer) Work() outbox.Kind {
	return outbox.Kind{
		Name: poll.AnnounceKind, Does: "announcements and cards", Path: poll.AnnouncementPath, Due: poll.DueAnnouncements, Codec: deliveries,
		Handle: a.handle, Workers: 20, Unclaimed: true,
	}
}

// deliveries is the codec of announcements: due is the earlier of message and card, and not
// before AgainAt.
var deliveries = outbox.Codec{
	Decode: func(doc store.Document) outbox.State {
		a := poll.DecodeAnnouncement(doc)
		state := outbox.State{Due: a.Due, Ref: a.Wanted.Ref, Attempts: a.Failures, Trace: a.Wanted.Trace}
		if state.Due.Before(a.AgainAt) && !state.Due.IsZero() {
			state.Due = a.AgainAt
		}
		if card := a.CardAt(); a.CardPending() && (state.Due.IsZero() || card.Before(state.Due)) {
			state.Due = card
		}
		if a.Failures > 0 {
			state.FailedSince = a.Wanted.At
		}
		return state
	},
	Encode: func(s outbox.State) []store.Update {
		return []store.Update{store.Set("againAt", store.NullIfZero(s.Due))}
	},
}

// retry is how long a poll waits that failed. Discord asks to wait for seconds.
var retry = outbox.Retry{Quota: 5 * time.Second}

const (
	// deliveryLease is how long a delivery keeps other runs away. It outlasts outbox.RunTimeout.
	deliveryLease = 90 * time.Second
	// failureTimeout is how long a run that failed may take to record that.
	failureTimeout = 3 * time.Second
)

// handle announces what is due of a poll and updates its card where that is pending. What failed
// is recorded with a wait that grows; nothing that was done is done again. A final refusal by a
// channel is recorded, and is no failure.
func (a *Announcer) handle(ctx context.Context, item outbox.Item) outbox.Result {
	due, err := a.announce(ctx, item.ID)
	if err == nil {
		return outbox.Kept(due)
	}
	err = fmt.Errorf("poll %s: announce: %w", item.ID, err)
	again, failure := a.recordFailure(ctx, item.ID, err)
	if failure != nil {
		return outbox.Broken(errors.Join(err, failure))
	}
	return outbox.Postponed(again, err)
}

// recordFailure has the next run begin after a wait, or at once where the program's end cancelled
// this one. It gives the zero time where nothing is pending.
func (a *Announcer) recordFailure(ctx context.Context, pollID string, cause error) (again time.Time, err error) {
	stopped := errors.Is(ctx.Err(), context.Canceled)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), failureTimeout)
	defer cancel()
	err = a.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		again = time.Time{}
		announcement, err := poll.LoadAnnouncement(ctx, tx, pollID)
		if err != nil {
			return err
		}
		var begun []store.Update
		if announcement.Due.IsZero() && !announcement.CardPending() {
			failed, isDrawing := errors.AsType[*drawFailure](cause)
			if !isDrawing {
				return nil
			}
			// Another run ended since, and this one's edit may come after that run's.
			begun = announcement.CardBegunUpdates(failed.drawing.Ref, store.Instant(a.Now()))
		}
		if stopped {
			return tx.Merge(poll.AnnouncementPath(pollID), append(begun, poll.ReleaseUpdate())...)
		}
		again = store.Instant(a.Now().Add(retry.Wait(cause, announcement.Failures+1)))
		return tx.Merge(poll.AnnouncementPath(pollID), append(begun, announcement.FailedUpdates(again)...)...)
	})
	return again, err
}

// drawFailure is a failure to draw a card, which may have been edited all the same.
type drawFailure struct {
	drawing Drawing
	error
}

func (e *drawFailure) Unwrap() error { return e.error }

// announce carries out one run, and gives when the next is due; zero: nothing is pending.
func (a *Announcer) announce(ctx context.Context, pollID string) (due time.Time, err error) {
	r, err := a.begin(ctx, pollID, a.Repair != nil)
	if err == nil && r.edited {
		err = a.Repair(ctx, pollID, r.announcement.Wanted.Trace)
		if err == nil {
			r, err = a.begin(ctx, pollID, false) // an edit that cannot be repaired holds up nothing
		}
	}
	if err != nil || r.gone || !r.draws && r.state.Ref == "" {
		return r.due, err
	}
	if r.state.Ref != "" {
		if err := a.deliver(ctx, &r); err != nil {
			return time.Time{}, err
		}
	}
	if r.draws {
		if failure := a.drawCards(ctx, pollID, r.drawing); failure != nil {
			err = &drawFailure{r.drawing, failure}
		}
	}
	return r.due, err
}

func (a *Announcer) drawCards(ctx context.Context, pollID string, drawing Drawing) error {
	recorded := false
	for _, channel := range a.Channels {
		if cards, ok := channel.(CardChannel); ok {
			drawn, err := cards.DrawCard(ctx, pollID, drawing)
			if err != nil {
				return err
			}
			recorded = recorded || drawn.Recorded
			if drawn.Refused != nil {
				a.Meter.Count(ChannelRefused{CardName, drawn.Refused.Code})
			}
		}
	}
	if recorded {
		return nil
	}
	return a.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error { // the card shows the poll already, or it has none
		announcement, err := poll.LoadAnnouncement(ctx, tx, pollID)
		if err != nil {
			return err
		}
		if updates := drawing.done(announcement); updates != nil {
			return tx.Update(poll.AnnouncementPath(pollID), updates...)
		}
		return nil
	})
}

// mayDraw reports whether a poll may have a card that this announcer draws.
func (a *Announcer) mayDraw(p poll.Poll) bool {
	return (p.GroupID != "" || p.Discord.MessageID != "") && slices.ContainsFunc(a.Channels, func(channel Channel) bool {
		cards, ok := channel.(CardChannel)
		return ok && cards.DrawsCards()
	})
}
