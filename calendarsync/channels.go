package calendarsync

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"questscheduler/cursor"
	"questscheduler/fault"
	"questscheduler/gcal"
	"questscheduler/poll"
	"questscheduler/rules"
	"questscheduler/scheduler"
	"questscheduler/store"
)

// Ensure makes a watch channel for a calendar unless one lives that pushes to
// our address and lasts beyond RenewBefore. Older ones are stopped once the new
// one is active, so there is no gap. An error leaves what lives as it is.
func (w *Watcher) Ensure(ctx context.Context, accountID, calendarID string) error {
	if w.Address == "" {
		return nil
	}
	watches, err := watchesOf(ctx, w.Store, accountID, calendarID)
	if err != nil {
		return calendarError(calendarID, "watch", err)
	}
	if slices.ContainsFunc(watches, w.lives) {
		return nil
	}
	if err := w.open(ctx, accountID, calendarID); err != nil {
		return calendarError(calendarID, "watch", err)
	}
	for _, old := range watches {
		w.retire(ctx, old)
	}
	return w.clearWatchFailed(ctx, accountID, calendarID)
}

// lives tells whether a channel can be counted on.
func (w *Watcher) lives(watch Watch) bool {
	return watch.Status == Active && watch.Address == w.Address && watch.Expiration.After(w.Now().Add(w.RenewBefore))
}

// open makes a channel: written as pending first, so that its first push is
// known and a crash leaves something to stop; then asked for; then active.
func (w *Watcher) open(ctx context.Context, accountID, calendarID string) error {
	token, err := w.NewToken()
	if err != nil {
		return err
	}
	now := w.Now()
	watch := Watch{
		ChannelID: w.NewUUID(), CalendarID: calendarID, AccountID: accountID,
		CalendarKey: poll.CalendarKey(accountID, calendarID), Address: w.Address,
		TokenHash: hashToken(token), Expiration: now.Add(w.TTL), Status: Pending, CreatedAt: now, UpdatedAt: now,
	}
	err = w.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		calendar, _, err := cursor.LoadKey(ctx, tx, watch.CalendarKey)
		if err != nil {
			return err
		}
		watch.UserID = calendar.OwnerID
		return tx.Create(watchPath(watch.ChannelID), encodeWatch(watch))
	})
	if err != nil {
		return err
	}
	channel, err := w.Google.Watch(ctx, gcal.Ref{Account: accountID, Calendar: calendarID}, gcal.WatchRequest{
		ID: watch.ChannelID, Token: token, Address: w.Address, TTL: w.TTL,
	})
	if err != nil {
		return errors.Join(err, w.setStatus(ctx, watch.ChannelID, Failed, poll.Set("reason", fault.KindOf(err).String())))
	}
	return w.setStatus(ctx, watch.ChannelID, Active,
		poll.Set("resourceId", channel.ResourceID), poll.Set("expiration", channel.Expiration))
}

// setStatus writes where a channel stands; one whose document is gone is gone.
func (w *Watcher) setStatus(ctx context.Context, channelID string, status Status, more ...store.Update) error {
	w.known.forget(channelID)
	updates := append(more, poll.Set("status", string(status)), poll.Set("updatedAt", w.Now()))
	err := w.Store.Run(ctx, func(_ context.Context, tx store.Tx) error {
		return tx.Update(watchPath(channelID), updates...)
	})
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	return err
}

// retire stops a channel, best effort: what cannot be stopped now is retiring,
// and the next renewal tries again. A stopped channel's document goes.
func (w *Watcher) retire(ctx context.Context, watch Watch) (stopped bool) {
	err := w.stop(ctx, watch)
	if err != nil {
		w.Log.WarnContext(ctx, "a watch channel could not be stopped yet", "channel", watch.ChannelID,
			"calendar", watch.CalendarID, "error", err)
	}
	return err == nil
}

func (w *Watcher) stop(ctx context.Context, watch Watch) error {
	if watch.ResourceID != "" && watch.Expiration.After(w.Now()) {
		if err := w.setStatus(ctx, watch.ChannelID, Retiring); err != nil {
			return err
		}
		if err := w.Google.StopWatch(ctx, watch.AccountID, watch.ChannelID, watch.ResourceID); err != nil {
			return err
		}
	}
	w.known.forget(watch.ChannelID)
	return w.Store.Run(ctx, func(_ context.Context, tx store.Tx) error {
		return tx.Delete(watchPath(watch.ChannelID))
	})
}

// StopAll stops every channel that may live: for a process that will not be
// reached again. All are tried; the errors are joined.
func (w *Watcher) StopAll(ctx context.Context) error {
	docs, err := w.Store.Query(ctx, watchesByStatus.With([]string{string(Pending), string(Active), string(Retiring)}))
	if err != nil {
		return err
	}
	var failures []error
	for _, doc := range docs {
		watch := decodeWatch(doc)
		if err := w.stop(ctx, watch); err != nil {
			failures = append(failures, fmt.Errorf("channel %s: %w", watch.ChannelID, err))
		}
	}
	return errors.Join(failures...)
}

// clearWatchFailed takes watch_failed off the polls of a calendar whose channel
// lives again.
func (w *Watcher) clearWatchFailed(ctx context.Context, accountID, calendarID string) error {
	err := eachEntry(ctx, w.Store, accountID, calendarID, func(entry poll.IndexEntry) error {
		return w.Polls.ClearSyncError(ctx, entry.PollID, rules.WatchFailed, scheduler.Cause{Hint: "watch"})
	})
	return calendarError(calendarID, "clear watch_failed", err)
}

// calendarError gives an error its place.
func calendarError(calendarID, doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("calendar %s: %s: %w", calendarID, doing, err)
}
