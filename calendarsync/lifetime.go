package calendarsync

import (
	"cmp"
	"slices"
	"time"

	"questscheduler/fault"
)

// openInterval is the least time between two channels granted for a calendar: channels
// granted for less end before the next, and the sweep covers the gap.
const openInterval = 15 * time.Minute

// grantedAt is when Google granted a channel; for older documents, when it was created, a
// moment before.
func (w Watch) grantedAt() time.Time {
	if w.GrantedAt.IsZero() {
		return w.CreatedAt
	}
	return w.GrantedAt
}

// Lifetime is how long Google granted a channel for.
func (w Watch) Lifetime() time.Duration { return max(0, w.Expiration.Sub(w.grantedAt())) }

// EndsSoon reports that a channel should have been renewed: half of the time between its
// renewal and its end has passed. within is that half for a channel with the requested
// lifetime, and for one whose grant time is unknown.
func (w Watch) EndsSoon(now time.Time, within time.Duration) bool {
	if !w.GrantedAt.IsZero() {
		within = min(within, w.Lifetime()/6)
	}
	return !w.Expiration.After(now.Add(within))
}

// Brief reports whether a channel's lifetime is so short that it ends before another may
// be opened.
func (w Watch) Brief() bool { return w.Lifetime() <= openInterval }

// renewAt is when to replace a live channel: RenewBefore ahead of its end, or a third of
// its lifetime if that is shorter, but not within openInterval.
func (w *Watcher) renewAt(watch Watch) time.Time {
	at := watch.Expiration.Add(-min(w.RenewBefore, watch.Lifetime()/3))
	if earliest := watch.grantedAt().Add(openInterval); at.Before(earliest) {
		return earliest
	}
	return at
}

// isLive reports whether a channel pushes to us now, however soon it ends.
func (w *Watcher) isLive(watch Watch) bool {
	return watch.Status == Active && watch.Address == w.Address && watch.Expiration.After(w.Now())
}

func (w *Watcher) renewalDue(watch Watch) bool { return !w.renewAt(watch).After(w.Now()) }

// upToDate reports whether a channel is live and not due for renewal.
func (w *Watcher) upToDate(watch Watch) bool { return w.isLive(watch) && !w.renewalDue(watch) }

// current is the live channel granted last, so that every process keeps the same one; the
// zero Watch if none is live.
func (w *Watcher) current(watches []Watch) (kept Watch) {
	for _, watch := range watches {
		if w.isLive(watch) && (kept.ChannelID == "" || compareGrants(watch, kept) > 0) {
			kept = watch
		}
	}
	return kept
}

// compareGrants orders channels by grant time. A brief channel comes before all others:
// it replaces none of them.
func compareGrants(a, b Watch) int {
	if a.Brief() != b.Brief() {
		if a.Brief() {
			return -1
		}
		return 1
	}
	return cmp.Or(a.grantedAt().Compare(b.grantedAt()), cmp.Compare(a.ChannelID, b.ChannelID))
}

// replaces reports whether a current channel makes another superfluous. A live brief
// channel is left to run out, since it records until when no other is opened.
func (w *Watcher) replaces(kept, old Watch) bool {
	return kept.ChannelID != "" && kept.ChannelID != old.ChannelID && !(w.isLive(old) && old.Brief())
}

// blocked reports whether no other channel may be opened now: one is being requested, or
// was granted less than openInterval ago. Superseded channels do not count. (A time far
// ahead was written by a wrong clock.)
func (w *Watcher) blocked(watches []Watch) bool {
	now := w.Now()
	return slices.ContainsFunc(watches, func(watch Watch) bool {
		switch {
		case watch.Address != w.Address:
			return false
		case watch.Status == Pending:
			return watch.NextTry.After(now) && !watch.NextTry.After(now.Add(openInterval))
		case watch.Status == Active, watch.Status == Expired && !watch.Expiration.After(now):
			ago := now.Sub(watch.grantedAt())
			return ago < openInterval && ago > -openInterval
		default:
			return false
		}
	})
}

// errShortGrants says that a calendar's channels do not last until the next.
var errShortGrants = fault.New(
	fault.Conflict, "Google grants watch channels of this calendar for minutes only. It is read by the sweep in between.",
)

// shortGrants is an error if a calendar's current or last channel ends before another may
// be opened.
func (w *Watcher) shortGrants(kept Watch, watches []Watch) error {
	ranOut := func(watch Watch) bool {
		return watch.Address == w.Address && (watch.Status == Active || watch.Status == Expired) && watch.Brief()
	}
	if kept.ChannelID != "" && kept.Brief() || kept.ChannelID == "" && slices.ContainsFunc(watches, ranOut) {
		return errShortGrants
	}
	return nil
}
