package attendees

import (
	"maps"
	"slices"
	"time"

	"questscheduler/attendees/mappings"
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
	// Of an event that is Cancelled, has Ended, or is not Editable through this calendar or
	// its mapped organizer's, no guest is added or removed.
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
	// Copy is the key of the calendar whose copy was observed; confirmed entries name it.
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
	Entries map[string]Entry
	// Changes are the differences of Entries from those before, by address. Without any, and
	// with nothing to add or remove, Entries are those before.
	Changes []Changed
	// Inherited are the entries that an exception, or a later part, goes on inheriting if this
	// observation is the first of its guests.
	Inherited map[string]Entry
}

// Changed is an entry of another state or primary address than before. From is None for
// an address without an entry in the event's record, To for one that needs none any more.
type Changed struct {
	Address, Primary string
	From, To         State
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
func Decide(event Event, entries, inherited map[string]Entry, secondaries func(address string) []string) Decision {
	d := Decision{Entries: make(map[string]Entry, len(entries))}
	maps.Copy(d.Entries, entries)
	if event.Cancelled {
		return d // Google may leave out the guests of a cancelled event
	}
	s := newSituation(event, entries, inherited, secondaries)
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
func (d *Decision) note(address string, before, after, inherited Entry) {
	primary := after.Primary
	switch {
	case after.State != None:
		d.Entries[address] = after
	case before.State == None:
		return
	case inherited.State != None:
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
func (d *Decision) inherits(address string, entry Entry) {
	if entry.State == None {
		return
	}
	if d.Inherited == nil {
		d.Inherited = map[string]Entry{}
	}
	d.Inherited[address] = entry
}

// concerned are the addresses about which there is something to decide, sorted.
func (s *situation) concerned(entries, inherited map[string]Entry) []string {
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

// situation is an event as the decision needs it, with addresses in lower case.
type situation struct {
	event     Event
	organizer string
	guests    map[string]Guest
	// keepers are, by second address, the guests for whom it is one, sorted; inviters those
	// of them who have not declined.
	keepers, inviters map[string][]string
	// writable reports that the guests may be changed.
	writable bool
}

func newSituation(event Event, entries, inherited map[string]Entry, secondaries func(string) []string) *situation {
	s := &situation{
		event: event, organizer: mappings.Fold(event.Organizer), guests: map[string]Guest{},
		keepers: map[string][]string{}, inviters: map[string][]string{},
		writable: event.Editable && !event.Ended && !event.Omitted,
	}
	for _, guest := range event.Guests {
		if address := mappings.Fold(guest.Address); address != "" {
			s.guests[address] = merged(s.guests[address], guest)
		}
	}
	for address, guest := range s.guests {
		entry, own := entries[address]
		if !own {
			entry = inherited[address]
		}
		// A guest whom we added invites nobody: else two addresses that are mapped
		// to each other would keep each other for ever.
		if !guest.Resource && !entry.Ours() {
			s.takeSecondaries(address, guest, secondaries(address))
		}
	}
	for _, lists := range []map[string][]string{s.keepers, s.inviters} {
		for _, primaries := range lists {
			slices.Sort(primaries)
		}
	}
	return s
}

// merged is a guest who may be listed twice: once declined is declined, a room is a room, and
// once needed is needed.
func merged(known, guest Guest) Guest {
	guest.Optional = guest.Optional && (known.Address == "" || known.Optional)
	guest.Resource = guest.Resource || known.Resource
	if known.declined() {
		guest.Response = known.Response
	}
	return guest
}

func (g Guest) declined() bool { return g.Response == "declined" }

func (s *situation) takeSecondaries(primary string, guest Guest, secondaries []string) {
	for _, secondary := range secondaries {
		address := mappings.Fold(secondary)
		if address == "" || address == primary || address == s.organizer || slices.Contains(s.keepers[address], primary) {
			continue
		}
		s.keepers[address] = append(s.keepers[address], primary)
		if !guest.declined() {
			s.inviters[address] = append(s.inviters[address], primary)
		}
	}
}

// keeper is the guest for whom an address stays at the event: the one it was added for, else
// another. kept is false if there is none, or the organizer is an outsider; the organizer
// stays in any case.
func (s *situation) keeper(address, primary string) (keeper string, kept bool) {
	keepers := s.keepers[address]
	switch {
	case address == s.organizer:
		return primary, true
	case !s.event.Inside:
		return primary, false
	case slices.Contains(keepers, primary):
		return primary, true
	case len(keepers) > 0:
		return keepers[0], true
	}
	return primary, false
}

// optional reports whether none of the guests for whom an address is added need come.
func (s *situation) optional(address string) bool {
	return !slices.ContainsFunc(s.inviters[address], func(primary string) bool { return !s.guests[primary].Optional })
}

// judge gives an address's entry after the observation, and what to do. An entry without a
// state is none.
func (s *situation) judge(address string, entry Entry) (Entry, action) {
	guest, present := s.guests[address]
	switch {
	case present && entry.Ours():
		return s.judgeAddition(address, entry, guest)
	case present:
		return s.judgeGuest(address, entry), leave
	case s.event.Omitted:
		return entry, leave // it may be a guest all the same
	}
	return s.judgeAbsent(address, entry)
}

// judgeAddition is about a guest that we added: it stays as long as somebody keeps it.
func (s *situation) judgeAddition(address string, entry Entry, guest Guest) (Entry, action) {
	if entry.State == Adding {
		entry = s.confirmed(entry, Added)
	}
	primary, kept := s.keeper(address, entry.Primary)
	switch {
	case kept && entry.State == Withdrawing:
		entry = s.confirmed(entry, Added)
		fallthrough
	case kept:
		entry.Primary = primary
		return entry, leave
	case !s.writable:
		return entry, leave
	}
	entry.State, entry.Declined = Withdrawing, guest.declined()
	return entry, remove
}

// judgeGuest is about a guest whom a person invited, as far as we know.
func (s *situation) judgeGuest(address string, entry Entry) Entry {
	switch entry.State {
	case Removed, Declined: // a person invited it again
		return s.confirmed(entry, Theirs)
	case None:
		if keepers := s.keepers[address]; len(keepers) > 0 {
			return s.confirmed(Entry{Primary: keepers[0]}, Theirs)
		}
	}
	return entry
}

// judgeAbsent is about an address that is no guest.
func (s *situation) judgeAbsent(address string, entry Entry) (Entry, action) {
	switch entry.State {
	case Theirs:
		return s.confirmed(entry, Removed), leave
	case Added:
		if s.trusted(entry) {
			entry = s.confirmed(entry, Removed)
		}
	case Withdrawing:
		if entry.Declined {
			return s.confirmed(entry, Declined), leave
		}
		return s.invite(address, entry)
	case None, Adding:
		return s.invite(address, entry)
	}
	return entry, leave
}

// invite adds an address if an inviter is there, and forgets what was tried before if not.
func (s *situation) invite(address string, entry Entry) (Entry, action) {
	inviters := s.inviters[address]
	if !s.event.Inside {
		inviters = nil
	}
	switch {
	case len(inviters) > 0 && s.writable:
		return Entry{State: Adding, Primary: inviters[0], Copy: s.event.Copy}, add
	case len(inviters) > 0 && entry.State == Adding:
		return entry, leave
	}
	return Entry{}, leave
}

// trusted reports that the observation can show that an added address is gone: it came from
// the calendar that confirmed the entry, and not from before that.
func (s *situation) trusted(entry Entry) bool {
	return entry.Copy == s.event.Copy && !s.event.Updated.Before(entry.At)
}

// confirmed is an entry in a state that this observation shows.
func (s *situation) confirmed(entry Entry, state State) Entry {
	return Entry{
		State: state, Primary: entry.Primary, At: s.event.Updated, Copy: s.event.Copy,
		Declined: state == Declined,
	}
}

// inherit is the entry of an exception that has none in its record, by that of its series.
// What a person did in the series counts here too. An addition to the series counts where
// it is found; where it is not, a person took it out if the exception changed after it.
func (s *situation) inherit(address string, of Entry) Entry {
	_, present := s.guests[address]
	after := !s.event.Omitted && (s.event.Updated.After(of.At) || s.found(of) && s.event.Updated.Equal(of.At))
	switch {
	case of.State == Theirs && !present && !after:
		return Entry{} // the exception is older than the invitation to the series
	case !of.Ours():
		return of
	case present && s.event.Updated.Before(of.At):
		return Entry{} // it was there before the addition
	case present:
		return Entry{State: Adding, Primary: of.Primary}
	case of.State == Added && after:
		return s.confirmed(of, Removed)
	}
	return Entry{}
}

// found reports that an inherited entry was found at the exception itself when its guests were
// first read: whatever changes there later, in the same moment too, changes after it.
func (s *situation) found(of Entry) bool {
	return !s.event.Since.IsZero() && of.At.Equal(s.event.Since)
}

// lasting is what an exception goes on inheriting of an entry, by the first observation of its
// guests: what people did with them, and an addition that it shows. Whom it lacks though nobody
// removed them may come to the series later, and then be added here as well.
func (s *situation) lasting(of, inherited, after Entry) Entry {
	switch {
	case inherited.State == Adding: // found among its guests
		return s.confirmed(inherited, Added)
	case after.State == Theirs:
		return after
	case after.State == Removed || after.State == Declined:
		return of
	}
	return Entry{}
}
