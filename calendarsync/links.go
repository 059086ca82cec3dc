package calendarsync

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/accounts"
	"questscheduler/internal/calendars"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// Links carries a change of a linked account (relinked, grant refused, unlinked) to its
// calendars, channels and polls, and to the Listeners. The account is marked first
// (accounts.Account.Due) and settled last, so Work finishes what was interrupted; every step
// is idempotent. All fields but Listeners are required.
type Links struct {
	Store    store.Store
	Accounts Accounts
	Grants   interface {
		Revoke(ctx context.Context, accountID string) error
	}
	// Leaving stops channels of unlinked accounts (gcal.Client over
	// accounts.Grants.Leaving).
	Leaving interface {
		StopWatch(ctx context.Context, accountID, channelID, resourceID string) error
	}
	Watcher *Watcher
	Polls   Polls
	Owners  LinkOwners
	// Listeners are called in order when an account leaves, and in the reverse order when it
	// is back. If one fails, the rest are not called and the account stays Due: Work calls all
	// of them again. The grant of an account that leaves is not given back before all succeed.
	Listeners []AccountListener
	Now       func() time.Time
	Log       *slog.Logger
}

// Accounts is the part of accounts.Repository that Links needs.
type Accounts interface {
	Get(ctx context.Context, id string) (accounts.Account, error)
	Settled(ctx context.Context, account accounts.Account) (done bool, err error)
}

// LinkOwners notifies the owner of an account about its polls (package notify).
// Its methods are idempotent.
type LinkOwners interface {
	NotifySyncError(ctx context.Context, ownerID, accountID string) error
	NotifyUnlinked(ctx context.Context, ownerID, accountID string) error
}

// AccountListener carries a change of an account to what another package has in it. Its
// methods are idempotent.
type AccountListener interface {
	// AccountLeaving ends that in an unlinked account, whose grant still works for
	// accounts.Grants.Leaving.
	AccountLeaving(ctx context.Context, account accounts.Account, cause scheduler.Cause) error
	// AccountBack resumes it in an account that was linked, perhaps again.
	AccountBack(ctx context.Context, account accounts.Account, cause scheduler.Cause) error
}

// maxTurns is how often an account may change while it is followed before Work takes over.
const maxTurns = 3

// Follow carries on one account's last change, and again if it changes during that: what
// was carried on may be outdated. After an error the account stays Due.
func (l *Links) Follow(ctx context.Context, accountID string, cause scheduler.Cause) error {
	for turn := range maxTurns {
		account, err := l.Accounts.Get(ctx, accountID)
		if err == nil && (!account.Due.IsZero() || turn > 0) {
			err = l.follow(ctx, account, cause)
		}
		if err != nil && !errors.Is(err, errChanged) {
			return fmt.Errorf("account %s: %w", accountID, err)
		}
		done, err := l.Accounts.Settled(ctx, account)
		if err != nil || done {
			return err
		}
	}
	return nil
}

// errChanged says that an account changed while it was followed.
var errChanged = fault.New(fault.Conflict, "the account changed while it was followed")

// unchanged fails a transaction if the account changed since it was read: another process
// may have carried on and settled the later change, and nothing would repair this write.
func unchanged(account accounts.Account) scheduler.While {
	return func(ctx context.Context, now store.Reader) error {
		current, err := accounts.Load(ctx, now, account.ID)
		if err == nil && !current.SameAs(account) {
			err = errChanged
		}
		return err
	}
}

func (l *Links) follow(ctx context.Context, account accounts.Account, cause scheduler.Cause) error {
	switch account.Status {
	case accounts.Active:
		err := l.eachCalendar(ctx, account.ID, func(calendar calendars.Calendar) error {
			return l.relinked(ctx, account, calendar, cause)
		})
		if err == nil {
			err = l.retryIntents(ctx, account.ID)
		}
		for _, listener := range slices.Backward(l.Listeners) {
			if err == nil {
				err = listener.AccountBack(ctx, account, cause)
			}
		}
		return err
	case accounts.Unlinked:
		return l.unlinked(ctx, account, cause)
	default:
		lost, err := l.detach(ctx, account, rules.TokenExpired, cause)
		if err != nil || !lost.followed {
			return err
		}
		return l.Owners.NotifySyncError(ctx, account.OwnerID, account.ID)
	}
}

// retryIntents has events made and deleted now that waited for the account's grant.
func (l *Links) retryIntents(ctx context.Context, accountID string) error {
	ids, err := poll.RetryRevoked(ctx, l.Store, accountID, l.Now())
	for _, id := range ids {
		l.Watcher.Outbox.Soon(ctx, scheduler.KindIntent, id, l.Now())
	}
	return err
}

// relinked follows a calendar of a relinked account again. Its next successful run clears
// its polls' errors; the sweep opens a channel that cannot be opened now.
func (l *Links) relinked(ctx context.Context, account accounts.Account, calendar calendars.Calendar, cause scheduler.Cause) error {
	if !calendar.Wanted() {
		return nil
	}
	if err := l.Watcher.Ensure(ctx, calendar.AccountID, calendar.CalendarID); err != nil {
		l.Log.WarnContext(ctx, "calendar of a relinked account not watched yet",
			"calendar", calendar.CalendarID, "account", calendar.AccountID, "trace", cause.Trace, "error", err)
	}
	err := l.write(ctx, account, calendar.Key, func(now calendars.Calendar) []store.Update {
		return now.Relinked(calendars.Request{At: l.Now(), Trigger: "relink", Trace: cause.Trace})
	})
	if err == nil {
		l.Watcher.Outbox.Soon(ctx, calendars.SyncKind, calendar.Key, l.Now())
	}
	return err
}

// unlinked ends what runs in an account's name. Channels are stopped and mirrors deleted
// before the grant is given back, since Google does neither afterwards.
func (l *Links) unlinked(ctx context.Context, account accounts.Account, cause scheduler.Cause) error {
	lost, err := l.detach(ctx, account, rules.CalendarUnlinked, cause)
	if err == nil && lost.polls {
		err = l.Owners.NotifyUnlinked(ctx, account.OwnerID, account.ID)
	}
	if err != nil {
		return err
	}
	err = l.eachWatch(ctx, account.ID, func(watch Watch) error { return l.stop(ctx, account, watch) })
	for _, listener := range l.Listeners {
		if err == nil {
			err = listener.AccountLeaving(ctx, account, cause)
		}
	}
	if err != nil {
		return err
	}
	return l.Grants.Revoke(ctx, account.ID)
}

// stop stops a channel of an unlinked account. A channel that cannot be stopped, or that
// Google may have opened without our learning its resource id, is left to expire, and its
// pushes are refused.
func (l *Links) stop(ctx context.Context, account accounts.Account, watch Watch) error {
	if watch.Status == Expired {
		return nil
	}
	if err := l.supersede(ctx, account, watch); err != nil {
		return err
	}
	if watch.ResourceID != "" && watch.Expiration.After(l.Now()) {
		switch err := l.Leaving.StopWatch(ctx, watch.AccountID, watch.ChannelID, watch.ResourceID); {
		case fault.Is(err, fault.Unavailable), fault.Is(err, fault.RateLimited), fault.Is(err, fault.Exhausted):
			return fmt.Errorf("channel %s: %w", watch.ChannelID, err)
		case err != nil:
			l.Log.WarnContext(ctx, "watch channel cannot be stopped; left to expire", "channel", watch.ChannelID,
				"calendar", watch.CalendarID, "expires", watch.Expiration, "error", err)
			return l.Watcher.record(ctx, watch.ChannelID, Unstoppable, poll.Set("reason", "the account was unlinked"))
		}
	}
	if watch.mayBeOpen() && watch.Expiration.After(l.Now()) { // the grant may outlive the account, and the channel with it
		return l.Watcher.recordWhile(ctx, watch.ChannelID, Unstoppable, unchanged(account), poll.Set("reason", "the account was unlinked"))
	}
	l.Watcher.Meter.Count(WatchStopped{})
	return l.Store.Run(ctx, func(_ context.Context, tx store.Tx) error {
		return tx.Delete(watchPath(watch.ChannelID))
	})
}

// detached says what followed an account's calendars: polls, or anything.
type detached struct{ polls, followed bool }

// detach shows on all polls of an account that their calendar is lost, and supersedes its
// channels. errChanged: the account changed, and nothing more is written.
func (l *Links) detach(
	ctx context.Context, account accounts.Account, code rules.ErrorCode, cause scheduler.Cause,
) (lost detached, err error) {
	err = l.eachCalendar(ctx, account.ID, func(calendar calendars.Calendar) error {
		// A run under way would report success from what it read before.
		if err := l.write(ctx, account, calendar.Key, calendars.Calendar.Invalidate); err != nil {
			return err
		}
		lost.followed = lost.followed || len(calendar.Others()) > 0
		err := eachEntry(ctx, l.Store, calendar.AccountID, calendar.CalendarID, func(entry poll.IndexEntry) error {
			lost.polls, lost.followed = true, true
			return l.Polls.SetSyncError(ctx, entry.PollID, code, cause, unchanged(account))
		})
		if err != nil {
			return err
		}
		return l.write(ctx, account, calendar.Key, func(now calendars.Calendar) []store.Update {
			return now.MarkFailing(l.Now(), calendars.ReasonRevoked)
		})
	})
	if err != nil {
		return lost, err
	}
	return lost, l.eachWatch(ctx, account.ID, func(watch Watch) error { return l.supersede(ctx, account, watch) })
}

// supersede puts a live channel out of use.
func (l *Links) supersede(ctx context.Context, account accounts.Account, watch Watch) error {
	if watch.Status != Active {
		return unchanged(account)(ctx, l.Store)
	}
	return l.Watcher.recordWhile(ctx, watch.ChannelID, Superseded, unchanged(account))
}

// write updates a calendar's document as long as its account is unchanged.
func (l *Links) write(
	ctx context.Context, account accounts.Account, key string, updates func(now calendars.Calendar) []store.Update,
) error {
	return l.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		if err := unchanged(account)(ctx, tx); err != nil {
			return err
		}
		calendar, ok, err := calendars.LoadKey(ctx, tx, key)
		if err != nil || !ok {
			return err
		}
		return tx.Update(calendars.Path(key), updates(calendar)...)
	})
}

func (l *Links) eachCalendar(ctx context.Context, accountID string, do func(calendars.Calendar) error) error {
	for calendar, err := range calendars.OfAccount(ctx, l.Store, accountID) {
		if err != nil {
			return err
		}
		if err := do(calendar); err != nil {
			return calendarError(calendar.CalendarID, "follow the account", err)
		}
	}
	return nil
}

// eachWatch calls do for every channel of an account, and joins the errors.
func (l *Links) eachWatch(ctx context.Context, accountID string, do func(Watch) error) error {
	return l.eachCalendar(ctx, accountID, func(calendar calendars.Calendar) error {
		watches, err := Watches(ctx, l.Store, calendar.AccountID, calendar.CalendarID)
		failures := []error{err}
		for _, watch := range watches {
			failures = append(failures, do(watch))
		}
		return errors.Join(failures...)
	})
}
