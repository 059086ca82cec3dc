package notify

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

// open begins to deliver a message, or goes on with it: in the transaction of tx it writes the
// documents of the channels that have such, with their deliveries, and leaves the others in
// r.left. It gives the announcement's fields: those that keep other runs away, or where no
// channel is left, those that finish it.
func (a *Announcer) open(ctx context.Context, tx store.Tx, r *run) (updates []store.Update, err error) {
	group, err := poll.LoadGroup(ctx, tx, r.poll.GroupID)
	if err != nil {
		return nil, err
	}
	r.message = Message{
		Notice: r.notice, State: r.state, Before: r.announcement.Announced, Poll: r.poll, Group: group,
		Named: r.announcement.Named, Retry: r.retried(),
	}
	var missing []store.Document
	for _, channel := range a.Channels {
		if r.announcement.Channels[channel.Name()].Ref == r.state.Ref || !channel.Reaches(r.message) {
			continue
		}
		var documents *Documents
		if inStore, ok := channel.(DocumentChannel); ok {
			documents, err = inStore.Documents(ctx, tx, r.message)
			if err != nil {
				return nil, err
			}
		}
		if documents == nil {
			r.left = append(r.left, channel)
			continue
		}
		missing = append(missing, documents.Missing...)
		updates = append(updates, documents.Updates...)
		updates = append(updates, poll.DeliveryUpdate(channel.Name(), poll.Delivery{Ref: r.state.Ref, At: store.Instant(a.Now())}))
	}
	if err := create(tx, missing); err != nil {
		return nil, err
	}
	if len(r.left) == 0 {
		return append(updates, a.finish(r, r.announcement, r.state)...), nil
	}
	r.until = store.Instant(a.Now().Add(deliveryLease))
	return append(updates, poll.DeliveryUpdates(r.state, r.announcement.Attempts+1, r.until)...), nil
}

// deliver sends the message through the channels that are left, after which the state is
// recorded as announced. A channel that fails delays no other: the next run is for it alone.
// Nothing more is sent where another run finished the announcement concurrently, or may have
// begun to since this one was held up.
func (a *Announcer) deliver(ctx context.Context, r *run) error {
	var failed error // of the first channel that did
	for i, channel := range r.left {
		unsent, err := a.deliverTo(ctx, r, channel, failed == nil && i == len(r.left)-1)
		if failed == nil {
			failed = unsent
		}
		switch {
		case errors.Is(err, errOvertaken):
			r.draws, r.due = false, time.Time{}
			return nil
		case errors.Is(err, errHeldUp):
			r.draws, r.due = false, r.until
			return nil
		case err != nil:
			return err
		}
	}
	if failed != nil {
		return failed
	}
	if !r.announcement.Resent { // it was counted when it was announced first
		a.Meter.Count(Announced{r.notice, a.Now().Sub(r.state.At)})
	}
	a.Log.InfoContext(ctx, "announced", slog.String("poll", r.pollID), slog.String("notice", string(r.notice)),
		slog.String("ref", r.state.Ref), slog.String("trace", r.state.Trace),
		slog.Bool("resumed", r.retried()), slog.Bool("resent", r.announcement.Resent))
	return nil
}

// errOvertaken says that another run finished the announcement concurrently.
var errOvertaken = errors.New("another run finished the announcement")

// errHeldUp says that a run stood still for so long that another one may deliver its message.
// Both would send it: Discord knows a message's nonce for some minutes only.
var errHeldUp = errors.New("the run was held up, and another one may go on with it")

// deliverTo sends the message through a channel and records that, with the last one that the
// state is announced. unsent is the channel's error.
func (a *Announcer) deliverTo(ctx context.Context, r *run, channel Channel, last bool) (unsent, err error) {
	if !a.Now().Before(r.until) {
		return nil, errHeldUp
	}
	receipt, unsent := channel.Deliver(ctx, r.message)
	if unsent != nil {
		return unsent, nil
	}
	delivery := poll.Delivery{Ref: r.state.Ref, MessageID: receipt.MessageID, At: store.Instant(a.Now())}
	if receipt.Refused != nil {
		delivery.Error = receipt.Refused.Message
		a.Meter.Count(ChannelRefused{channel.Name(), receipt.Refused.Code})
	}
	return nil, a.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		announcement, err := poll.LoadAnnouncement(ctx, tx, r.pollID)
		if err != nil {
			return err
		}
		if announcement.Delivering.Ref != r.state.Ref {
			return errOvertaken
		}
		if receipt.Record != nil {
			if err := receipt.Record(ctx, tx, announcement, delivery); err != nil {
				return err
			}
		}
		updates := []store.Update{poll.DeliveryUpdate(channel.Name(), delivery)}
		if last { // the stored state, since its generation may have changed during the run
			updates = append(updates, a.finish(r, announcement, announcement.Delivering)...)
		}
		return tx.Update(poll.AnnouncementPath(r.pollID), updates...)
	})
}

// finish gives the fields that record a state as announced, and that the run draws the card,
// which is pending until it did. r.due becomes when to announce a state that became pending
// during the run.
func (a *Announcer) finish(r *run, announcement poll.Announcement, state poll.Message) []store.Update {
	settled := announcement.Wanted.Ref == state.Ref
	r.due = (time.Time{})
	if !settled {
		r.due = announcement.Due
	}
	updates := poll.AnnouncedUpdates(state, settled)
	if a.mayDraw(r.poll) {
		updates = append(updates, r.begin(announcement, state.Ref, store.Instant(a.Now()))...)
	}
	return updates
}
