package plan

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"questscheduler/internal/mirror"
)

// A series that somebody else organizes may have any number of exceptions. One edit of theirs
// may concern them all, and copying each takes two calls. So only mostExceptions of a series
// are copied into an account within any paceStep; the others follow in later steps, and show
// their earlier times until then: left out, a busy time would look free. One that is cancelled
// shows a busy time that is free until then, so that these are counted for themselves, and
// cancelledAtOnce times as many are copied.
const (
	mostExceptions  = 50
	cancelledAtOnce = 4
	paceStep        = 10 * time.Minute
)

// revision is a mirror before and after it was brought to what is wanted for an event.
type revision struct {
	was, next mirror.Mirror
	event     mirror.Event
}

// pace puts off the writes of exceptions beyond what a step allows.
func (p *planning) pace(revised []revision) {
	type turns struct {
		account, series string
		cancelled       bool
	}
	groups := map[turns][]*revision{}
	for i := range revised {
		r := &revised[i]
		if r.event.SeriesID == "" || r.event.OwnerID != p.Owner || p.isOrganized(r.event) {
			continue
		}
		key := turns{r.next.TargetAccountID, seriesKey(r.event), cancels(r.next)}
		groups[key] = append(groups[key], r)
	}
	most := cmp.Or(p.MostExceptions, mostExceptions)
	for key, exceptions := range groups {
		if key.cancelled {
			p.paceSeries(exceptions, most*cancelledAtOnce)
		} else {
			p.paceSeries(exceptions, most)
		}
	}
}

// cancels reports whether a mirror of an exception shows that it is not held.
func cancels(m mirror.Mirror) bool { return shownBy(m.Wanted) == wantsCancelled }

// paceSeries gives each exception with new work the first time that has room: now, or some
// steps later. Work that waits already keeps its time, so that further edits neither hurry nor
// delay it, unless the exception was cancelled since.
func (p *planning) paceSeries(exceptions []*revision, most int) {
	var taken []time.Time // when others were written, are about to be, or may be
	var fresh []*revision
	for _, r := range exceptions {
		if r.next.LastWrite.After(p.Now.Add(-paceStep)) {
			taken = append(taken, r.next.LastWrite)
		}
		switch op := Next(r.next); {
		case op != Write && op != Cancel || r.next.Due.IsZero():
		case r.next.NotBefore.After(p.Now) && cancels(r.was) == cancels(r.next):
			taken = append(taken, r.next.NotBefore)
			r.next.Due = later(r.next.Due, r.next.NotBefore)
		case r.next.Due.Equal(p.Now) && !r.was.Due.Equal(p.Now):
			fresh = append(fresh, r)
		case r.next.State == mirror.Pending:
			taken = append(taken, p.Now)
		}
	}
	slices.SortFunc(fresh, p.byNearness)
	at := p.Now
	for _, r := range fresh {
		for within(taken, at) >= most {
			at = at.Add(paceStep)
		}
		taken = append(taken, at)
		r.next.NotBefore = time.Time{}
		if at.After(p.Now) {
			r.next.NotBefore, r.next.Due = at, at
		}
	}
}

// within counts the times that are less than a step from another.
func within(times []time.Time, at time.Time) (count int) {
	for _, other := range times {
		if other.Sub(at).Abs() < paceStep {
			count++
		}
	}
	return count
}

// byNearness orders exceptions by when they are, or were by the rule; those that are over
// come last.
func (p *planning) byNearness(a, b *revision) int {
	bounds := func(e mirror.Event) (from, until time.Time) {
		original := e.OriginalStart.Instant(time.UTC)
		from, until = e.From, later(e.Until, original)
		if original.Before(from) {
			from = original
		}
		return from, until
	}
	fromA, untilA := bounds(a.event)
	fromB, untilB := bounds(b.event)
	return cmp.Or(compareBool(!untilA.After(p.Now), !untilB.After(p.Now)), fromA.Compare(fromB), strings.Compare(a.next.ID, b.next.ID))
}

// isOrganized reports whether the owner organizes an exception's series, in the primary
// calendar of a linked account. Anybody who may write to a shared calendar edits what is in
// it, so that a series of such a calendar counts as somebody else's.
func (p *planning) isOrganized(exception mirror.Event) bool {
	organizer := cmp.Or(p.organizers[seriesKey(exception)], exception.Organizer) // a cancelled one may not say
	for _, account := range p.Accounts {
		if account.PrimaryID != "" && mirror.OrganizerOf(account.PrimaryID) == organizer {
			return true
		}
	}
	return false
}

// seriesKey names the origin of an exception's series.
func seriesKey(exception mirror.Event) string {
	return mirror.OriginKey(exception.AccountID, exception.CalendarID, exception.SeriesID)
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
