// Package decide says which second addresses to add to an event and which to take back, and
// what became of each. It is pure: the same arguments give the same decision.
package decide

import (
	"maps"
	"slices"
	"time"

	"questscheduler/internal/attendee"
)

// Guest is a guest of an event. Response is Google's responseStatus; Resource reports a room
// or a device, Optional somebody who need not come.
type Guest struct {
	Address, Response  string
	Resource, Optional bool
}

// Event is an observation of an event through one calendar.
type Event struct {
	Guests []Guest
	// Organizer is the organizer's address: it is neither added nor removed.
	Organizer string
	// Inside reports that the organizer is one of our people. At events of others nobody is
	// added, and what was added is taken back: other people's second addresses are none of
	// an outsider's business.
	Inside bool
	// Omitted reports that Google cut the guest list, or that it is not known: who is not on
	// it may be a guest all the same.
	Omitted bool
	// Of a cancelled event, one that ended, and one that the calendar may not edit, no guest
	// is added or removed.
	Cancelled, Ended, Editable bool
	// Split reports that the event is the later part of a series. Entries of the first part
	// count for it as for an exception, and are kept, since the first part ends before it.
	Split bool
	// Since is when an exception, or a later part, had last changed when its own guests were
	// first read, by Google's clock; zero: they are not known. Entries confirmed at that time
	// are its own.
	Since time.Time
	// Updated is when the event last changed, by Google's clock.
	Updated time.Time
	// Copy is the key of the calendar; confirmed entries name it.
	Copy string
}

// Decision is what to do with an event.
type Decision struct {
	// Add and Remove are addresses in lower case, sorted. Both are empty if the guests are to
	// stay as they are.
	Add, Remove []string
	// Optional are those of Add who need not come, as none of the guests need for whom they
	// are added.
	Optional []string
	// Entries are all entries of the event's record, as they are once Add and Remove are
	// under way.
	Entries map[string]attendee.Entry
	// Changes are the differences of Entries from those before, by address. Without any, and
	// with nothing to add or remove, Entries are those before.
	Changes []Changed
	// Concerned reports that a guest of an event of our people has second addresses, whether
	// there is anything to do or not.
	Concerned bool
	// Inherited are the entries that an exception, or a later part, goes on inheriting if this
	// observation is the first of its guests.
	Inherited map[string]attendee.Entry
}

// Changed is an entry of another state or primary address than before. From is None for
// an address without an entry in the event's record, To for one that needs none any more.
type Changed struct {
	Address, Primary string
	From, To         attendee.State
}

// action is what to do with an address.
type action int

const (
	leave action = iota
	add
	remove
)

// Decide compares an event's guests with the mappings. entries are those of the event's
// record, inherited those of the record of its series or of the series' first part (nil for
// other events), both by address in lower case; secondaries gives the further addresses of an
// address, of whatever case. Neither map is changed.
func Decide(event Event, entries, inherited map[string]attendee.Entry, secondaries func(address string) []string) Decision {
	d := Decision{Entries: make(map[string]attendee.Entry, len(entries))}
	maps.Copy(d.Entries, entries)
	if event.Cancelled {
		return d // Google may leave out the guests of a cancelled event
	}
	s := newSituation(event, entries, inherited, secondaries)
	d.Concerned = event.Inside && len(s.keepers) > 0
	for _, address := range s.concerned(entries, inherited) {
		before, own := entries[address]
		judged := before
		if !own {
			judged = s.inherit(address, inherited[address])
		}
		after, act := s.judge(address, judged)
		if !own {
			d.inherits(address, s.lasting(inherited[address], judged, after))
		}
		switch act {
		case add:
			d.Add = append(d.Add, address)
			if s.optional(address) {
				d.Optional = append(d.Optional, address)
			}
		case remove:
			d.Remove = append(d.Remove, address)
		}
		of := inherited[address]
		if own || event.Split || after.Ours() || s.found(of) || after.State != of.State { // only additions are withdrawn from each record
			d.note(address, before, after, of)
		}
	}
	return d
}

// note takes an entry, and its difference from the one before in state and primary address.
func (d *Decision) note(address string, before, after, inherited attendee.Entry) {
	primary := after.Primary
	switch {
	case after.State != attendee.None:
		d.Entries[address] = after
	case before.State == attendee.None:
		return
	case inherited.State != attendee.None:
		d.Entries[address] = after // else the series' entry would count again
		primary = before.Primary
	default:
		delete(d.Entries, address)
		primary = before.Primary
	}
	if before.State != after.State || before.Primary != primary {
		d.Changes = append(d.Changes, Changed{Address: address, Primary: primary, From: before.State, To: after.State})
	}
}

// inherits takes an entry that an exception inherits from now on, if it is one.
func (d *Decision) inherits(address string, entry attendee.Entry) {
	if entry.State == attendee.None {
		return
	}
	if d.Inherited == nil {
		d.Inherited = map[string]attendee.Entry{}
	}
	d.Inherited[address] = entry
}

// concerned are the addresses about which there is something to decide, sorted.
func (s *situation) concerned(entries, inherited map[string]attendee.Entry) []string {
	all := map[string]bool{}
	for address := range entries {
		all[address] = true
	}
	for address := range inherited {
		all[address] = true
	}
	for address := range s.keepers {
		all[address] = true
	}
	return slices.Sorted(maps.Keys(all))
}
