package worldtest

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"questscheduler/internal/attendee"
	"questscheduler/internal/calendars"
)

// guestbook is what became of addresses at an event, by what people and the program did to
// its guests. Addresses are in lower case.
type guestbook struct {
	// invited are those that a person invited, banned those that may not be added again, by
	// why, and added those that the program added.
	invited, added map[string]bool
	banned         map[string]string
	// unsure are those that a person added or removed before the program could know what
	// was there: nothing is asked of them.
	unsure map[string]bool
	// observed are those of added that the program read at the event and had the time to note.
	observed map[string]bool
	// withdrew are those that the program took out.
	withdrew map[string]bool
}

func newGuestbook() *guestbook {
	return &guestbook{map[string]bool{}, map[string]bool{}, map[string]string{}, map[string]bool{}, map[string]bool{}, map[string]bool{}}
}

func (b *guestbook) clone() *guestbook {
	return &guestbook{maps.Clone(b.invited), maps.Clone(b.added), maps.Clone(b.banned), maps.Clone(b.unsure), maps.Clone(b.observed), map[string]bool{}}
}

// guestbooks are those of all events of Colleagues.
type guestbooks struct {
	all map[string]*guestbook
	// during: people act during a call of the program, which knows what was before.
	during bool
	// shown are the addresses that answers showed to a run of a task, by the run's operation.
	shown map[*operation][]showing
	// Patches counts the changes that the program made.
	patches int
}

// showing is that an answer showed an address at an event.
type showing struct {
	book    *guestbook
	address string
}

func newGuestbooks() guestbooks {
	return guestbooks{all: map[string]*guestbook{}, shown: map[*operation][]showing{}}
}

// book is an event's. An occurrence of a series begins with that of its series.
func (w *World) book(g Gathering) *guestbook {
	id := g.Organizer.Email + " " + g.ID
	book := w.guestbooks.all[id]
	if book == nil {
		book = newGuestbook()
		if series := w.guestbooks.all[g.Organizer.Email+" "+g.SeriesID]; g.SeriesID != "" && series != nil {
			book = series.clone()
		}
		w.guestbooks.all[id] = book
	}
	return book
}

// ByPerson has a person do something in the calendar of a colleague that may change the
// guests of an event, and notes what.
func (w *World) ByPerson(name, eventID string, act func()) {
	w.t.Helper()
	before := w.organized(Person(name).Email, eventID)
	var book *guestbook
	if before.ID != "" {
		book = w.book(before)
	}
	act()
	after := w.organized(Person(name).Email, eventID)
	if book == nil {
		book = w.book(after)
	}
	for _, guest := range after.Guests {
		if address := guest.Address(); before.Guest(address) == nil {
			w.personAdded(after, book, address)
		}
	}
	for _, guest := range before.Guests {
		if address := guest.Address(); after.Live() && after.Guest(address) == nil {
			w.personRemoved(before, book, address)
		}
	}
}

// DuringCalls has people act while calls of the program are under way.
func (w *World) DuringCalls(act func()) {
	w.guestbooks.during = true
	defer func() { w.guestbooks.during = false }()
	act()
}

func (w *World) personAdded(g Gathering, book *guestbook, address string) {
	known := w.recorded(g, address)
	ours := known == attendee.Adding || known == attendee.Added || known == attendee.Withdrawing
	book.invited[address], book.unsure[address] = true, false
	if ours || w.guestbooks.during { // the program cannot tell it from its own
		book.invited[address], book.unsure[address] = false, true
	}
	delete(book.banned, address)
	delete(book.added, address)
}

func (w *World) personRemoved(g Gathering, book *guestbook, address string) {
	known := w.recorded(g, address)
	knew := known != "" && known != attendee.Adding && known != attendee.Withdrawing
	if !w.guestbooks.during && (knew || book.observed[address]) {
		book.banned[address] = "a person removed it"
		delete(book.unsure, address)
	} else {
		book.unsure[address] = true
	}
	for _, of := range []map[string]bool{book.invited, book.added, book.observed} {
		delete(of, address)
	}
}

// patchedGuests judges a change that the program makes of an event's guests.
func (w *World) patchedGuests(calendarID, eventID string, patch func()) {
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
	w.guestbooks.patches++
	w.judgePatch(before, after, book)
	for _, guest := range after.Guests {
		if address := guest.Address(); before.Guest(address) == nil {
			w.judgeAddition(before, book, address)
		}
	}
	for _, guest := range before.Guests {
		if address := guest.Address(); after.Guest(address) == nil {
			w.judgeWithdrawal(before, book, guest)
		}
	}
}

// judgePatch judges what a change must leave alone.
func (w *World) judgePatch(before, after Gathering, book *guestbook) {
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
	return g.SeriesID != "" && g.ETag == w.GatheringOf(g.OrganizerName(), g.SeriesID).ETag
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
// and nobody took it out before.
func (w *World) judgeAddition(before Gathering, book *guestbook, address string) {
	wanted := slices.ContainsFunc(before.Guests, func(g Guest) bool {
		return !g.Declined() && !g.room() && w.mapped.ever[g.Address()][address]
	})
	switch why := book.banned[address]; {
	case !wanted:
		w.wrong("%v: the program added %s, which no mapping of a guest ever had", before, address)
	case why != "":
		w.wrong("%v: the program added %s again: %s", before, address, why)
	case book.added[address]:
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

// forgetOccurrences: the program added an address to a series, or took it out. It cannot know
// any more what a person did with it before at an occurrence of which nothing is recorded.
func (w *World) forgetOccurrences(series Gathering, address string) {
	prefix := series.Organizer.Email + " " + series.ID + "_"
	for _, id := range slices.Sorted(maps.Keys(w.guestbooks.all)) {
		book := w.guestbooks.all[id]
		if !strings.HasPrefix(id, prefix) || book.banned[address] == "" && !book.invited[address] {
			continue
		}
		_, eventID, _ := strings.Cut(id, " ")
		g := w.GatheringOf(series.OrganizerName(), eventID)
		if _, own := w.recordedOf(g, g.original(), address); !own {
			book.unsure[address] = true
			delete(book.banned, address)
			delete(book.invited, address)
		}
	}
}

// showed notes that an answer showed the guests of an event to the program.
func (w *World) showed(calendarID, eventID string) {
	g := w.organized(calendarID, eventID)
	if g.ID == "" {
		return
	}
	book := w.book(g)
	for _, guest := range g.Guests {
		if book.added[guest.Address()] {
			w.guestbooks.shown[w.running] = append(w.guestbooks.shown[w.running], showing{book, guest.Address()})
		}
	}
}

// noted says that what answers showed to the run of a task is in the store.
func (w *World) noted(done bool) {
	for _, s := range w.guestbooks.shown[w.running] {
		s.book.observed[s.address] = s.book.observed[s.address] || done && s.book.added[s.address]
	}
	delete(w.guestbooks.shown, w.running)
}

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

// withdrawable reports whether the program could change the event when it added somebody, and
// still can: an organizer's calendar that it once followed.
func (w *World) withdrawable(g Gathering) bool {
	return w.writable(g) || !w.options.Delegated && len(w.mapped.ever[g.Organizer.Email]) > 0
}

// guestProblems compares an event's guests with those that the mappings want, as far as the
// program may change them.
func (w *World) guestProblems(g Gathering) (problems []string) {
	book, series := w.book(g), newGuestbook()
	if g.SeriesID != "" { // it decides about an occurrence that is not known separately
		series = w.book(w.GatheringOf(g.OrganizerName(), g.SeriesID))
	}
	wanted, kept, count := map[string]bool{}, map[string]bool{}, map[string]int{}
	for _, guest := range g.Guests {
		count[guest.Address()]++
		for _, second := range w.mapped.now[guest.Address()] {
			kept[second] = kept[second] || !guest.room()
			wanted[second] = wanted[second] || !guest.room() && !guest.Declined()
		}
	}
	for _, address := range slices.Sorted(maps.Keys(wanted)) {
		later := series.banned[address] != "" || series.added[address] || series.invited[address] || series.unsure[address]
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
		case book.added[address] && !kept[address] && w.withdrawable(g):
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
		if mapped := len(w.mapped.now[calendar.CalendarID]) > 0; mapped != (calendar.Interests[attendee.Consumer] > 0) {
			problems = append(problems, fmt.Sprintf("calendar %s has %d interests in second addresses, and its owner's mapping is %v",
				calendar.CalendarID, calendar.Interests[attendee.Consumer], w.mapped.now[calendar.CalendarID]))
		}
		if calendar.Wanted() && len(calendar.Backlogs[attendee.Consumer].Deferred) > 0 {
			problems = append(problems, fmt.Sprintf("calendar %s has events deferred: %v", calendar.CalendarID, calendar.Backlogs))
		}
	}
	return problems
}
