package calendarsync

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"questscheduler/fault"
	"questscheduler/internal/calendars"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// Ensure opens a watch channel for a calendar unless a live one pushes to our address and
// needs no renewal. Older channels are stopped after the new one lives, so there is no
// gap; of channels opened concurrently by several processes the same one survives. After
// an error, live channels remain and Retry tries again; its code is CodeStillWatched if a
// channel suffices for now. Conflict: Google grants channels for so short a time that
// they end before a renewal is allowed.
func (w *Watcher) Ensure(ctx context.Context, accountID, calendarID string) error {
	_, err := w.ensure(ctx, accountID, calendarID)
	return calendarError(calendarID, "watch", err)
}

// ensure is Ensure, and reports whether it opened a channel.
func (w *Watcher) ensure(ctx context.Context, accountID, calendarID string) (opened bool, err error) {
	if w.Address == "" {
		return false, nil
	}
	watches, err := Watches(ctx, w.Store, accountID, calendarID)
	if err != nil {
		return false, err
	}
	kept := w.current(watches)
	if kept.ChannelID == "" || w.renewalDue(kept) {
		granted, err := w.open(ctx, accountID, calendarID, false)
		if err != nil {
			return false, stillWatched(kept, err)
		}
		opened = granted.ChannelID != ""
	}
	if !opened {
		return false, w.shortGrants(kept, watches)
	}
	watches, err = Watches(ctx, w.Store, accountID, calendarID)
	if err != nil {
		return true, err
	}
	kept = w.current(watches)
	for _, old := range watches {
		if w.replaces(kept, old) {
			w.retire(ctx, old)
		}
	}
	if err := w.shortGrants(kept, watches); err != nil {
		return true, err
	}
	return true, w.clearWatchFailed(ctx, accountID, calendarID)
}

// stillWatched sets the code of a failed renewal if the channel to be renewed is still active,
// and not for minutes only.
func stillWatched(kept Watch, err error) error {
	if kept.ChannelID == "" || kept.Brief() {
		return err
	}
	return &fault.Error{Kind: fault.KindOf(err), Code: scheduler.CodeStillWatched, RetryAfter: fault.RetryAfter(err), Err: err}
}

// Watched reports whether a calendar has a live watch channel; if not, Ensure opens one.
// It does not ask Google.
func (w *Watcher) Watched(ctx context.Context, accountID, calendarID string) (bool, error) {
	watches, err := Watches(ctx, w.Store, accountID, calendarID)
	return slices.ContainsFunc(watches, w.isLive), calendarError(calendarID, "watch channels", err)
}

// Follow carries out a changed interest in a calendar (calendars.Calendar.Want) after its
// commit: a calendar that something follows gets a watch channel and its pending sync run,
// one that nothing follows loses its channels. It is idempotent. What fails is retried by
// the drain, the sweep and the renewal, and what a crash prevents is done by them.
func (w *Watcher) Follow(ctx context.Context, accountID, calendarID string, _ scheduler.Cause) error {
	calendar, ok, err := calendars.Load(ctx, w.Store, accountID, calendarID)
	switch {
	case err != nil || !ok || calendar.Wanted() && calendar.Revoked():
		return err // Links watches it when the account is relinked
	case calendar.Wanted():
		failure := w.Ensure(ctx, accountID, calendarID)
		if calendar.SyncPending {
			w.Outbox.Soon(ctx, calendars.SyncKind, calendar.Key, w.Now())
		}
		return failure
	}
	watches, err := Watches(ctx, w.Store, accountID, calendarID)
	if err == nil {
		_, err = w.releaseAll(ctx, watches)
	}
	return err
}

// releaseAll stops the channels of a calendar unless something follows it.
func (w *Watcher) releaseAll(ctx context.Context, watches []Watch) (stopped int, err error) {
	for _, watch := range watches {
		unneeded, err := w.release(ctx, watch)
		if err != nil {
			return stopped, err
		}
		if unneeded && w.retire(ctx, watch) {
			stopped++
		}
	}
	return stopped, nil
}

// release marks a channel superseded if nothing follows its calendar, so that it can be
// stopped. It reads the calendar in the same transaction. A concurrent finalisation
// writes the calendar before it calls Ensure (as does who calls Follow): either its interest is found here, or it
// finds the channel superseded and opens another.
func (w *Watcher) release(ctx context.Context, watch Watch) (unneeded bool, err error) {
	w.cache.drop(watch.ChannelID)
	err = w.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		unneeded = false
		calendar, _, err := calendars.LoadKey(ctx, tx, watch.CalendarKey)
		if err != nil || calendar.Wanted() {
			return err
		}
		doc, err := tx.Get(ctx, watchPath(watch.ChannelID))
		if err != nil {
			return err
		}
		unneeded = true
		now := decodeWatch(doc)
		to, changes := now.Status.Next(Superseded)
		if !changes || to == Stopped || !now.Expiration.After(w.Now()) {
			return nil // already out of use
		}
		return tx.Update(doc.Path, poll.Set("status", string(to)), poll.Set("updatedAt", w.Now()), poll.Set("nextTry", nil))
	})
	return unneeded, err
}

// retire stops a channel if it can; the next sweep or renewal tries again.
func (w *Watcher) retire(ctx context.Context, watch Watch) (stopped bool) {
	err := w.stop(ctx, watch)
	if err != nil {
		w.Log.WarnContext(ctx, "a watch channel could not be stopped yet", "channel", watch.ChannelID,
			"calendar", watch.CalendarID, "error", err)
	}
	return err == nil
}

// stop ends a channel as far as possible, and deletes its document once it is stopped. A
// channel that Google may have opened without our learning its resource id cannot be
// stopped: it stays until its end, or until its first push names the id.
func (w *Watcher) stop(ctx context.Context, watch Watch) error {
	switch {
	case !watch.Expiration.After(w.Now()):
		return w.record(ctx, watch.ChannelID, Ended)
	case watch.Status == Expired:
		return nil
	case watch.ResourceID != "":
		if err := w.record(ctx, watch.ChannelID, Superseded); err != nil {
			return err
		}
		if err := w.Google.StopWatch(ctx, watch.AccountID, watch.ChannelID, watch.ResourceID); err != nil {
			return err
		}
		w.Meter.Count(WatchStopped{})
		return w.record(ctx, watch.ChannelID, Closed)
	case watch.mayBeOpen():
		return w.change(ctx, watch.ChannelID, cancelRetry)
	default:
		return w.record(ctx, watch.ChannelID, Superseded)
	}
}

// StopAll stops every channel that may be live, for a process that will not be reachable
// again. It tries all and joins the errors.
func (w *Watcher) StopAll(ctx context.Context) error {
	watches, err := ByStatus(ctx, w.Store, 0, Pending, Active, Retiring)
	failures := []error{err}
	for _, watch := range watches {
		if err := w.stop(ctx, watch); err != nil {
			failures = append(failures, fmt.Errorf("channel %s: %w", watch.ChannelID, err))
		}
	}
	return errors.Join(failures...)
}

// clearWatchFailed clears watch_failed on a calendar's polls once its channel lives
// again.
func (w *Watcher) clearWatchFailed(ctx context.Context, accountID, calendarID string) error {
	entries := func(ctx context.Context, do func(poll.IndexEntry) error) error {
		return eachEntry(ctx, w.Store, accountID, calendarID, do)
	}
	err := eachError(ctx, w.Store, entries, func(pollID string, code rules.ErrorCode) error {
		if code != rules.WatchFailed {
			return nil
		}
		return w.Polls.ClearSyncError(ctx, pollID, code, scheduler.Cause{Trigger: "watch"}, nil)
	})
	return calendarError(calendarID, "clear watch_failed", err)
}

// calendarError adds the calendar and the attempted step to an error.
func calendarError(calendarID, doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("calendar %s: %s: %w", calendarID, doing, err)
}
