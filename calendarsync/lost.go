package calendarsync

import (
	"context"
	"slices"
	"time"

	"questscheduler/internal/calendars"
	"questscheduler/internal/gcal"
)

// listAnswer is what the list of an account's calendars says about one of them.
type listAnswer uint8

const (
	// listUnread: Google did not give the list.
	listUnread listAnswer = iota
	// listWithheld: the account's owner did not grant the list.
	listWithheld
	listNames
	listLacks
)

// lostAfter is how long Google must refuse to list a calendar until the calendar is lost,
// by the list of its account. Without an entry the run is only retried: the refusal may be
// Google's mistake.
var lostAfter = map[listAnswer]time.Duration{
	listLacks:    0,
	listWithheld: 10 * time.Minute,
}

// refusal is what decides whether a calendar is lost: gone, or no longer shared with its
// account.
type refusal struct {
	// known: an earlier run found it lost, and none has succeeded since.
	known bool
	// refused: this run was refused the calendar's listing.
	refused bool
	listed  listAnswer
	// since is when the first refusal in a row was; zero: this is the first.
	since, now time.Time
}

// lost reports whether the calendar is lost. Only a successful run finds a lost calendar
// again: an outage says nothing about it.
func (r refusal) lost() bool {
	if r.known || !r.refused {
		return r.known
	}
	refusedFor := time.Duration(0)
	if !r.since.IsZero() {
		refusedFor = max(0, r.now.Sub(r.since)) // another instance's clock may be ahead
	}
	after, decides := lostAfter[r.listed]
	return decides && refusedFor >= after
}

// isLost decides whether the failure of the run means that its calendar is lost.
func (l *syncRun) isLost(ctx context.Context) bool {
	r := refusal{known: l.calendar.Lost(), refused: l.refused, since: l.calendar.RefusedSince, now: l.Now()}
	if r.refused && !r.known {
		var err error
		r.listed, err = l.MoveFinder.says(ctx, l.ref)
		if err != nil {
			l.Log.InfoContext(ctx, "list of calendars not read; unknown whether the calendar is lost",
				"calendar", l.ref.Calendar, "account", l.ref.Account, "trace", l.cause.Trace, "error", err)
		}
	}
	return r.lost()
}

// says reads what the list of an account's calendars says about one of them; listUnread with
// the error.
func (e *MoveFinder) says(ctx context.Context, ref gcal.Ref) (listAnswer, error) {
	account, err := e.Accounts.Get(ctx, ref.Account)
	if err != nil {
		return listUnread, err
	}
	entries, complete, err := e.Calendars.Of(ctx, account)
	switch {
	case err != nil:
		return listUnread, err
	case !complete:
		return listWithheld, nil
	case names(entries, ref.Calendar):
		return listNames, nil
	default:
		return listLacks, nil
	}
}

// names reports whether a list names a calendar, which may be followed under its alias.
func names(list []gcal.CalendarEntry, calendarID string) bool {
	return slices.ContainsFunc(list, func(entry gcal.CalendarEntry) bool {
		return entry.ID == calendarID || entry.Primary && calendarID == "primary"
	})
}

// awaiting lists the owner's other calendars in which events failed, since the search for
// them may await a calendar that is lost. They are synced in the commit that says so.
func (l *syncRun) awaiting(ctx context.Context) ([]calendars.Calendar, error) {
	others, err := calendars.OfOwner(ctx, l.Store, l.calendar.OwnerID)
	return slices.DeleteFunc(others, func(other calendars.Calendar) bool {
		failed := func(eventID string) bool { return other.Deferred(eventID).Failed() }
		return other.Key == l.calendar.Key || !slices.ContainsFunc(other.DeferredEvents(), failed) || !other.Wanted()
	}), err
}

// notifyLost notifies the owner once for the loss, which has the time of its first refusal.
func (l *syncRun) notifyLost(ctx context.Context) error {
	now, _, err := calendars.LoadKey(ctx, l.Store, l.calendar.Key)
	if err != nil {
		return err
	}
	return l.Owners.NotifyLost(ctx, now.OwnerID, now.Key, now.RefusedSince)
}
