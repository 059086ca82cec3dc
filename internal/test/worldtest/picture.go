package worldtest

import (
	"slices"
	"strings"

	"questscheduler/internal/calendars"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

// picture is what the invariants are checked on: documents and events as they
// were when it was last brought up to date. A new one reads everything; from
// then on it reads what the store and the simulator say has changed since.
type picture struct {
	world *World
	whole bool
	// fresh are the documents that were taken in since HistoryProblems took them.
	fresh     []store.Document
	polls     shelf[poll.Poll]
	slots     shelf[poll.Slot]
	index     shelf[poll.IndexEntry]
	intents   shelf[poll.Intent]
	calendars shelf[calendars.Calendar]
	// journals says how the replay of a poll's journal differs from the poll ("": it
	// does not); stale are the polls whose journal must be replayed again.
	journals map[string]string
	stale    map[string]bool
	// events are those of each of Calendars, and versions what the simulator
	// said when they were read.
	events   map[string][]Event
	versions map[string]int64
	google   int64
	// leaks are the documents that hold a secret, and which.
	leaks shelf[string]
	// logged is how far the log was read, and logLeaks are the secrets found.
	logged   int
	logLeaks []string
	released int
	// changed are the kinds that changed since the invariants were last
	// checked, and found what they gave then, in the order of invariants.
	changed kinds
	found   [][]string
}

// kinds is a set of what a picture is made of.
type kinds uint

const (
	ofPolls kinds = 1 << iota
	ofSlots
	ofIndex
	ofIntents
	ofCalendars
	ofJournals
	ofAccounts
	ofEvents
	ofTokens // sync tokens may have ended
	ofReleased
	ofSecrets
	ofAll kinds = 1<<iota - 1
)

func newPicture(w *World) *picture {
	return &picture{
		world: w, journals: map[string]string{}, stale: map[string]bool{}, events: map[string][]Event{}, versions: map[string]int64{},
		polls: shelved(poll.Decode), slots: shelved(poll.DecodeSlot), index: shelved(poll.DecodeIndex),
		intents: shelved(poll.DecodeIntent), calendars: shelved(calendars.Decode), leaks: shelved(leak),
	}
}

// problems brings the picture up to date and says what does not hold on it.
func (p *picture) problems() []string {
	p.refresh()
	for i, part := range invariants {
		if part.of&p.changed != 0 {
			p.found[i] = part.find(p)
		}
	}
	p.changed = 0
	return slices.Concat(p.found...)
}

// refresh brings the picture up to date.
func (p *picture) refresh() {
	if p.whole {
		p.update()
	} else {
		p.read()
	}
}

// read reads everything.
func (p *picture) read() {
	for _, query := range inspections() {
		for _, doc := range p.world.all(query) {
			p.put(doc)
		}
	}
	p.readEvents()
	p.readLog()
	p.whole, p.changed, p.found = true, ofAll, make([][]string, len(invariants))
}

// update reads what has changed.
func (p *picture) update() {
	written, trees := p.world.observed.changed()
	if len(trees) > 0 {
		*p = *newPicture(p.world)
		p.read()
		return
	}
	if len(written) > 0 {
		documents, err := p.world.observed.stored.GetAll(p.world.ctx, written)
		p.world.must(err)
		for _, doc := range documents {
			p.put(doc)
		}
	}
	p.readEvents()
	p.readLog()
	if n := len(p.world.released); n != p.released {
		p.released = n
		p.changed |= ofReleased
	}
}

// put takes in a document, or that it is gone.
func (p *picture) put(doc store.Document) {
	p.fresh = append(p.fresh, doc)
	switch collection := doc.Path.Collection(); collection {
	case allPolls.Collection:
		p.polls.put(doc)
		p.stale[doc.Path.ID()] = true
		p.changed |= ofPolls
	case allJournals.Collection:
		p.stale[doc.Path.Parent().ID()] = true
		p.changed |= ofJournals
	case allSlots.Collection:
		p.slots.put(doc)
		p.changed |= ofSlots
	case allIndex.Collection:
		p.index.put(doc)
		p.changed |= ofIndex
	case allIntents.Collection:
		p.intents.put(doc)
		p.changed |= ofIntents
	case allCalendars.Collection:
		p.calendars.put(doc)
		p.changed |= ofCalendars
	case allAccounts.Collection:
		p.changed |= ofAccounts
	}
	if leak(doc) != "" {
		p.leaks.put(doc)
		p.changed |= ofSecrets
	} else if p.leaks.has(doc.Path) {
		p.leaks.put(store.Document{Path: doc.Path})
		p.changed |= ofSecrets
	}
}

// readEvents lists the calendars that changed.
func (p *picture) readEvents() {
	changes := p.world.Google.Changes()
	if p.whole && changes == p.google {
		return
	}
	p.google = changes
	p.changed |= ofTokens
	for _, name := range Calendars {
		_, calendarID := calendarOf(name)
		version := p.world.Google.Version(calendarID)
		if before, read := p.versions[name]; read && before == version {
			continue
		}
		p.versions[name], p.events[name] = version, p.list(name)
		p.changed |= ofEvents
	}
}

// list lists a calendar, anew where everything is read.
func (p *picture) list(name string) []Event {
	if p.whole {
		return p.world.Events(name)
	}
	return p.world.list(name)
}

// readLog searches for secrets in the log lines since the last call, and in as much
// of the log before them as a secret may have begun in.
func (p *picture) readLog() {
	log := p.world.log.Bytes()
	if len(log) == p.logged {
		return
	}
	fresh := string(log[max(0, p.logged-longestMark):])
	p.logged = len(log)
	for _, mark := range secretMarks {
		if strings.Contains(fresh, mark) && !slices.Contains(p.logLeaks, mark) {
			p.logLeaks = append(p.logLeaks, mark)
			p.changed |= ofSecrets
		}
	}
}

// event is an event of a calendar that is there and was not deleted; the zero
// event otherwise.
func (p *picture) event(calendar, eventID string) Event {
	for _, event := range p.events[calendar] {
		if event.ID == eventID {
			return event
		}
	}
	return Event{}
}

// slot is a slot of a poll, nil where there is none.
func (p *picture) slot(pollID, slotID string) *poll.Slot {
	slot, there := p.slots.at[poll.SlotPath(pollID, slotID)]
	if !there {
		return nil
	}
	return &slot
}

// PollWithWinner returns a poll as it is stored and its winning slot, nil if there
// is none. False: the poll is not there.
func (w *World) PollWithWinner(pollID string) (p poll.Poll, winning *poll.Slot, there bool) {
	w.t.Helper()
	w.picture.refresh()
	p, there = w.picture.polls.at[poll.Path(pollID)]
	return p, w.picture.slot(pollID, p.WinningSlotID), there
}

// shelf holds the documents of one collection, by path.
type shelf[T any] struct {
	decode func(store.Document) T
	at     map[store.Path]T
	paths  []store.Path // sorted
}

func shelved[T any](decode func(store.Document) T) shelf[T] {
	return shelf[T]{decode: decode, at: map[store.Path]T{}}
}

func (s *shelf[T]) has(path store.Path) bool { _, there := s.at[path]; return there }

func (s *shelf[T]) put(doc store.Document) {
	i, there := slices.BinarySearch(s.paths, doc.Path)
	switch {
	case doc.Exists():
		s.at[doc.Path] = s.decode(doc)
		if !there {
			s.paths = slices.Insert(s.paths, i, doc.Path)
		}
	case there:
		delete(s.at, doc.Path)
		s.paths = slices.Delete(s.paths, i, i+1)
	}
}

// all goes through the shelf in the order of paths.
func (s *shelf[T]) all(yield func(store.Path, T) bool) {
	for _, path := range s.paths {
		if !yield(path, s.at[path]) {
			return
		}
	}
}

// secretMarks begin every secret of a world: refresh tokens, access tokens,
// those of watch channels, and the program's own at Google.
var secretMarks = []string{"1//sim-", "ya29.sim-", channelSecret, clientSecret}

const (
	channelSecret = "v1.channel-secret."
	clientSecret  = "client-secret-"
	longestMark   = len(channelSecret)
)

// leak is the mark of a secret that a document holds; "" where it holds none.
func leak(doc store.Document) string {
	if !leaks(doc, secretMarks...) {
		return ""
	}
	return secretMarks[slices.IndexFunc(secretMarks, func(mark string) bool { return leaks(doc, mark) })]
}

// leaks reports whether a document holds one of some marks.
func leaks(doc store.Document, marks ...string) bool {
	return marked(string(doc.Path), marks) || holds(doc.Data, marks)
}

// holds reports whether one of some marks occurs anywhere in a stored value.
func holds(value any, marks []string) bool {
	switch v := value.(type) {
	case string:
		return marked(v, marks)
	case []any:
		return slices.ContainsFunc(v, func(item any) bool { return holds(item, marks) })
	case map[string]any:
		for name, field := range v {
			if marked(name, marks) || holds(field, marks) {
				return true
			}
		}
	}
	return false
}

func marked(text string, marks []string) bool {
	return slices.ContainsFunc(marks, func(mark string) bool { return strings.Contains(text, mark) })
}
