package changes

import (
	"slices"
	"sync"
)

// Held is how many polls a listener keeps that were not taken. Beyond it, they
// are given up, and the next Take says so.
const Held = 256

// Listener collects the polls that were written since it last took them. Its
// methods may be called from several goroutines.
type Listener struct {
	store *Store
	woken chan struct{}

	mu    sync.Mutex
	polls []string
	lost  bool
}

// Woken gives a value when there may be something to take; one value may stand
// for many changes. It is never closed.
func (l *Listener) Woken() <-chan struct{} { return l.woken }

// Take gives the ids of the polls that were written since the last Take, each
// once, in the order of their first write. lost says that there were more than
// Held: then nothing is given, and every poll may have changed.
func (l *Listener) Take() (polls []string, lost bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	polls, lost = l.polls, l.lost
	l.polls, l.lost = nil, false
	return polls, lost
}

// Close ends the listening. Calling it again does nothing.
func (l *Listener) Close() { l.store.remove(l) }

// add keeps polls and wakes the listener, without waiting for it.
func (l *Listener) add(polls []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range polls {
		switch {
		case l.lost || slices.Contains(l.polls, id):
		case len(l.polls) == Held:
			l.polls, l.lost = nil, true
		default:
			l.polls = append(l.polls, id)
		}
	}
	select {
	case l.woken <- struct{}{}:
	default: // it is awake and will find these too
	}
}
