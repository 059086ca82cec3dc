package worldtest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"questscheduler/attendees"
	"questscheduler/attendees/mappings"
	"questscheduler/internal/calendars"
)

// AttendeeDisagreements are what must hold of second addresses in a world at rest.
func (w *World) AttendeeDisagreements() (problems []string) {
	w.t.Helper()
	if !w.options.Attended {
		return nil
	}
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	for _, record := range w.AttendeeRecords() {
		if !record.Due.IsZero() || record.Failures > 0 || record.Error != "" {
			wrong("the record of event %s is due at %v, with error %q after %d failures", record.ICalUID, record.Due, record.Error, record.Failures)
		}
	}
	for _, person := range Colleagues {
		for _, g := range w.Gatherings(person.ID) {
			if g.lasts(w.Clock.Now()) {
				problems = append(problems, w.guestProblems(g)...)
			}
		}
	}
	return append(problems, w.followedProblems()...)
}

// mostOff is how near its end nothing is asked of an event: an entire day ends at another
// time elsewhere.
const mostOff = 15 * time.Hour

// writable reports whether the program follows a calendar in which it may change the event.
func (w *World) writable(g Gathering) bool {
	if len(w.mapped.now[g.Organizer.Email]) > 0 {
		return true
	}
	return g.MayEdit && slices.ContainsFunc(g.Guests, func(guest Guest) bool {
		name := colleague(guest.Address())
		return len(w.mapped.now[guest.Address()]) > 0 && name != "" && w.GatheringOf(name, g.ID).Live()
	})
}

// withdrawable reports whether the program must take an addition back: it follows a calendar
// that shows when nothing wants the address any more, or knows the organizer's, which it once
// followed, and no mapping gives the address to anybody.
func (w *World) withdrawable(g Gathering, address string) bool {
	if w.writable(g) {
		return true
	}
	for _, seconds := range w.mapped.now {
		if slices.Contains(seconds, address) {
			return false // its guest may have left unnoticed
		}
	}
	record := w.recordOf(g, g.original())
	return !w.options.Delegated &&
		slices.ContainsFunc(slices.Collect(maps.Values(record.Copies)), func(c attendees.Copy) bool { return c.Organized && !c.Gone })
}

// inside reports whether an event's organizer is in the domain of primary addresses, or has a
// second address. Of the latter it is not sure: their mapping may have come or gone since the
// program last read the event.
func (w *World) inside(g Gathering) (inside, sure bool) {
	address := strings.ToLower(g.Organizer.Email)
	if strings.HasSuffix(address, "@"+Domain) {
		return true, true
	}
	for _, ever := range w.mapped.ever {
		if ever[address] {
			return true, false
		}
	}
	return false, true
}

// guestProblems compares an event's guests with those that the mappings want, as far as the
// program may change them.
func (w *World) guestProblems(g Gathering) (problems []string) {
	book, series := w.book(g), newGuestbook()
	if g.SeriesID != "" { // it decides about an occurrence that is not known separately
		series = w.book(w.GatheringOf(g.OrganizerName(), g.SeriesID))
	}
	inside, sure := w.inside(g)
	wanted, kept, count := map[string]bool{}, map[string]bool{}, map[string]int{}
	for _, guest := range g.Guests {
		count[guest.Address()]++
		for _, second := range w.mapped.now[guest.Address()] {
			kept[second] = kept[second] || !sure || inside && !guest.room()
			wanted[second] = wanted[second] || sure && inside && !guest.room() && !guest.Declined()
		}
	}
	record := w.recordOf(g, g.original())
	for _, address := range slices.Sorted(maps.Keys(wanted)) {
		// What the occurrence lacked during an addition to the series was removed by a person.
		lacked := series.withdrew[address] && w.recorded(g, address) == attendees.Removed
		later := lacked || series.banned[address] != "" || series.added[address] || series.invited[address] || series.unsure[address]
		if !record.Since.IsZero() { // but not what came to the series when the occurrence was known
			later = w.inherited(g, address).State != attendees.None
		}
		excused := book.banned[address] != "" || later || book.unsure[address] || address == g.Organizer.Email
		if wanted[address] && count[address] == 0 && !excused && w.writable(g) {
			problems = append(problems, fmt.Sprintf("%v lacks %s", g, address))
		}
	}
	for _, address := range slices.Sorted(maps.Keys(count)) {
		switch {
		case count[address] > 1:
			problems = append(problems, fmt.Sprintf("%v has %s %d times", g, address, count[address]))
		case series.withdrew[address] || series.banned[address] != "" || series.unsure[address]: // perhaps before the occurrence was read
		case book.added[address] && !kept[address] && w.withdrawable(g, address):
			problems = append(problems, fmt.Sprintf("%v still has %s, which the program added and nothing wants", g, address))
		}
	}
	return problems
}

// followedProblems: the calendars of mapped people are followed for second addresses, and
// those of nobody else.
func (w *World) followedProblems() (problems []string) {
	for _, document := range w.all(allCalendars) {
		calendar := calendars.Decode(document)
		if mapped := len(w.mapped.now[calendar.CalendarID]) > 0; mapped != (calendar.Interests[mappings.Consumer] > 0) {
			problems = append(problems, fmt.Sprintf("calendar %s has %d interests in second addresses, and its owner's mapping is %v",
				calendar.CalendarID, calendar.Interests[mappings.Consumer], w.mapped.now[calendar.CalendarID]))
		}
		if calendar.Wanted() && len(calendar.Backlogs[mappings.Consumer].Deferred) > 0 {
			problems = append(problems, fmt.Sprintf("calendar %s has events deferred: %v", calendar.CalendarID, calendar.Backlogs))
		}
	}
	return problems
}
