package calendarsync

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"questscheduler/internal/accounts"
	"questscheduler/internal/calendars"
	"questscheduler/internal/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// Links carries what became of a linked account to its calendars, channels and
// polls: that it was linked again, that Google refused its grant, that its
// owner took it out. The account itself says so first (accounts.Account.Due) and
// is settled last, so whatever is cut off between is done by the next drain;
// doing it twice is doing it once. All exported fields are needed.
type Links struct {
	Store    store.Store
	Accounts Accounts
	// Grants gives grants back (accounts.Grants).
	Grants interface {
		Revoke(ctx context.Context, accountID string) error
	}
	// Leaving stops channels of accounts that are unlinked (gcal.Client over
	// accounts.Grants.Leaving).
	Leaving interface {
		StopWatch(ctx context.Context, accountID, channelID, resourceID string) error
	}
	Watcher *Watcher
	Polls   Polls
	Owners  LinkOwners
	Now     func() time.Time
	Log     *slog.Logger

	// left is the account that FollowDue came to last when it could not go on; nil
	// where it came to the end.
	resume atomic.Pointer[store.Cursor]
}

// Accounts is what Links needs of linked accounts (accounts.Repository).
type Accounts interface {
	Get(ctx context.Context, id string) (accounts.Account, error)
	Due(ctx context.Context, limit int, after *store.Cursor) ([]accounts.Account, *store.Cursor, error)
	Settled(ctx context.Context, account accounts.Account) (done bool, err error)
}

// LinkOwners is where the owner of an account hears what becomes of its polls
// (package notify). Telling the same twice is telling it once.
type LinkOwners interface {
	TellSyncError(ctx context.Context, ownerID, accountID string) error
	TellUnlinked(ctx context.Context, ownerID, accountID string) error
}

// FollowDue carries on what is due of all accounts, or of those that there is time
// for, and gives how many were settled. One failure does not stop the others; the
// errors are joined. Where it did not come to the end, the next call goes on behind
// the last account, and once one came there the next begins anew: accounts that
// take long and fail each time keep none from its turn.
func (l *Links) FollowDue(ctx context.Context, cause scheduler.Cause) (settled int, err error) {
	var failures []error
	after := l.resume.Swap(nil)
	until := l.Now().Add(batchTime)
	for {
		due, next, err := l.Accounts.Due(ctx, sweepPage, after)
		if err != nil {
			l.resume.Store(after)
			return settled, errors.Join(append(failures, err)...)
		}
		for _, account := range due {
			if settled+len(failures) > 0 && (ctx.Err() != nil || !l.Now().Before(until)) {
				l.resume.Store(after)
				return settled, errors.Join(failures...)
			}
			after = &store.Cursor{Path: accounts.Path(account.ID)}
			if err := l.Follow(ctx, account.ID, cause); err != nil {
				failures = append(failures, err)
				continue
			}
			settled++
		}
		if next == nil {
			return settled, errors.Join(failures...)
		}
		after = next
	}
}

// mostTurns is how often an account may turn from one to another while it is
// followed, before that is left to the next drain.
const maxTurns = 3

// Follow carries on what became of one account last. What becomes of it
// meanwhile is carried on too, once more where somebody else did: what was
// carried on here may have come after that. An error leaves it Due.
func (l *Links) Follow(ctx context.Context, accountID string, cause scheduler.Cause) error {
	for turn := range maxTurns {
		account, err := l.Accounts.Get(ctx, accountID)
		if err == nil && (account.Due || turn > 0) {
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

// errTurned says that something else became of an account while it was followed.
var errChanged = fault.New(fault.Conflict, "something else became of the account meanwhile")

// still is an error, in whatever transaction asks, where something else became of
// an account since it was read: what follows from that alone is carried on then.
// Whoever carried it on may have settled it, so nobody would mend what came later.
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
		return l.eachCalendar(ctx, account.ID, func(calendar calendars.Calendar) error {
			return l.relinked(ctx, account, calendar, cause)
		})
	case accounts.Unlinked:
		return l.unlinked(ctx, account, cause)
	default:
		announce, err := l.detach(ctx, account, rules.TokenExpired, cause)
		if err != nil || !announce {
			return err
		}
		return l.Owners.TellSyncError(ctx, account.OwnerID, account.ID)
	}
}

// back follows a calendar again whose account was linked again: its next good
// look takes off its polls what was said of the link, and what cannot be
// watched yet is left to the sweep.
func (l *Links) relinked(ctx context.Context, account accounts.Account, calendar calendars.Calendar, cause scheduler.Cause) error {
	if !calendar.Wanted() {
		return nil
	}
	if err := l.Watcher.Ensure(ctx, calendar.AccountID, calendar.CalendarID); err != nil {
		l.Log.WarnContext(ctx, "a calendar of an account that was linked again is not watched yet",
			"calendar", calendar.CalendarID, "account", calendar.AccountID, "trace", cause.Trace, "error", err)
	}
	err := l.write(ctx, account, calendar.Key, func(now calendars.Calendar) []store.Update {
		return append(now.Lost(l.Now(), "linked again"), calendars.Owe()...)
	})
	if err != nil {
		return err
	}
	return l.Watcher.enqueueSync(ctx, calendar.Key, "relink", cause.Trace)
}

// unlinked ends what was done in the name of an account. Channels are stopped
// before the grant is given back: afterwards Google stops none.
func (l *Links) unlinked(ctx context.Context, account accounts.Account, cause scheduler.Cause) error {
	announce, err := l.detach(ctx, account, rules.CalendarUnlinked, cause)
	if err == nil && announce {
		err = l.Owners.TellUnlinked(ctx, account.OwnerID, account.ID)
	}
	if err != nil {
		return err
	}
	err = l.eachWatch(ctx, account.ID, func(watch Watch) error { return l.stop(ctx, account, watch) })
	if err != nil {
		return err
	}
	return l.Grants.Revoke(ctx, account.ID)
}

// stop stops a channel of an account that is unlinked. One that Google stops for
// us no more is left to expire, and its pushes are refused.
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
			l.Log.WarnContext(ctx, "a watch channel cannot be stopped and is left to expire", "channel", watch.ChannelID,
				"calendar", watch.CalendarID, "expires", watch.Expiration, "error", err)
			return l.Watcher.record(ctx, watch.ChannelID, Unstoppable, poll.Set("reason", "the account was unlinked"))
		}
	}
	l.Watcher.meter().WatchStopped()
	return l.Store.Run(ctx, func(_ context.Context, tx store.Tx) error {
		return tx.Delete(watchPath(watch.ChannelID))
	})
}

// lose shows on all polls of an account that their calendar is lost to us, and
// has no channel of it counted on: should it be linked again, new ones are
// made. It tells whether there was any poll. errTurned where something else became
// of the account meanwhile: nothing is written from then on.
func (l *Links) detach(ctx context.Context, account accounts.Account, code rules.ErrorCode, cause scheduler.Cause) (found bool, err error) {
	err = l.eachCalendar(ctx, account.ID, func(calendar calendars.Calendar) error {
		// A look that began before would say of what it read that all is well.
		if err := l.write(ctx, account, calendar.Key, calendars.Calendar.Overtake); err != nil {
			return err
		}
		err := eachEntry(ctx, l.Store, calendar.AccountID, calendar.CalendarID, func(entry poll.IndexEntry) error {
			found = true
			return l.Polls.SetSyncError(ctx, entry.PollID, code, cause, unchanged(account))
		})
		if err != nil {
			return err
		}
		return l.write(ctx, account, calendar.Key, func(now calendars.Calendar) []store.Update {
			return now.Lost(l.Now(), calendars.ReasonRevoked)
		})
	})
	if err != nil {
		return found, err
	}
	return found, l.eachWatch(ctx, account.ID, func(watch Watch) error { return l.supersede(ctx, account, watch) })
}

// supersede has a channel that lives be counted on no more.
func (l *Links) supersede(ctx context.Context, account accounts.Account, watch Watch) error {
	if watch.Status != Active {
		return unchanged(account)(ctx, l.Store)
	}
	return l.Watcher.recordWhile(ctx, watch.ChannelID, Superseded, unchanged(account))
}

// write writes to a calendar's document what depends on how it stands, while its
// account stands as it was read.
func (l *Links) write(ctx context.Context, account accounts.Account, key string, updates func(now calendars.Calendar) []store.Update) error {
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

// eachCalendar calls do for every calendar of an account.
func (l *Links) eachCalendar(ctx context.Context, accountID string, do func(calendars.Calendar) error) error {
	var after *store.Cursor
	for {
		found, next, err := calendars.OfAccount(ctx, l.Store, accountID, sweepPage, after)
		if err != nil {
			return err
		}
		for _, calendar := range found {
			if err := do(calendar); err != nil {
				return calendarError(calendar.CalendarID, "follow the account", err)
			}
		}
		if next == nil {
			return nil
		}
		after = next
	}
}

// eachWatch calls do for every channel of an account; each is tried, and the
// errors are joined.
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
