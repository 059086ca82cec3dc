package outbox

import (
	"container/heap"
	"container/list"
	"time"
)

const (
	// MostWaiting is how many entries of a kind wait in a pool. More are left to the drain that
	// follows when its list is empty, so that memory has a bound.
	MostWaiting = 2 * DrainMost
	// storeWait is how long a run waits for a store that did not answer; it doubles with each
	// time, up to storeWaitMost.
	storeWait     = time.Second
	storeWaitMost = time.Minute
)

// lane is the work of one kind in a Pool, whose mutex guards it.
type lane struct {
	kind *Kind
	free int // workers that nobody uses
	// timed are the entries that wait for a time, ready those that wait for a worker, in the
	// order in which they became ready. known are all, those that run too.
	timed entries
	ready list.List
	known map[string]*entry
	// cut: more is due than waits here. refilling: a drain for it is under way.
	cut, refilling bool
	// added counts the entries that began to wait since the last drain began, and failed the
	// runs that left their entry due as it was.
	added, failed int
}

// entry is an entry that waits or runs.
type entry struct {
	id string
	at time.Time // zero: at once, by any clock
	// place is where it is in timed, queued where in ready. Neither: it runs.
	place  int
	queued *list.Element
	// woken: during the run there was a wake for next.
	woken bool
	next  time.Time
	// unanswered counts the runs in a row for which the store did not answer.
	unanswered int
	abandoned  bool
}

// nowhere is the place of an entry that waits for no time.
const nowhere = -1

func newLane(kind *Kind, workers int) *lane {
	return &lane{kind: kind, free: workers, known: map[string]*entry{}}
}

// wake has an entry run at a time; zero: at once. false: it is left to a drain.
func (l *lane) wake(id string, at time.Time) bool {
	known := l.known[id]
	switch {
	case known == nil && len(l.timed)+l.ready.Len() >= MostWaiting:
		l.cut = true
		return false
	case known == nil:
		l.added++
		l.add(&entry{id: id, at: at})
	case known.place != nowhere && at.Before(known.at):
		heap.Remove(&l.timed, known.place)
		known.at = at
		l.add(known)
	case known.place == nowhere && known.queued == nil && (!known.woken || at.Before(known.next)):
		known.woken, known.next = true, at
	}
	return true
}

// add has an entry wait.
func (l *lane) add(e *entry) {
	l.known[e.id] = e
	if e.at.IsZero() {
		e.place, e.queued = nowhere, l.ready.PushBack(e)
		return
	}
	heap.Push(&l.timed, e)
}

// take begins the run of the entry that became ready first; nil: none is, or no worker is free.
func (l *lane) take(now time.Time) *entry {
	for len(l.timed) > 0 && !l.timed[0].at.After(now) {
		due := heap.Pop(&l.timed).(*entry)
		due.place, due.queued = nowhere, l.ready.PushBack(due)
	}
	if l.free == 0 || l.ready.Len() == 0 {
		return nil
	}
	l.free--
	first := l.ready.Remove(l.ready.Front()).(*entry)
	first.queued, first.woken = nil, false
	return first
}

// wait is how long until the next entry is due.
func (l *lane) wait(now time.Time) time.Duration {
	if len(l.timed) == 0 {
		return longestSleep
	}
	return min(max(l.timed[0].at.Sub(now), 0), longestSleep)
}

// refill reports whether a drain should follow at once: an earlier one left some, and what it
// woke is done. Where runs failed, what they left is due still, and waits for the next minute.
// What waits for its time has to leave room for all that a drain wakes.
func (l *lane) refill() bool {
	if !l.cut || l.refilling || l.ready.Len() > 0 || l.free == 0 || l.failed > 0 || len(l.timed)+DrainMost > MostWaiting {
		return false
	}
	l.drains()
	l.refilling = true
	return true
}

// drains notes that a drain begins: it finds all that was left until now, but perhaps not what
// is left while it reads.
func (l *lane) drains() { l.cut, l.added, l.failed = false, 0, 0 }

// drained notes what a drain did. One that found only what was here before goes in a circle.
func (l *lane) drained(did Woken) { l.cut = l.cut || did.Cut && l.added > 0 }

// ended frees the worker of a run. The entry goes on where the run wants to (again is not zero),
// where the store did not answer, and where there was a wake during the run.
func (l *lane) ended(e *entry, ran ended, now time.Time) {
	if e.abandoned {
		return
	}
	l.free++
	delete(l.known, e.id)
	if ran.left || ran.err != nil {
		l.failed++
	}
	e.unanswered++
	if ran.err == nil {
		e.unanswered = 0
	} else {
		ran.again = now.Add(doubled(storeWait, int64(e.unanswered), storeWaitMost))
	}
	switch {
	case e.woken && (ran.again.IsZero() || e.next.Before(ran.again)):
		e.at = e.next
	case !ran.again.IsZero():
		e.at = ran.again
	default:
		return
	}
	l.add(e)
}

// abandon frees the worker and the place of a run that does not end; false: it ended.
func (l *lane) abandon(e *entry) bool {
	if e.abandoned || l.known[e.id] != e || e.place != nowhere || e.queued != nil {
		return false
	}
	e.abandoned = true
	l.free++
	delete(l.known, e.id)
	return true
}

// entries is a heap of entries by their time (container/heap).
type entries []*entry

// Len implements heap.Interface.
func (e entries) Len() int { return len(e) }

// Less implements heap.Interface.
func (e entries) Less(i, j int) bool { return e[i].at.Before(e[j].at) }

// Swap implements heap.Interface.
func (e entries) Swap(i, j int) {
	e[i], e[j] = e[j], e[i]
	e[i].place, e[j].place = i, j
}

// Push implements heap.Interface.
func (e *entries) Push(x any) {
	added := x.(*entry)
	added.place = len(*e)
	*e = append(*e, added)
}

// Pop implements heap.Interface.
func (e *entries) Pop() any {
	last := (*e)[len(*e)-1]
	last.place = nowhere
	*e = (*e)[:len(*e)-1]
	return last
}
