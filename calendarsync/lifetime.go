package calendarsync

import (
	"cmp"
	"slices"
	"time"

	"questscheduler/internal/fault"
)

// openEvery is how soon a calendar is given another channel after one was
// granted: one that Google grants for less runs out before that, and the sweep
// does its work.
const openInterval = 15 * time.Minute

// granted is when Google granted a channel; of one from before that was kept, when
// it was made, which was a moment earlier.
func (w Watch) grantedAt() time.Time {
	if w.GrantedAt.IsZero() {
		return w.CreatedAt
	}
	return w.GrantedAt
}

// Lifetime is how long Google granted a channel for.
func (w Watch) Lifetime() time.Duration { return max(0, w.Expiration.Sub(w.grantedAt())) }

// EndsSoon tells whether a channel should have been renewed: half of the time
// between its renewal and its end has passed in vain. within is that half for a
// channel that Google granted for as long as was asked; of one from before it was
// kept when it was granted, that has to do.
func (w Watch) EndsSoon(now time.Time, within time.Duration) bool {
	if !w.GrantedAt.IsZero() {
		within = min(within, w.Lifetime()/6)
	}
	return !w.Expiration.After(now.Add(within))
}

// Brief tells whether Google granted a channel for so short a time that it ends
// before another may be opened in its place.
func (w Watch) Brief() bool { return w.Lifetime() <= openInterval }

// renewAt is when another channel is opened in the place of one that lives:
// RenewBefore ahead of its end, or a third of its lifetime where that is less.
func (w *Watcher) renewAt(watch Watch) time.Time {
	at := watch.Expiration.Add(-min(w.RenewBefore, watch.Lifetime()/3))
	if earliest := watch.grantedAt().Add(openInterval); at.Before(earliest) {
		return earliest
	}
	return at
}

// lives tells whether a channel pushes to us now, however soon it ends.
func (w *Watcher) isLive(watch Watch) bool {
	return watch.Status == Active && watch.Address == w.Address && watch.Expiration.After(w.Now())
}

// due tells whether a channel is to be renewed.
func (w *Watcher) renewalDue(watch Watch) bool { return !w.renewAt(watch).After(w.Now()) }

// lasts tells whether a channel lives and needs nothing done.
func (w *Watcher) upToDate(watch Watch) bool { return w.isLive(watch) && !w.renewalDue(watch) }

// kept is the channel of several that is kept: of those that live the one that
// was granted last, so that every process keeps the same. The zero watch where
// there is none.
func (w *Watcher) current(watches []Watch) (kept Watch) {
	for _, watch := range watches {
		if w.isLive(watch) && (kept.ChannelID == "" || compareGrants(watch, kept) > 0) {
			kept = watch
		}
	}
	return kept
}

// later orders channels by when they were granted, so that of several the same
// one is kept by every process. One that runs out before it may be renewed comes
// before all that last longer: it takes the place of none of them.
func compareGrants(a, b Watch) int {
	if a.Brief() != b.Brief() {
		if a.Brief() {
			return -1
		}
		return 1
	}
	return cmp.Or(a.grantedAt().Compare(b.grantedAt()), cmp.Compare(a.ChannelID, b.ChannelID))
}

// succeeds tells whether a channel takes the place of another, which can be
// stopped then. Nothing is stopped where none is kept; and one that was granted
// for minutes is left to run out, as it says until when no other is opened.
func (w *Watcher) replaces(kept, old Watch) bool {
	return kept.ChannelID != "" && kept.ChannelID != old.ChannelID && !(w.isLive(old) && old.Brief())
}

// barred tells whether no other channel of a calendar is opened now: one is on its
// way, or one was granted less than openEvery ago, however soon it ended. One that
// we gave up is none. (A time that lies far ahead was written by a clock that was
// wrong.)
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

// errRunsOut says of a calendar that its channels do not last until the next.
var errShortGrants = fault.New(fault.Conflict, "Google grants watch channels of this calendar for minutes only. It is read by the sweep in between.")

// runsOut is an error where a calendar's channels run out before another is
// opened: the one that is kept will, or the last one did.
func (w *Watcher) shortGrants(kept Watch, watches []Watch) error {
	ranOut := func(watch Watch) bool {
		return watch.Address == w.Address && (watch.Status == Active || watch.Status == Expired) && watch.Brief()
	}
	if kept.ChannelID != "" && kept.Brief() || kept.ChannelID == "" && slices.ContainsFunc(watches, ranOut) {
		return errShortGrants
	}
	return nil
}
