package calendars

import (
	"maps"
	"slices"
	"strings"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

// Bounds of the events that are deferred for one consumer of a calendar: their number, and
// the bytes of their ids with their times. Ids have up to 1024 characters, and a document
// holds 1 MiB.
const (
	MaxBacklog      = 500
	maxBacklogBytes = 64 << 10
)

// Backlog is what a consumer other than polls has not had yet of a calendar.
type Backlog struct {
	// Deferred are events to be fetched individually, with when each was deferred.
	Deferred map[string]time.Time
	// Relist is when a full listing for the consumer alone was requested; zero: it needs
	// none.
	Relist time.Time
}

// Progress is what a run did for one consumer.
type Progress struct {
	// Deferred are events that it could not apply, and Settled those that it applied.
	Deferred, Settled []string
	// Relisted reports that it applied or deferred all of a full listing.
	Relisted bool
	// Overflow requests a full listing, since events were left out.
	Overflow bool
}

// Want sets how many interests a consumer other than polls has in the calendar. The caller
// must merge the updates in a transaction that also reads the account as usable: an
// account that was unlinked leaves no channel behind. Then it calls
// calendarsync.Watcher.Follow. The first interest
// requests a sync, which lists everything for the consumer; the last one's end drops its
// backlog. Nothing changes if a consumer without interest wants none.
func (c Calendar) Want(consumer string, count int64, r Request, ownerID string) []store.Update {
	before := c.Interests[consumer]
	set := store.Update{Path: store.Field("interests", consumer), Value: max(0, count)}
	switch {
	case count <= 0 && before <= 0:
		return nil
	case count <= 0:
		return []store.Update{
			set, {Path: store.Field("deferred", consumer), Value: store.Delete}, {Path: store.Field("relist", consumer), Value: store.Delete},
		}
	}
	updates := append(c.followed(r.At, ownerID), set)
	if before <= 0 {
		updates = append(updates, c.RequestRelist(consumer, r)...)
	}
	return updates
}

// RequestRelist requests a run that lists everything for one consumer.
func (c Calendar) RequestRelist(consumer string, r Request) []store.Update {
	return append(RequestSync(r), relist(consumer, r.At))
}

// Others lists the consumers beside polls that have an interest in the calendar, sorted.
func (c Calendar) Others() (consumers []string) {
	for consumer, count := range c.Interests {
		if count > 0 && consumer != poll.ConsumerPoll {
			consumers = append(consumers, consumer)
		}
	}
	slices.Sort(consumers)
	return consumers
}

// HasBacklog reports whether a consumer beside polls has yet to get something.
func (c Calendar) HasBacklog() bool {
	return slices.ContainsFunc(c.Others(), func(consumer string) bool { return !c.Backlogs[consumer].latest().IsZero() })
}

// Progressed records what a run did for a consumer, given the calendar at its beginning.
// What was requested since stays. latest is the last time of the backlog that is left; zero
// if none is, or if a run is requested that takes it up.
func (c Calendar) Progressed(began Calendar, consumer string, did Progress, now time.Time) (updates []store.Update, latest time.Time) {
	if c.Interests[consumer] <= 0 {
		return nil, time.Time{}
	}
	is, was := c.Backlogs[consumer], began.Backlogs[consumer]
	left, mark := maps.Clone(is.Deferred), is.Relist
	if left == nil {
		left = map[string]time.Time{}
	}
	if did.Relisted && !c.demanded() && mark.Equal(was.Relist) {
		mark = time.Time{}
	}
	for _, eventID := range did.Settled {
		if !c.demanded() && left[eventID].Equal(was.Deferred[eventID]) {
			delete(left, eventID)
		}
	}
	for _, eventID := range did.Deferred {
		if left[eventID].IsZero() {
			left[eventID] = now
		}
	}
	if did.Overflow || !fits(left) {
		left = nil // the listing covers them
		if mark.IsZero() {
			mark = now
		}
	}
	if !c.SyncPending {
		latest = Backlog{left, mark}.latest()
	}
	return append(deferring(consumer, is.Deferred, left), marking(consumer, is.Relist, mark)...), latest
}

// deferring writes the difference between two sets of deferred events.
func deferring(consumer string, is, left map[string]time.Time) (updates []store.Update) {
	if len(left) == 0 {
		if len(is) > 0 {
			updates = append(updates, store.Update{Path: store.Field("deferred", consumer), Value: store.Delete})
		}
		return updates
	}
	for _, eventID := range slices.Sorted(maps.Keys(is)) {
		if _, stays := left[eventID]; !stays {
			updates = append(updates, store.Update{Path: store.Field("deferred", consumer, eventID), Value: store.Delete})
		}
	}
	for _, eventID := range slices.Sorted(maps.Keys(left)) {
		if _, known := is[eventID]; !known {
			updates = append(updates, store.Update{Path: store.Field("deferred", consumer, eventID), Value: left[eventID]})
		}
	}
	return updates
}

func marking(consumer string, is, mark time.Time) []store.Update {
	switch {
	case is.Equal(mark):
		return nil
	case mark.IsZero():
		return []store.Update{{Path: store.Field("relist", consumer), Value: store.Delete}}
	default:
		return []store.Update{relist(consumer, mark)}
	}
}

func relist(consumer string, at time.Time) store.Update {
	return store.Update{Path: store.Field("relist", consumer), Value: at}
}

// fits reports whether a calendar's document has room for a consumer's deferred events,
// under names that a store takes.
func fits(deferred map[string]time.Time) bool {
	bytes := 0
	for eventID := range deferred {
		if eventID == "" || strings.HasPrefix(eventID, "__") {
			return false
		}
		bytes += len(eventID) + 16
	}
	return len(deferred) <= MaxBacklog && bytes <= maxBacklogBytes
}

// latest is when the last of a backlog came; zero if it is empty.
func (b Backlog) latest() time.Time {
	latest := b.Relist
	for _, at := range b.Deferred {
		if at.After(latest) {
			latest = at
		}
	}
	return latest
}

// RetryBacklog is how long to wait before a backlog is tried again: as long as the last of
// it has waited, from a minute up to an hour; a minute if the last run applied some of it.
func RetryBacklog(latest, now time.Time, recovers bool) time.Duration {
	if recovers {
		return time.Minute
	}
	return min(max(now.Sub(latest), time.Minute), time.Hour)
}
