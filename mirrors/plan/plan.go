// Package plan holds the decisions of mirroring, pure: which events are origins, what a
// canonical event becomes, what a mirror shows, which mirrors a person should have, and
// what an observation or a write makes of a mirror. The caller reads and writes the
// documents; the functions change nothing that they are given and give the same answer
// to the same input, so that a transaction may run them again.
package plan

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"questscheduler/internal/mirror"
)

// Situation is all that decides about the mirrors of one person's events that belong
// together.
type Situation struct {
	// Owner is the person whose mirrors are planned.
	Owner string
	Now   time.Time
	// Events are all of the owner's canonical events with one iCalUID, or with several (an
	// iCalUID must be complete), and events of groups that the owner is connected to.
	Events []mirror.Event
	// Earlier are the events of MayHoldBack of Events, and of those that are series also the
	// exceptions. They are not planned.
	Earlier []mirror.Event
	// Edges are those of all of the owner's policies.
	Edges []mirror.Edge
	// Connections of the owner; those of other people are ignored.
	Connections []mirror.Connection
	// Mirrors are all of the owner's with the iCalUIDs of Events. One whose canonical event is
	// not among Events must be deleted.
	Mirrors []mirror.Mirror
	// Accounts are all of the owner's linked accounts, those with a revoked grant included:
	// what is missing here counts as unlinked, and its edges do not apply.
	Accounts map[string]Account
	// MostExceptions is how many exceptions of a series that somebody else organizes are
	// copied into an account at once, beside four times as many cancelled ones; 0 means 50. Their
	// copies beyond that have a NotBefore.
	MostExceptions int
}

// Account is a linked account of the owner.
type Account struct {
	// Usable is false for a revoked grant: its mirrors are planned as others, but not due
	// until the account is linked again and its owner's events are planned again.
	Usable bool
	// PrimaryID is the id of its primary calendar; "" if unknown.
	PrimaryID string
	// Overlay is ours in the account; zero if there is none yet.
	Overlay mirror.OverlayCalendar
}

// Plan returns the mirrors to write, new or changed, a series before its exceptions. It
// deletes no document: what should not be is DELETING, and the writer removes the document
// (see Deleted). Plan again, in the same transaction, after Observed or ObservedInstance
// changed the mirror of a series, since the mirrors of its exceptions then name instances
// of an event that is gone. Planning twice returns nothing the second time.
func Plan(of Situation) []mirror.Mirror {
	p := newPlanning(of)
	for account := range maps.Keys(of.Accounts) {
		p.decide(account)
	}
	slices.SortFunc(p.wanted, func(a, b want) int {
		return cmp.Or(compareBool(a.event.SeriesID != "", b.event.SeriesID != ""), strings.Compare(a.id(), b.id()))
	})
	var changed []mirror.Mirror
	note := func(was, next mirror.Mirror) {
		if !reflect.DeepEqual(was, next) {
			next.UpdatedAt = of.Now
			changed = append(changed, next)
		}
	}
	planned := map[string]mirror.Mirror{}
	var revised []revision
	for _, w := range p.wanted {
		was := p.mirrors[w.id()]
		if next, ok := p.revise(was, w, planned); ok {
			planned[next.ID] = next
			revised = append(revised, revision{was, next, w.event})
		}
	}
	p.pace(revised)
	for _, r := range revised {
		note(r.was, r.next)
	}
	for _, id := range slices.Sorted(maps.Keys(p.mirrors)) {
		if _, kept := planned[id]; !kept {
			was := p.mirrors[id]
			note(was, p.retire(was, planned[was.SeriesMirrorID]))
		}
	}
	return changed
}

// compareBool orders false before true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
