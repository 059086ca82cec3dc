package worldtest

import (
	"maps"

	"questscheduler/attendees"
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
	return &guestbook{
		maps.Clone(b.invited), maps.Clone(b.added), maps.Clone(b.banned), maps.Clone(b.unsure), maps.Clone(b.observed),
		map[string]bool{},
	}
}

// guestbooks are those of all events of Colleagues.
type guestbooks struct {
	all map[string]*guestbook
	// during: people act during a call of the program, which knows what was before.
	during bool
	// shown are the addresses that answers showed to a run of a task, by the run's operation.
	shown map[*operation][]showing
	// asked counts the program's calls for changes, patches the changes that it made of events
	// of whose organizers it can be sure.
	asked, patches int
}

// showing is that an answer showed an address at an event.
type showing struct {
	book    *guestbook
	address string
}

func newGuestbooks() guestbooks {
	return guestbooks{all: map[string]*guestbook{}, shown: map[*operation][]showing{}}
}

// book is an event's. An occurrence of a series begins with that of its series, as soon as the
// organizer's calendar keeps it separately.
func (w *World) book(g Gathering) *guestbook {
	book := w.guestbooks.all[g.key()]
	if book != nil {
		return book
	}
	book = newGuestbook()
	if series := w.guestbooks.all[g.Organizer.Email+" "+g.SeriesID]; g.SeriesID != "" && series != nil {
		book = series.clone()
	}
	w.keep(g, book)
	return book
}

func (g Gathering) key() string { return g.Organizer.Email + " " + g.ID }

// keep keeps the book of an event.
func (w *World) keep(g Gathering, book *guestbook) {
	if g.Live() && !w.isOccurrence(g) {
		w.guestbooks.all[g.key()] = book
	}
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
	if organizer := before.OrganizerName(); organizer != "" { // the act may have removed the copy that names it
		after = w.GatheringOf(organizer, eventID)
	}
	if book == nil {
		book = w.book(after)
	}
	w.keep(after, book)
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
	ours := known == attendees.Adding || known == attendees.Added || known == attendees.Withdrawing
	book.invited[address], book.unsure[address] = true, false
	if ours || w.guestbooks.during { // the program cannot tell it from its own
		book.invited[address], book.unsure[address] = false, true
	}
	delete(book.banned, address)
	delete(book.added, address)
	w.forgetOccurrences(g, address)
}

// personRemoved notes that a person took an address out. Nothing is asked of it where the program
// cannot tell that from its own change: one that it began and does not know to have been made.
func (w *World) personRemoved(g Gathering, book *guestbook, address string) {
	known := w.recorded(g, address)
	knew := known != attendees.Withdrawing && (book.observed[address] || known != "" && known != attendees.Adding)
	if !w.guestbooks.during && !w.sameMoment(g, address) && knew {
		book.banned[address] = "a person removed it"
		delete(book.unsure, address)
	} else {
		book.unsure[address] = true
	}
	for _, of := range []map[string]bool{book.invited, book.added, book.observed} {
		delete(of, address)
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
