package notify

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"questscheduler/internal/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

// deliver sends the message through every channel that has no delivery of it yet,
// and records the state as announced. due is when the next run is due.
func (a *Announcer) deliver(ctx context.Context, r *run) (due time.Time, err error) {
	p, group, err := loadPoll(ctx, a.Store, r.pollID)
	if fault.Is(err, fault.NotFound) || err == nil && p.ReplacesAnnounced(r.announcement) { // deleted since: the next run finds that
		r.draws = false
		return store.Instant(a.Now()), a.record(ctx, r.pollID, r.state.Ref, func(_ context.Context, tx store.Tx, _ poll.Announcement) error {
			return tx.Update(poll.AnnouncementPath(r.pollID), poll.ReleaseUpdate())
		})
	}
	if err != nil {
		return time.Time{}, err
	}
	message := Message{
		Notice: r.notice, State: r.state, Before: r.announcement.Announced, Poll: p, Group: group, Named: r.announcement.Named, Retry: r.retried(),
	}
	for _, channel := range a.Channels {
		if r.announcement.Channels[channel.Name()].Ref != r.state.Ref && err == nil {
			err = a.deliverTo(ctx, channel, message)
		}
	}
	if err == nil {
		due, err = a.finish(ctx, r, a.mayDraw(p))
	}
	if errors.Is(err, errOvertaken) {
		r.draws = false
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, err
	}
	if !r.announcement.Resent { // it was counted when it was announced first
		a.Meter.Count(Announced{r.notice, a.Now().Sub(r.state.At)})
	}
	a.Log.InfoContext(ctx, "announced", slog.String("poll", r.pollID), slog.String("notice", string(r.notice)),
		slog.String("ref", r.state.Ref), slog.String("trace", r.state.Trace),
		slog.Bool("resumed", r.retried()), slog.Bool("resent", r.announcement.Resent))
	return due, nil
}

func (a *Announcer) deliverTo(ctx context.Context, channel Channel, message Message) error {
	receipt, err := channel.Deliver(ctx, message)
	if errors.Is(err, ErrNoRecipient) {
		return nil
	}
	if err != nil {
		return err
	}
	delivery := poll.Delivery{Ref: message.State.Ref, MessageID: receipt.MessageID, At: store.Instant(a.Now())}
	if receipt.Refused != nil {
		delivery.Error = receipt.Refused.Message
		a.Meter.Count(ChannelRefused{channel.Name(), receipt.Refused.Code})
	}
	return a.record(ctx, message.Poll.ID, message.State.Ref, func(ctx context.Context, tx store.Tx, announcement poll.Announcement) error {
		if receipt.Record != nil {
			if err := receipt.Record(ctx, tx, announcement, delivery); err != nil {
				return err
			}
		}
		return tx.Update(poll.AnnouncementPath(message.Poll.ID), poll.DeliveryUpdate(channel.Name(), delivery))
	})
}

// errOvertaken says that another run finished the announcement concurrently.
var errOvertaken = errors.New("another run finished the announcement")

// record writes while the announcement of ref is under way, and fails with
// errOvertaken otherwise. write may read first.
func (a *Announcer) record(ctx context.Context, pollID, ref string, write func(context.Context, store.Tx, poll.Announcement) error) error {
	return a.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		announcement, err := poll.LoadAnnouncement(ctx, tx, pollID)
		if err != nil {
			return err
		}
		if announcement.Delivering.Ref != ref {
			return errOvertaken
		}
		return write(ctx, tx, announcement)
	})
}

// finish records the state as announced, and that the run draws the card, which is pending until
// it did. due is when to announce a state that became pending during the run.
func (a *Announcer) finish(ctx context.Context, r *run, draws bool) (due time.Time, err error) {
	err = a.record(ctx, r.pollID, r.state.Ref, func(_ context.Context, tx store.Tx, announcement poll.Announcement) error {
		settled := announcement.Wanted.Ref == r.state.Ref
		if due = (time.Time{}); !settled {
			due = announcement.Due
		}
		// The stored state, since its generation may have changed during the run.
		updates := poll.AnnouncedUpdates(announcement.Delivering, settled)
		if draws {
			updates = append(updates, r.begin(announcement, r.state.Ref)...)
		}
		return tx.Update(poll.AnnouncementPath(r.pollID), updates...)
	})
	return due, err
}

func loadPoll(ctx context.Context, reader store.Reader, pollID string) (p poll.Poll, group *poll.Group, err error) {
	if p, err = poll.Load(ctx, reader, pollID); err != nil {
		return p, nil, err
	}
	group, err = poll.LoadGroup(ctx, reader, p.GroupID)
	return p, group, err
}
