// Package outbox carries out what documents record as work outside the store: calls to
// Google and Discord, planning that would make a transaction too long.
//
// The documents are the queue. A transaction that calls for work writes in the same commit
// when it is due (State), and afterwards wakes a run (Soon). Waking is best effort: a drain
// every minute, and at the start of a program, wakes what nobody woke. So nothing is lost
// between a commit and a queue, and a task says no more than kind and id.
//
// A run reads the document, claims it, calls the kind's handler and writes what became of it,
// unless the document changed since (State.Ref): then it is due for the newer change. Where
// processes share the store a claim moves the due time ahead, and a run that dies leaves its
// claim, after which the work is due again. A process that has the store to itself (Alone)
// claims in memory, which costs no write and dies with it. Everything may therefore happen
// more than once, and handlers are idempotent. An unclaimed kind compares a version of its
// own in the transaction that settles it, and a run neither reads nor writes its documents.
//
// Promises for every kind: at most Workers runs at once in a process; a run ends with its
// context after RunTimeout; a panic is a failure of its entry alone; an entry that fails
// waits longer each time (Retry) and holds up no other. Nothing is given up: an entry that
// keeps failing is tried once a day, and shows in Depths until a person has repaired it.
package outbox

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"questscheduler/internal/meter"
	"questscheduler/internal/store"
)

const (
	// RunTimeout ends the context of a handler, unless its kind has a Timeout.
	RunTimeout = 60 * time.Second
	// LongestRun is the longest Timeout of a kind. What waits for a run waits for as long.
	LongestRun = 4 * time.Minute
	// Soon is how far ahead an entry may be due to be woken for that time at once. What is
	// due later is left to the drain, which comes once a minute.
	Soon = time.Minute
	// DefaultLease is how long a claim keeps other runs away. It outlasts RunTimeout and Soon.
	DefaultLease = 2 * time.Minute
	// DefaultWorkers is how many entries of a kind a process runs at once.
	DefaultWorkers = 4
)

// Waker has runs begin. It may forget or repeat a wake, and be late, but is not early.
type Waker interface {
	// Wake has Outbox.Run called for an entry, at a time or at once (zero). Two wakes of one
	// name may become one; "" is no name. An error means that perhaps nobody was woken.
	Wake(ctx context.Context, kind, id, name string, at time.Time) error
}

// Outbox knows the kinds of work. All fields but Meter and Alone are needed; Add completes it
// before anything else is called.
type Outbox struct {
	Store store.Store
	Waker Waker
	Now   func() time.Time
	Log   *slog.Logger
	Meter meter.Meter // counts Ran
	// Alone: no other process has the store, by a lock on it. Claims are in memory then.
	Alone bool

	kinds  []*Kind
	rests  rests
	claims claims
	last   lastDrain
}

// Add registers kinds. A name that is there twice, or a kind without what it needs, is a
// mistake of the program and panics.
func (o *Outbox) Add(kinds ...Kind) {
	for _, kind := range kinds {
		if kind.Name == "" || kind.Handle == nil || !kind.recorded() && !(kind.Unclaimed && kind.Due == nil) {
			panic(fmt.Sprintf("outbox: the kind %q lacks what a run needs", kind.Name))
		}
		if o.kind(kind.Name) != nil {
			panic(fmt.Sprintf("outbox: the kind %q is there twice", kind.Name))
		}
		o.kinds = append(o.kinds, &kind)
	}
}

// Kinds are the names of the kinds, in the order in which they were added.
func (o *Outbox) Kinds() (names []string) {
	for _, kind := range o.kinds {
		names = append(names, kind.Name)
	}
	return names
}

// Workers is how many entries of a kind a process runs at once.
func (o *Outbox) Workers(kind string) int {
	if known := o.kind(kind); known != nil && known.Workers > 0 {
		return known.Workers
	}
	return DefaultWorkers
}

func (o *Outbox) kind(name string) *Kind {
	if at := slices.IndexFunc(o.kinds, func(k *Kind) bool { return k.Name == name }); at >= 0 {
		return o.kinds[at]
	}
	return nil
}

// Soon wakes an entry after the commit that recorded it, where it is due soon. A failure is
// only logged: the drain finds the entry.
func (o *Outbox) Soon(ctx context.Context, kind, id string, due time.Time) {
	if due.IsZero() || due.Sub(o.Now()) > Soon {
		return
	}
	if !due.After(o.Now()) {
		due = time.Time{} // at once, by any clock
	}
	if err := o.Waker.Wake(ctx, kind, id, "", due); err != nil {
		o.Log.WarnContext(ctx, "work is left to the drain", "kind", kind, "id", id, "error", err)
	}
}
