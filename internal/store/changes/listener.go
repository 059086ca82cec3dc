package changes

import (
	"sync"
)

// Held is the most polls that a listener keeps until they are taken.
const Held = 1024

// Change is a poll that was written.
type Change struct {
	Poll string
	// Below: a slot or a vote was written, or may have been.
	Parts bool
}

// Listener collects the changes of a Store.
type Listener struct {
	*Pending
	store *Store
}

// Close removes the listener. A second call does nothing.
func (l *Listener) Close() { l.store.remove(l) }

// Pending collects changes until they are taken. It is safe for concurrent use.
type Pending struct {
	most  int
	woken chan struct{}

	mu      sync.Mutex
	changes []Change
	at      map[string]int // index into changes by poll
	lost    bool
}

// NewPending makes a collection for at most so many polls; more are lost.
func NewPending(most int) *Pending {
	return &Pending{most: most, woken: make(chan struct{}, 1)}
}

// Woken carries a value when there may be changes to take; one value may stand for many.
// It wakes one receiver and is never closed.
func (p *Pending) Woken() <-chan struct{} { return p.woken }

// Take returns the polls that changed since the last Take, each once, in the order of their
// first change. Where some were lost it returns none: every poll may have changed.
func (p *Pending) Take() (changed []Change, lost bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	changed, lost = p.changes, p.lost
	p.changes, p.at, p.lost = nil, nil, false
	return changed, lost
}

// Add adds changes and wakes a receiver if there is anything to take.
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
		p.changes[at].Parts = p.changes[at].Parts || change.Parts
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
	default: // a wake-up is pending already
	}
}
