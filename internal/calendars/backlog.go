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
// the bytes of their ids with their reasons. Ids have up to 1024 characters, and a document
// holds 1 MiB. What awaits or has a person's word is not counted: polls bound it.
const (
	MaxBacklog      = 500
	maxBacklogBytes = 64 << 10
)

// Deferral is why an event must be fetched individually for a consumer, and since when.
type Deferral struct {
	At  time.Time
	Why string // one of the Deferred reasons
}

// Failed reports whether the event was read or applied in vain.
func (d Deferral) Failed() bool { return d.Why == DeferredFailed || d.Why == DeferredMissing }

// Awaits reports whether the event awaits a person's confirmation, or has it and awaits the run.
func (d Deferral) Awaits() bool { return d.Why == DeferredHeld || d.Why == DeferredConfirmed }

// requested reports whether the event is fetched since something requested it.
func (d Deferral) requested() bool {
	return d.Why == DeferredCommand || d.Why == DeferredRace || d.Why == DeferredMoved
}

func (d Deferral) same(other Deferral) bool { return d.Why == other.Why && d.At.Equal(other.At) }

func (d Deferral) encode() map[string]any { return map[string]any{"at": d.At, "why": d.Why} }

func decodeDeferral(f store.Fields) Deferral { return Deferral{At: f.Time("at"), Why: f.String("why")} }

// Reasons to fetch an event individually. Consumers other than polls know the first alone.
const (
	DeferredFailed    = "apply_failed"   // applying it failed
	DeferredRace      = "insert_pending" // it may have changed before it was linked
	DeferredCommand   = "command"        // a command requested it
	DeferredMoved     = "moved_calendar" // it was moved here, perhaps after a run had passed it
	DeferredMissing   = "missing"        // perhaps missing with many others, and not read yet: gone, it is held too
	DeferredHeld      = "held"           // gone with many others: awaits a person's confirmation, and is not fetched
	DeferredConfirmed = "confirmed"      // a person confirmed a held one
)

// Backlog is what a consumer has not had yet of a calendar.
type Backlog struct {
	// Deferred are events to be fetched individually.
	Deferred map[string]Deferral
	// Relist is when a full listing for the consumer alone was requested; zero: it needs
	// none.
	Relist time.Time
}

// Progress is what a run did for one consumer.
type Progress struct {
	// Deferred are events that it could not apply yet, Failed those of them of which that is a
	// failure, and Settled those that it applied.
	Deferred, Failed, Settled []string
	// Relisted reports that it applied or deferred all of a full listing.
	Relisted bool
	// Overflow requests a full listing, since events were left out; Incomplete does since one of a
	// listing could not be identified.
	Overflow, Incomplete bool
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

// HasBacklog reports whether a consumer has yet to get something, other than what awaits a person.
func (c Calendar) HasBacklog() bool {
	for _, backlog := range c.Backlogs {
		if !backlog.latest().IsZero() {
			return true
		}
	}
	return false
}

// Follows reports whether a run tells the consumer of the calendar's events. Polls need no
// interest of theirs: an event may be inserted before its link counts.
func (c Calendar) Follows(consumer string) bool {
	return c.Interests[consumer] > 0 || consumer == poll.ConsumerPoll
}

// Progressed records what a run did for a consumer, given the calendar at its beginning.
// What was requested since stays, and what is held. left is the backlog that no requested run
// takes up.
func (c Calendar) Progressed(began Calendar, consumer string, did Progress, now time.Time) (updates []store.Update, left Backlog) {
	if !c.Follows(consumer) {
		return nil, Backlog{}
	}
	is, was := c.Backlogs[consumer], began.Backlogs[consumer]
	deferred, mark := maps.Clone(is.Deferred), is.Relist
	if deferred == nil {
		deferred = map[string]Deferral{}
	}
	if did.Relisted && !did.Overflow && !did.Incomplete && !c.demanded() && mark.Equal(was.Relist) {
		mark = time.Time{}
	}
	for _, eventID := range did.Settled {
		if deferral := deferred[eventID]; !c.demanded() && deferral.same(was.Deferred[eventID]) && deferral.Why != DeferredHeld {
			delete(deferred, eventID)
		}
	}
	for _, eventID := range did.Deferred {
		if _, known := deferred[eventID]; !known {
			deferred[eventID] = Deferral{At: now, Why: DeferredFailed}
		}
	}
	for _, eventID := range did.Failed { // a request to fetch it does not hide that it fails
		if d := deferred[eventID]; d.same(was.Deferred[eventID]) && d.requested() {
			deferred[eventID] = Deferral{At: d.At, Why: DeferredFailed}
		}
	}
	overflow := did.Overflow || !fits(deferred)
	if overflow { // the listing covers them
		maps.DeleteFunc(deferred, func(_ string, d Deferral) bool { return !d.Awaits() })
	}
	if (overflow || did.Incomplete) && mark.IsZero() {
		mark = now
	}
	if !c.SyncPending {
		left = Backlog{deferred, mark}
	}
	return append(deferring(consumer, is.Deferred, deferred), marking(consumer, is.Relist, mark)...), left
}

// deferring writes the difference between two sets of deferred events.
func deferring(consumer string, is, left map[string]Deferral) (updates []store.Update) {
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
		if was, known := is[eventID]; !known || !was.same(left[eventID]) {
			updates = append(updates, store.Update{Path: store.Field("deferred", consumer, eventID), Value: left[eventID].encode()})
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
func fits(deferred map[string]Deferral) bool {
	count, bytes := 0, 0
	for eventID, deferral := range deferred {
		if eventID == "" || strings.HasPrefix(eventID, "__") {
			return false
		}
		if !deferral.Awaits() {
			count++
			bytes += len(eventID) + len(deferral.Why) + 24
		}
	}
	return count <= MaxBacklog && bytes <= maxBacklogBytes
}

// latest is when the last of a backlog came that awaits no person; zero if nothing does.
func (b Backlog) latest() time.Time {
	latest := b.Relist
	for _, deferral := range b.Deferred {
		if deferral.At.After(latest) && deferral.Why != DeferredHeld {
			latest = deferral.At
		}
	}
	return latest
}

// Retry is how long to wait before the backlog is tried again; zero: nothing is left to try. It is
// as long as the last of it has waited, up to an hour, and at least a second, or a minute where
// all must be listed or the last run applied some, since each run fetches many.
func (b Backlog) Retry(now time.Time, recovers bool) time.Duration {
	latest, least := b.latest(), time.Second
	switch {
	case latest.IsZero():
		return 0
	case recovers:
		return time.Minute
	case !b.Relist.IsZero():
		least = time.Minute
	}
	return min(max(now.Sub(latest), least), time.Hour)
}
