package changes

import (
	"sync"
)

// Held is how many polls a listener keeps that were not taken.
const Held = 1024

// Change is a poll that was written.
type Change struct {
	Poll string
	// Below tells that a slot or a vote was written, or may have been; otherwise
	// the poll's own document was written alone.
	Below bool
}

// Listener collects the changes of a Store. Beyond Held polls they are lost.
type Listener struct {
	*Pending
	store *Store
}

// Close ends the listening. Calling it again does nothing.
func (l *Listener) Close() { l.store.remove(l) }

// Pending collects changes until they are taken. Its methods may be called from
// several goroutines.
type Pending struct {
	most  int
	woken chan struct{}

	mu      sync.Mutex
	changes []Change
	at      map[string]int // index into changes by poll
	lost    bool
}

// NewPending makes a collection of the changes of at most so many polls.
func NewPending(most int) *Pending {
	return &Pending{most: most, woken: make(chan struct{}, 1)}
}

// Woken gives a value when there may be something to take; one value may stand
// for many changes, and wakes one receiver. It is never closed.
func (p *Pending) Woken() <-chan struct{} { return p.woken }

// Take gives the polls that changed since the last Take, each once, in the order
// of their first change. lost says that there were too many, or that Lose was
// called: then nothing is given, and every poll may have changed.
func (p *Pending) Take() (changed []Change, lost bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	changed, lost = p.changes, p.lost
	p.changes, p.at, p.lost = nil, nil, false
	return changed, lost
}

// Add adds changes, without waiting for anybody to take them. It wakes a receiver
// if there is anything to take, even where nothing was added.
func (p *Pending) Add(changed ...Change) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, change := range changed {
		p.add(change)
	}
	if p.lost || len(p.changes) > 0 {
		p.wake()
	}
}

// Lose drops all changes and marks them as lost.
func (p *Pending) Lose() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drop()
	p.wake()
}

func (p *Pending) add(change Change) {
	if p.lost {
		return
	}
	if at, known := p.at[change.Poll]; known {
		p.changes[at].Below = p.changes[at].Below || change.Below
		return
	}
	if len(p.changes) == p.most {
		p.drop()
		return
	}
	if p.at == nil {
		p.at = map[string]int{}
	}
	p.at[change.Poll] = len(p.changes)
	p.changes = append(p.changes, change)
}

func (p *Pending) drop() { p.changes, p.at, p.lost = nil, nil, true }

func (p *Pending) wake() {
	select {
	case p.woken <- struct{}{}:
	default: // a receiver is yet to come, and finds these too
	}
}
