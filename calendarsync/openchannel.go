package calendarsync

import (
	"context"
	"errors"
	"slices"
	"time"

	"questscheduler/internal/calendars"
	"questscheduler/internal/fault"
	"questscheduler/internal/gcal"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/scheduler"
)

const (
	// answerWithin is how long a channel waits for Google's answer before
	// another is tried in its place.
	answerTimeout = time.Minute
	// tryMost is the longest wait before another try.
	maxRetryWait = 6 * time.Hour
)

// waitAfter is how long the next try waits after that many failures in a row.
func retryWait(failures int64) time.Duration {
	wait := answerTimeout
	for n := int64(1); n < failures && wait < maxRetryWait; n++ {
		wait *= 2
	}
	return min(wait, maxRetryWait)
}

// open makes a channel: written as pending first, so that its first push is
// known and a crash leaves something to stop; then asked for; then active.
// Where it is not granted, it takes the place of those that failed before it.
// The zero watch: none is opened now (barred), unless an operator forces it.
func (w *Watcher) open(ctx context.Context, accountID, calendarID string, forced bool) (Watch, error) {
	id := w.NewUUID()
	token, err := w.Tokens.ChannelToken(id)
	if err != nil {
		return Watch{}, err
	}
	watch, before, err := w.create(ctx, accountID, calendarID, id, token, forced)
	if err != nil || watch.ChannelID == "" {
		return Watch{}, err
	}
	channel, err := w.Google.Watch(ctx, gcal.Ref{Account: accountID, Calendar: calendarID}, gcal.WatchRequest{
		ID: id, Token: token, Address: w.Address, TTL: w.TTL,
	})
	w.meter().WatchAsked(slices.ContainsFunc(before, w.isLive), err)
	if err == nil {
		watch.GrantedAt, watch.Expiration, watch.ResourceID = w.Now(), channel.Expiration, channel.ResourceID
		return watch, w.record(ctx, watch.ChannelID, Answered, poll.Set("resourceId", watch.ResourceID),
			poll.Set("grantedAt", watch.GrantedAt), poll.Set("expiration", watch.Expiration),
			poll.Set("nextTry", w.renewAt(watch)), poll.Set("failures", 0))
	}
	failures := []error{err, w.record(ctx, watch.ChannelID, Refused, poll.Set("reason", fault.KindOf(err).String()),
		poll.Set("nextTry", w.Now().Add(max(retryWait(watch.Failures), fault.RetryAfter(err)))))}
	for _, old := range before {
		if old.Status == Failed || old.Status == Pending && old.CreatedAt.Before(w.Now().Add(-answerTimeout)) {
			failures = append(failures, w.stop(ctx, old))
		}
	}
	return Watch{}, errors.Join(failures...)
}

// endedKept is how many channels that ended a calendar keeps, as a record:
// where Google grants them for minutes, there would be thousands.
const maxEnded = 10

// write writes a channel that is about to be asked for, and gives those of before.
// Should nobody live to hear the answer, it says itself when another is to be
// tried. That no other is on its way is looked up where it is written, so of two
// processes one writes. The zero watch: none is opened now.
func (w *Watcher) create(ctx context.Context, accountID, calendarID, id, token string, forced bool) (watch Watch, before []Watch, err error) {
	now := w.Now()
	err = w.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		watch = Watch{}
		calendar, _, err := calendars.LoadKey(ctx, tx, poll.CalendarKey(accountID, calendarID))
		if err != nil {
			return err
		}
		before, err = Watches(ctx, tx, accountID, calendarID)
		if err != nil || !forced && w.blocked(before) {
			return err
		}
		watch = Watch{
			ChannelID: id, CalendarID: calendarID, AccountID: accountID, CalendarKey: calendar.Key, UserID: calendar.OwnerID,
			Address: w.Address, TokenHash: hashToken(token), Expiration: now.Add(w.TTL), Failures: 1, NextTry: now.Add(answerTimeout),
			CreatedAt: now, UpdatedAt: now,
		}
		watch.Status, _ = watch.Status.Next(Asked)
		for _, old := range before {
			watch.Failures = max(watch.Failures, old.Failures+1)
		}
		for _, old := range surplusEnded(before) {
			if err := tx.Delete(watchPath(old.ChannelID)); err != nil {
				return err
			}
		}
		return tx.Create(watchPath(id), encodeWatch(watch))
	})
	return watch, before, err
}

// longEnded are the channels that ended before endedKept others did.
func surplusEnded(watches []Watch) []Watch {
	ended := slices.DeleteFunc(slices.Clone(watches), func(watch Watch) bool {
		_, forgets := watch.Status.Next(Forgotten)
		return !forgets
	})
	slices.SortFunc(ended, func(a, b Watch) int { return b.Expiration.Compare(a.Expiration) })
	return ended[min(maxEnded, len(ended)):]
}

// note writes down what happened to a channel, with more that is known by it.
// What changes nothing (Transitions) is not written, and a channel whose document
// is gone is gone.
func (w *Watcher) record(ctx context.Context, channelID string, event Happening, more ...store.Update) error {
	return w.recordWhile(ctx, channelID, event, func(context.Context, store.Reader) error { return nil }, more...)
}

// noteWhile is note where what it goes by has to stand still; its error is given.
func (w *Watcher) recordWhile(ctx context.Context, channelID string, event Happening, while scheduler.While, more ...store.Update) error {
	w.cache.drop(channelID)
	return w.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		if err := while(ctx, tx); err != nil {
			return err
		}
		doc, err := tx.Get(ctx, watchPath(channelID))
		if err != nil || !doc.Exists() {
			return err
		}
		to, changes := decodeWatch(doc).Status.Next(event)
		switch {
		case to == Stopped:
			return tx.Delete(doc.Path)
		case !changes && event != Answered: // an answer that comes late still says what it is stopped by
			return nil
		}
		updates := append([]store.Update{poll.Set("status", string(to)), poll.Set("updatedAt", w.Now())}, more...)
		if to == Retiring || to == Expired { // no other is tried in the place of one that is counted on no more
			updates = append(slices.DeleteFunc(updates, isNextTry), poll.Set("nextTry", nil))
		}
		return tx.Update(doc.Path, updates...)
	})
}

func isNextTry(update store.Update) bool { return update.Path.String() == "nextTry" }

// change writes to a channel's document what depends on how it stands; one that
// is gone is gone.
func (w *Watcher) change(ctx context.Context, channelID string, updates func(Watch) []store.Update) error {
	return w.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		doc, err := tx.Get(ctx, watchPath(channelID))
		if err != nil || !doc.Exists() {
			return err
		}
		changed := updates(decodeWatch(doc))
		if len(changed) == 0 {
			return nil
		}
		return tx.Update(doc.Path, changed...)
	})
}

// retryPage is how many channels are tried again at a time.
const retryPage = 50

// Retry tries another channel in the place of those that failed, or never had an
// answer, or are due to be renewed, and whose time for it has come
// (Watch.NextTry): none of them need wait for the sweep or the renewal of the day.
// It gives how many calendars it tried, which are bounded; one failure does not
// stop the others, and those that there was no time for are tried next time.
func (w *Watcher) Retry(ctx context.Context, cause scheduler.Cause) (tried int, err error) {
	docs, err := w.Store.Query(ctx, watchesToTry.With(w.Now()).First(retryPage))
	if err != nil {
		return 0, err
	}
	met := map[string]bool{}
	until := w.Now().Add(batchTime)
	for _, doc := range docs {
		if tried > 0 && !w.Now().Before(until) {
			break
		}
		watch := decodeWatch(doc)
		if met[watch.CalendarKey] {
			continue
		}
		met[watch.CalendarKey] = true
		tried++
		if err := w.retry(ctx, watch, cause); err != nil {
			w.Log.WarnContext(ctx, "a calendar is not watched yet", "calendar", watch.CalendarID, "account", watch.AccountID,
				"trace", cause.Trace, "error", err)
		}
	}
	return tried, nil
}

// retry brings the channels of one calendar in order. After it none is to be
// tried at once again.
func (w *Watcher) retry(ctx context.Context, watch Watch, cause scheduler.Cause) error {
	calendar, _, err := calendars.LoadKey(ctx, w.Store, watch.CalendarKey)
	if err != nil {
		return err
	}
	var renewed Renewed
	failure := w.renewOne(ctx, calendar, cause, &renewed)
	watches, err := Watches(ctx, w.Store, watch.AccountID, watch.CalendarID)
	if err != nil {
		return errors.Join(failure, err)
	}
	// Another leads to the next try, or the step that has the calendar watched again does.
	otherScheduled := calendar.Revoked() || w.Address == "" ||
		slices.ContainsFunc(watches, func(other Watch) bool { return other.NextTry.After(w.Now()) })
	for _, other := range watches {
		switch {
		case other.NextTry.IsZero() || other.NextTry.After(w.Now()):
		case other.Status == Active && other.Expiration.After(w.Now()), failure != nil && !otherScheduled:
			err = errors.Join(err, w.change(ctx, other.ChannelID, w.scheduleRetry(otherScheduled)))
		default:
			err = errors.Join(err, w.stop(ctx, other), w.change(ctx, other.ChannelID, cancelRetry))
		}
	}
	return errors.Join(failure, err)
}

// triedLater has another channel tried in the place of one when that is due, or,
// where it is overdue, in a moment, unless it is tried without.
func (w *Watcher) scheduleRetry(otherScheduled bool) func(Watch) []store.Update {
	return func(watch Watch) []store.Update {
		switch at := w.renewAt(watch); {
		case watch.Status == Active && at.After(w.Now()):
			return []store.Update{poll.Set("nextTry", at)}
		case otherScheduled:
			return cancelRetry(watch)
		default:
			return []store.Update{poll.Set("nextTry", w.Now().Add(answerTimeout))}
		}
	}
}

// triedNoMore has no other channel tried in a channel's place.
func cancelRetry(watch Watch) []store.Update {
	if watch.NextTry.IsZero() {
		return nil
	}
	return []store.Update{poll.Set("nextTry", nil)}
}

// heard takes a channel for open whose answer never came, by a push of it that
// was authentic and says what it is stopped by. Should it be one too many, the
// next sweep stops it.
func (w *Watcher) confirmByPush(ctx context.Context, watch Watch, push Push) {
	answerMayCome := watch.Status == Pending && watch.CreatedAt.After(w.Now().Add(-answerTimeout))
	if watch.ResourceID != "" || push.ResourceID == "" || answerMayCome {
		return
	}
	watch.GrantedAt = watch.CreatedAt // a moment before
	if !push.Expiration.IsZero() && push.Expiration.Before(watch.Expiration) {
		watch.Expiration = push.Expiration
	}
	err := w.record(ctx, watch.ChannelID, Heard, poll.Set("resourceId", push.ResourceID), poll.Set("reason", nil),
		poll.Set("grantedAt", watch.GrantedAt), poll.Set("expiration", watch.Expiration), poll.Set("nextTry", w.renewAt(watch)))
	if err != nil {
		w.Log.WarnContext(ctx, "what a push said of its channel is not kept", "channel", watch.ChannelID, "trace", push.Trace, "error", err)
	}
}
