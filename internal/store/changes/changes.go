// Package changes notifies listeners in this process of polls that were just written.
//
// A Store wraps a store of any driver. After each commit it gives the written polls to every
// listener. A write that changed nothing may be among them, and writes of other processes are
// not: a reader that must not miss those checks from time to time.
//
// A writer never waits for a listener: one that falls too far behind is removed.
package changes

import (
	"context"
	"slices"
	"sync"

	"questscheduler/fault"
	"questscheduler/internal/store"
)

// Held is the most changes that wait for a listener.
const Held = 1024

// Store is a store.Store that notifies listeners of the writes through it.
type Store struct {
	store.Store

	mu        sync.Mutex
	listeners map[chan string]bool
}

var _ store.Store = (*Store)(nil)

// New wraps a store. Writes to inner itself cause no notifications.
func New(inner store.Store) *Store {
	return &Store{Store: inner, listeners: map[chan string]bool{}}
}

// Listen adds a listener, for every commit that begins after it, until stop is called. It gets the
// ids of polls of which the document, slots or votes were written. changed is closed by stop, and
// after the changes that wait where more than Held do.
func (s *Store) Listen() (changed <-chan string, stop func()) {
	listener := make(chan string, Held)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listeners[listener] = true
	return listener, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.end(listener)
	}
}

// end ends a listener, once. The caller holds the lock.
func (s *Store) end(listener chan string) {
	if s.listeners[listener] {
		delete(s.listeners, listener)
		close(listener)
	}
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
	var written []string
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
		s.notify([]string{id})
	}
	return err
}

func (s *Store) notify(written []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range written {
		for listener := range s.listeners {
			select {
			case listener <- id:
			default:
				s.end(listener)
			}
		}
	}
}

// recorder records the polls that an attempt of a transaction writes.
type recorder struct {
	store.Tx
	written *[]string
}

func (r *recorder) record(path store.Path) {
	if id := PollOf(path); id != "" && !slices.Contains(*r.written, id) {
		*r.written = append(*r.written, id)
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
