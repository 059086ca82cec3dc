// Package changes notifies listeners in this process of polls that were just written.
//
// A Store wraps a store of any driver. After each commit it passes the ids of the written
// polls to every Listener, marked where slots or votes were written. A Change may be about
// a write that changed nothing, and writes of other processes cause none: a reader that
// must not miss those checks from time to time.
//
// A writer never waits for a listener: changes that a listener does not take are kept up
// to a bound, and then dropped and marked as lost.
package changes

import (
	"context"
	"slices"
	"sync"

	"questscheduler/fault"
	"questscheduler/internal/store"
)

// Store is a store.Store that notifies listeners of the writes through it.
type Store struct {
	store.Store

	mu        sync.Mutex
	listeners []*Listener
}

var _ store.Store = (*Store)(nil)

// New wraps a store. Writes to inner itself cause no notifications.
func New(inner store.Store) *Store { return &Store{Store: inner} }

// Listen adds a listener, for every commit that begins after it.
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

// Run implements store.Store. Listeners are notified after the commit, and after an error
// that leaves open whether it took effect.
func (s *Store) Run(ctx context.Context, fn func(ctx context.Context, tx store.Tx) error) error {
	var written []Change
	err := s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		written = nil // of the previous attempt
		return fn(ctx, &recorder{Tx: tx, written: &written})
	})
	if err == nil || fault.Is(err, fault.Unavailable) {
		s.notify(written)
	}
	return err
}

// DeleteTree implements store.Store. It is not atomic, so listeners are notified also
// after an error.
func (s *Store) DeleteTree(ctx context.Context, path store.Path) error {
	err := s.Store.DeleteTree(ctx, path)
	if id := PollOf(path); id != "" {
		s.notify([]Change{{Poll: id, Parts: true}})
	}
	return err
}

func (s *Store) notify(written []Change) {
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

// recorder records the polls that an attempt of a transaction writes.
type recorder struct {
	store.Tx
	written *[]Change
}

func (r *recorder) record(path store.Path) {
	id := PollOf(path)
	if id == "" {
		return
	}
	change := Change{Poll: id, Parts: path.Parent() != ""}
	if !slices.Contains(*r.written, change) {
		*r.written = append(*r.written, change)
	}
}

// Create implements store.Tx.
func (r *recorder) Create(path store.Path, data map[string]any) error {
	r.record(path)
	return r.Tx.Create(path, data)
}

// Set implements store.Tx.
func (r *recorder) Set(path store.Path, data map[string]any) error {
	r.record(path)
	return r.Tx.Set(path, data)
}

// Update implements store.Tx.
func (r *recorder) Update(path store.Path, updates ...store.Update) error {
	r.record(path)
	return r.Tx.Update(path, updates...)
}

// Merge implements store.Tx.
func (r *recorder) Merge(path store.Path, updates ...store.Update) error {
	r.record(path)
	return r.Tx.Merge(path, updates...)
}

// Delete implements store.Tx.
func (r *recorder) Delete(path store.Path) error {
	r.record(path)
	return r.Tx.Delete(path)
}

const (
	polls = "schedulers"
	slots = "slots"
	votes = "votes"
)

// PollOf is the poll that the document at a path belongs to: the poll itself, its slot or
// its vote; "" otherwise.
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
