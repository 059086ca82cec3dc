package calendarsync

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/calendars"
	"questscheduler/internal/gcal"
	"questscheduler/internal/outbox"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/scheduler"
)

const (
	// answerTimeout is how long a channel waits for Google's answer before it is
	// replaced.
	answerTimeout = time.Minute
	maxRetryWait  = 6 * time.Hour
	// unknownEnd is how much later than a channel asked for here one may end that Google opened
	// without our learning it: the call takes its time, and clocks differ.
	unknownEnd = 10 * time.Minute
)

// retryWait is the wait after that many failures in a row.
func retryWait(failures int64) time.Duration {
	wait := answerTimeout
	for n := int64(1); n < failures && wait < maxRetryWait; n++ {
		wait *= 2
	}
	return min(wait, maxRetryWait)
}

// open creates a channel: written as pending, so that its first push is known and a crash
// leaves something to stop; then requested; then active. If it is refused, it replaces
// earlier failures. The zero Watch: none may be opened now (blocked), unless an operator
// forces it.
func (w *Watcher) open(ctx context.Context, accountID, calendarID string, forced bool) (Watch, error) {
	id := w.NewUUID()
	token, err := w.Tokens.ChannelToken(id)
	if err != nil {
		return Watch{}, err
	}
	ref := gcal.Ref{Account: accountID, Calendar: calendarID}
	asked := gcal.WatchRequest{ID: id, Token: token, Address: w.Address, TTL: w.TTL}
	watch, before, err := w.create(ctx, ref, asked, forced)
	if err != nil || watch.ChannelID == "" {
		return Watch{}, err
	}
	channel, err := w.Google.Watch(ctx, ref, asked)
	w.Meter.Count(WatchAsked{slices.ContainsFunc(before, w.isLive), err})
	if err == nil {
		watch.GrantedAt, watch.Expiration, watch.ResourceID = w.Now(), channel.Expiration, channel.ResourceID
		return watch, w.record(ctx, watch.ChannelID, Granted, poll.Set("resourceId", watch.ResourceID),
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

// maxEnded is how many ended channels of a calendar are kept for the record; short grants
// could leave thousands.
const maxEnded = 10

// create writes a channel that is about to be requested, and returns the existing ones.
// If this process dies, the document schedules its own replacement. The check for others
// is in the same transaction, so that of two processes only one creates. The zero Watch:
// none may be opened now.
func (w *Watcher) create(
	ctx context.Context, ref gcal.Ref, asked gcal.WatchRequest, forced bool,
) (watch Watch, before []Watch, err error) {
	now := w.Now()
	err = w.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		watch = Watch{}
		calendar, _, err := calendars.LoadKey(ctx, tx, poll.CalendarKey(ref.Account, ref.Calendar))
		if err != nil {
			return err
		}
		before, err = Watches(ctx, tx, ref.Account, ref.Calendar)
		if err != nil || !forced && w.blocked(before) {
			return err
		}
		watch = Watch{
			ChannelID: asked.ID, CalendarID: ref.Calendar, AccountID: ref.Account, CalendarKey: calendar.Key, UserID: calendar.OwnerID,
			Address: asked.Address, TokenHash: hashToken(asked.Token), Expiration: now.Add(asked.TTL + unknownEnd),
			Failures: 1, NextTry: now.Add(answerTimeout),
			CreatedAt: now, UpdatedAt: now,
		}
		watch.Status, _ = watch.Status.Next(Requested)
		for _, old := range before {
			watch.Failures = max(watch.Failures, old.Failures+1)
		}
		for _, old := range surplusEnded(before) {
			if err := tx.Delete(watchPath(old.ChannelID)); err != nil {
				return err
			}
		}
		return tx.Create(watchPath(asked.ID), encodeWatch(watch))
	})
	return watch, before, err
}

// surplusEnded are the channels that ended before the last maxEnded.
func surplusEnded(watches []Watch) []Watch {
	ended := slices.DeleteFunc(slices.Clone(watches), func(watch Watch) bool {
		_, forgets := watch.Status.Next(Forgotten)
		return !forgets
	})
	slices.SortFunc(ended, func(a, b Watch) int { return b.Expiration.Compare(a.Expiration) })
	return ended[min(maxEnded, len(ended)):]
}

// record applies an event to a channel's status, with further updates. It writes nothing
// if the event changes nothing (Transitions) or the document is gone.
func (w *Watcher) record(ctx context.Context, channelID string, event ChannelEvent, more ...store.Update) error {
	return w.recordWhile(ctx, channelID, event, func(context.Context, store.Reader) error { return nil }, more...)
}

// recordWhile is record within a transaction that first checks a condition.
func (w *Watcher) recordWhile(
	ctx context.Context, channelID string, event ChannelEvent, while scheduler.While, more ...store.Update,
) error {
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
		case !changes && event != Granted: // a late answer still brings the resource id
			return nil
		}
		updates := append([]store.Update{poll.Set("status", string(to)), poll.Set("updatedAt", w.Now())}, more...)
		if to == Retiring || to == Expired { // nothing replaces a channel that is out of use
			updates = append(slices.DeleteFunc(updates, isNextTry), poll.Set("nextTry", nil))
		}
		return tx.Update(doc.Path, updates...)
	})
}

func isNextTry(update store.Update) bool { return update.Path.String() == "nextTry" }

// change writes updates that depend on a channel's document, if that exists.
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

// WatchKind is the kind of the outbox that renews watch channels and replaces failed ones.
const WatchKind = "watch"

// Channels is the kind of the outbox that replaces channels that failed, were never answered,
// or are due for renewal, once Watch.NextTry has come. A run tries all channels of a calendar,
// and writes when each is tried next.
func (w *Watcher) Channels() outbox.Kind {
	return outbox.Kind{
		Name: WatchKind, Does: "watch channels to renew or to try again", Path: watchPath, Due: outbox.Query(watchesToTry),
		Codec: channelCodec, Handle: w.tryChannel, Workers: channelWorkers, Unclaimed: true, Planned: true,
	}
}

// channelWorkers is how many calendars' channels a process opens at once.
const channelWorkers = 4

var channelCodec = outbox.Codec{
	Decode: func(doc store.Document) outbox.State {
		watch := decodeWatch(doc)
		return outbox.State{Due: watch.NextTry, Attempts: watch.Failures}
	},
	Encode: func(s outbox.State) []store.Update {
		return []store.Update{poll.Set("nextTry", store.NullIfZero(s.Due))}
	},
}

func (w *Watcher) tryChannel(ctx context.Context, item outbox.Item) outbox.Result {
	doc, err := w.Store.Get(ctx, watchPath(item.ID))
	if err != nil {
		return outbox.Broken(err)
	}
	watch := decodeWatch(doc)
	if watch.NextTry.IsZero() || watch.NextTry.After(w.Now()) { // tried with another channel of its calendar
		return outbox.Kept(watch.NextTry)
	}
	if err := w.retry(ctx, watch, scheduler.Cause{Trigger: "timer", Trace: item.ID}); err != nil {
		return outbox.Failed(fmt.Errorf("watch calendar %s of account %s: %w", watch.CalendarID, watch.AccountID, err))
	}
	return outbox.Kept(time.Time{})
}

// retry brings one calendar's channels up to date; afterwards none is due for another
// try.
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
	// Another channel, or relinking the account, leads to the next try.
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

// scheduleRetry sets a channel's next try to its renewal, or soon if that is overdue and
// no other try is scheduled.
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

func cancelRetry(watch Watch) []store.Update {
	if watch.NextTry.IsZero() {
		return nil
	}
	return []store.Update{poll.Set("nextTry", nil)}
}

// confirmByPush records that an unanswered channel is open, by an authentic push that
// names its resource id. If it is superfluous, the next sweep stops it.
func (w *Watcher) confirmByPush(ctx context.Context, watch Watch, push Push) {
	answerMayCome := watch.Status == Pending && watch.CreatedAt.After(w.Now().Add(-answerTimeout))
	if watch.ResourceID != "" || push.ResourceID == "" || answerMayCome {
		return
	}
	watch.GrantedAt = watch.CreatedAt // slightly early
	if !push.Expiration.IsZero() && push.Expiration.Before(watch.Expiration) {
		watch.Expiration = push.Expiration
	}
	err := w.record(ctx, watch.ChannelID, Pushed, poll.Set("resourceId", push.ResourceID), poll.Set("reason", nil),
		poll.Set("grantedAt", watch.GrantedAt), poll.Set("expiration", watch.Expiration), poll.Set("nextTry", w.renewAt(watch)))
	if err != nil {
		w.Log.WarnContext(ctx, "watch channel not updated by its push", "channel", watch.ChannelID, "trace", push.Trace, "error", err)
	}
}
