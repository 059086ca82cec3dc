// Package streams gives each change of a poll to the streams that it may concern: those of the
// people whom the poll concerns, and those that know the poll. It reads a poll once for all of them,
// so that a change costs what those cost, however many streams are open.
package streams

import (
	"context"
	"iter"
	"sync"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

const (
	// MostOfOne is how many streams a person may have open.
	MostOfOne = 20
	// Held is the most changes that wait for a stream. One that falls farther behind ends, and
	// its caller lists again.
	Held = 256
	// readTimeout is how long reading a poll that changed may take.
	readTimeout = 10 * time.Second
)

// Changes reports which polls were written (changes.Store).
type Changes interface {
	// Listen adds a listener until stop is called, which closes changed, as a loss of changes does.
	Listen() (changed <-chan string, stop func())
}

// Hub knows the open streams. Safe for concurrent use.
type Hub struct {
	changes Changes
	store   store.Reader

	mu       sync.Mutex
	people   map[string]set
	knowing  map[string]set // by poll
	learning set            // these get every change
	session  *session       // nil while no stream is open
}

// Stream is a person's open stream. Changed has the changes that may concern the person, and is
// closed where some were lost.
type Stream struct {
	Changed <-chan *Change

	person  string
	changed chan *Change
	given   map[string]bool // polls that it may know
}

type set = map[*Stream]bool

// session is the time between the first stream and the last.
type session struct{ stop func() }

// Change is a poll that was written, or why it cannot be read.
type Change struct {
	poll.WithGroup
	Err error
}

// New makes a hub without streams. reader reads polls that changed.
func New(changes Changes, reader store.Reader) *Hub {
	return &Hub{changes: changes, store: reader, people: map[string]set{}, knowing: map[string]set{}, learning: set{}}
}

// Enter adds a person's stream until Leave; nil where the person has MostOfOne. It gets every change
// until it has Learned which polls are the person's.
func (h *Hub) Enter(person string) *Stream {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.people[person]) >= MostOfOne {
		return nil
	}
	if h.session == nil {
		changed, stop := h.changes.Listen()
		h.session = &session{stop}
		go h.run(h.session, changed)
	}
	changed := make(chan *Change, Held)
	s := &Stream{Changed: changed, changed: changed, person: person, given: map[string]bool{}}
	put(h.people, person, s)
	h.learning[s] = true
	return s
}

// Leave removes a stream, which may have been cut off before.
func (h *Hub) Leave(s *Stream) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.remove(s)
	if len(h.people) == 0 && h.session != nil {
		h.session.stop()
		h.session = nil
	}
}

// Learn has a stream get every change while it reads which polls are its person's.
func (h *Hub) Learn(s *Stream) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.people[s.person][s] {
		h.learning[s] = true
	}
}

// Learned ends that: from now on the stream gets what concerns its person, and the polls that it
// knows.
func (h *Hub) Learned(s *Stream, known iter.Seq[string]) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.learning, s)
	if !h.people[s.person][s] {
		return // it was cut off
	}
	for id := range known {
		h.give(s, id)
	}
}

// run gives changes to streams until the last one has left, or changes were lost.
func (h *Hub) run(own *session, changed <-chan string) {
	for id := range changed {
		h.send(h.read(id))
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.session != own {
		return
	}
	h.session = nil
	for _, feeds := range h.people {
		for s := range feeds {
			h.cut(s)
		}
	}
}

func (h *Hub) read(id string) *Change {
	ctx, cancel := context.WithTimeout(context.Background(), readTimeout)
	defer cancel()
	polls, err := poll.LoadWithGroups(ctx, h.store, []string{id})
	if err != nil {
		return &Change{poll.WithGroup{ID: id}, err}
	}
	return &Change{polls[0], nil}
}

// send gives a change to those whom it may concern; an error concerns all.
func (h *Hub) send(c *Change) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for s := range h.concerned(c) {
		select {
		case s.changed <- c:
		default:
			h.cut(s)
		}
	}
}

func (h *Hub) concerned(c *Change) set {
	to := set{}
	add := func(feeds set) {
		for s := range feeds {
			to[s] = true
		}
	}
	if c.Err != nil {
		for _, feeds := range h.people {
			add(feeds)
		}
		return to
	}
	add(h.learning)
	add(h.knowing[c.ID])
	for s := range h.knowing[c.ID] {
		if !c.Concerns(s.person) {
			h.take(s, c.ID)
		}
	}
	for _, person := range c.People() {
		add(h.people[person])
		for s := range h.people[person] {
			h.give(s, c.ID)
		}
	}
	return to
}

// cut ends a stream that lost changes.
func (h *Hub) cut(s *Stream) {
	h.remove(s)
	close(s.changed)
}

func (h *Hub) remove(s *Stream) {
	drop(h.people, s.person, s)
	delete(h.learning, s)
	for id := range s.given {
		h.take(s, id)
	}
}

// give notes that a stream may know a poll, and take that it is told that the poll is not its
// person's.
func (h *Hub) give(s *Stream, id string) {
	s.given[id] = true
	put(h.knowing, id, s)
}

func (h *Hub) take(s *Stream, id string) {
	delete(s.given, id)
	drop(h.knowing, id, s)
}

func put(in map[string]set, key string, s *Stream) {
	if in[key] == nil {
		in[key] = set{}
	}
	in[key][s] = true
}

func drop(from map[string]set, key string, s *Stream) {
	delete(from[key], s)
	if len(from[key]) == 0 {
		delete(from, key)
	}
}
