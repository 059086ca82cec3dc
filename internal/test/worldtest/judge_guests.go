package worldtest

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
)

// patchedGuests judges a change that the program makes of an event's guests.
func (w *World) patchedGuests(calendarID, eventID string, patch func()) {
	asked := w.Calls("events.patch")
	defer func() { w.guestbooks.asked += w.Calls("events.patch") - asked }()
	before := w.organized(calendarID, eventID)
	if before.ID == "" {
		w.wrong("the guests of event %s in calendar %s were changed, which is no colleague's", eventID, calendarID)
		patch()
		return
	}
	book := w.book(before)
	patch()
	after := w.organized(calendarID, eventID)
	if after.ETag == before.ETag {
		return // it was refused
	}
	w.keep(after, book)
	if _, sure := w.inside(before); sure { // else the next listing may find another decision
		w.guestbooks.patches++
	}
	w.judgePatch(before, after)
	for _, guest := range after.Guests {
		if address := guest.Address(); before.Guest(address) == nil {
			w.judgeAddition(before, book, after.Guest(address))
		}
	}
	for _, guest := range before.Guests {
		if address := guest.Address(); after.Guest(address) == nil {
			w.judgeWithdrawal(before, book, guest)
		}
	}
}

// judgePatch judges what a change must leave alone.
func (w *World) judgePatch(before, after Gathering) {
	changed := len(before.Guests) != len(after.Guests)
	for _, guest := range after.Guests {
		was := before.Guest(guest.Address())
		changed = changed || was == nil
		if was != nil && !reflect.DeepEqual(was, guest) {
			w.wrong("%v: the program changed guest %s from %v to %v", before, guest.Address(), was, guest)
		}
	}
	switch {
	case w.observing:
		w.wrong("%v: its guests were changed, though the program only observes", before)
	case !changed && !w.isOccurrence(before): // a guest's calendar may show another one
		w.wrong("%v: its guests were written, and were right", before)
	case !before.Live():
		w.wrong("%v: the guests of a deleted event were changed", before)
	case before.over(w.Clock.Now()) && !w.skewed:
		w.wrong("%v: the guests of an event that is over were changed", before)
	}
}

// isOccurrence reports whether an event is an occurrence of which the organizer's calendar
// keeps nothing beside its series.
func (w *World) isOccurrence(g Gathering) bool {
	return g.SeriesID != "" && g.OrganizerName() != "" && g.ETag == w.GatheringOf(g.OrganizerName(), g.SeriesID).ETag
}

// over reports whether an event that is no series ended before a time.
func (g Gathering) over(now time.Time) bool {
	return len(g.Recurrence) == 0 && g.End.moment().Instant(time.UTC).Add(mostOff).Before(now)
}

// lasts reports whether an event ends after a time for sure.
func (g Gathering) lasts(now time.Time) bool {
	return g.End.moment().Instant(time.UTC).After(now.Add(mostOff))
}

// judgeAddition judges that the program added an address: some mapping wanted it for a guest,
// and nobody took it out before. Who is added for guests who need not come need not come.
func (w *World) judgeAddition(before Gathering, book *guestbook, added Guest) {
	address, needed, optional := added.Address(), false, false
	for _, g := range before.Guests {
		if !g.Declined() && !g.room() && w.mapped.ever[g.Address()][address] {
			needed, optional = needed || g["optional"] != true, optional || g["optional"] == true
		}
	}
	inside, _ := w.inside(before)
	switch why := book.banned[address]; {
	case !needed && !optional:
		w.wrong("%v: the program added %s, which no mapping of a guest ever had", before, address)
	case !inside:
		w.wrong("%v: the program added %s to an event of an outsider", before, address)
	case needed != optional && optional != (added["optional"] == true):
		w.wrong("%v: the program added %s as %v, for guests who need not come: %t", before, address, added, optional)
	case why != "":
		w.wrong("%v: the program added %s again: %s", before, address, why)
	case book.added[address] && before.SeriesID == "":
		w.wrong("%v: the program added %s twice", before, address)
	case address == strings.ToLower(before.Organizer.Email):
		w.wrong("%v: the program added its organizer %s", before, address)
	}
	book.added[address], book.unsure[address] = true, false
	w.forgetOccurrences(before, address)
}

// judgeWithdrawal judges that the program took an address out: it had added it.
func (w *World) judgeWithdrawal(before Gathering, book *guestbook, guest Guest) {
	address := guest.Address()
	switch {
	case book.invited[address]:
		w.wrong("%v: the program removed %s, which a person invited", before, address)
	case !book.added[address] && !book.unsure[address]:
		w.wrong("%v: the program removed %s, which it had not added", before, address)
	}
	book.withdrew[address] = true
	w.forgetOccurrences(before, address)
	if guest.Declined() {
		book.banned[address] = "it had declined"
	}
	for _, of := range []map[string]bool{book.added, book.unsure, book.observed} {
		delete(of, address)
	}
}

// forgetOccurrences: an address was added to a series, or taken out by the program. It cannot know
// any more what a person did with it before at an occurrence of which nothing is recorded, nor
// whether such an occurrence has it from the series.
func (w *World) forgetOccurrences(series Gathering, address string) {
	prefix := series.Organizer.Email + " " + series.ID + "_"
	for _, id := range slices.Sorted(maps.Keys(w.guestbooks.all)) {
		book := w.guestbooks.all[id]
		if !strings.HasPrefix(id, prefix) || book.banned[address] == "" && !book.invited[address] && !book.added[address] {
			continue
		}
		_, eventID, _ := strings.Cut(id, " ")
		g := w.GatheringOf(series.OrganizerName(), eventID)
		record := w.recordOf(g, g.original())
		_, own := record.Entries[address]
		if _, inherited := record.Inherited[address]; !own && !inherited {
			book.unsure[address] = true
			delete(book.banned, address)
			for _, of := range []map[string]bool{book.invited, book.added, book.observed} {
				delete(of, address)
			}
		}
	}
}
