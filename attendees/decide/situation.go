package decide

import (
	"slices"

	"questscheduler/internal/attendee"
	"questscheduler/internal/mapping"
)

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

func newSituation(event Event, entries, inherited map[string]attendee.Entry, secondaries func(string) []string) *situation {
	s := &situation{
		event: event, organizer: mapping.Fold(event.Organizer), guests: map[string]Guest{},
		keepers: map[string][]string{}, inviters: map[string][]string{},
		writable: event.Editable && !event.Ended && !event.Omitted,
	}
	for _, guest := range event.Guests {
		if address := mapping.Fold(guest.Address); address != "" {
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
		address := mapping.Fold(secondary)
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
