// Package changes tells those who listen which polls were just written.
//
// A Store stands before a store of any driver and does what that one does; what
// its transactions wrote, once they are committed, it tells every Listener as
// the ids of polls, with a mark on those whose slots or votes were written. A
// Change says nothing else of what changed or of who may see it, it may come for
// a write that changed nothing, and it does not come for what other processes
// wrote. A reader that must not miss those has to check from time to time.
//
// There is no goroutine here, and a writer never waits for a listener: changes
// that a listener does not take are kept up to a bound, and then dropped with a
// mark that some were lost.
package changes

import (
	"context"
	"slices"
	"sync"

	"questscheduler/internal/fault"
	"questscheduler/internal/store"
)

// Store is a store.Store that tells of what is written through it.
type Store struct {
	store.Store

	mu        sync.Mutex
	listeners []*Listener
}

var _ store.Store = (*Store)(nil)

// New puts a Store before another, which stays whole: what is written to that
// one directly is told to nobody.
func New(inner store.Store) *Store { return &Store{Store: inner} }

// Listen adds a listener. Every commit that begins after it is told.
func (s *Store) Listen() *Listener {
	l := &Listener{Pending: NewPending(Held), store: s}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listeners = append(s.listeners, l)
	return l
}

// Listening counts the listeners.
func (s *Store) Listening() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.listeners)
}

// Run implements store.Store. What was written is told after the commit, and
// after an error that leaves open whether there was one.
func (s *Store) Run(ctx context.Context, fn func(ctx context.Context, tx store.Tx) error) error {
	var written []Change
	err := s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		written = nil // of the attempt before, which counts for nothing
		return fn(ctx, &recorder{Tx: tx, written: &written})
	})
	if err == nil || fault.Is(err, fault.Unavailable) {
		s.tell(written)
	}
	return err
}

// DeleteTree implements store.Store. It is not atomic, so it is told of
// whatever became of it.
func (s *Store) DeleteTree(ctx context.Context, path store.Path) error {
	err := s.Store.DeleteTree(ctx, path)
	if id := PollOf(path); id != "" {
		s.tell([]Change{{Poll: id, Below: true}})
	}
	return err
}

func (s *Store) tell(written []Change) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, listener := range s.listeners {
		listener.Add(written...)
	}
}

func (s *Store) remove(l *Listener) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listeners = slices.DeleteFunc(s.listeners, func(other *Listener) bool { return other == l })
}

// recorder notes the polls that an attempt of a transaction writes.
type recorder struct {
	store.Tx
	written *[]Change
}

func (r *recorder) note(path store.Path) {
	id := PollOf(path)
	if id == "" {
		return
	}
	change := Change{Poll: id, Below: path.Parent() != ""}
	if !slices.Contains(*r.written, change) {
		*r.written = append(*r.written, change)
	}
}

// Create implements store.Tx.
func (r *recorder) Create(path store.Path, data map[string]any) error {
	r.note(path)
	return r.Tx.Create(path, data)
}

// Set implements store.Tx.
func (r *recorder) Set(path store.Path, data map[string]any) error {
	r.note(path)
	return r.Tx.Set(path, data)
}

// Update implements store.Tx.
func (r *recorder) Update(path store.Path, updates ...store.Update) error {
	r.note(path)
	return r.Tx.Update(path, updates...)
}

// Merge implements store.Tx.
func (r *recorder) Merge(path store.Path, updates ...store.Update) error {
	r.note(path)
	return r.Tx.Merge(path, updates...)
}

// Delete implements store.Tx.
func (r *recorder) Delete(path store.Path) error {
	r.note(path)
	return r.Tx.Delete(path)
}

// The collection of polls, and those below it that their readers see.
const (
	polls = "schedulers"
	slots = "slots"
	votes = "votes"
)

// PollOf is the poll whose readers see the document at a path; "" where nobody
// sees it as part of one.
func PollOf(path store.Path) string {
	switch path.Collection() {
	case polls:
		if path.Parent() == "" {
			return path.ID()
		}
	case slots, votes:
		if above := path.Parent(); above.Collection() == polls && above.Parent() == "" {
			return above.ID()
		}
	}
	return ""
}
