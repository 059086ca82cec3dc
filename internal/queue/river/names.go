package river

import "sync"

// takenKept is how many names are remembered: as many calendars may wait for a
// look before a hint to one of them costs a write again.
const takenKept = 4096

// takenNames remembers the latest names that stand in the file, so that a hint
// which a waiting task covers costs neither a write nor a wait for the writer.
// A name is remembered after its commit alone. It may be remembered longer than
// its row is kept, which the port allows ("freed at any time after its task
// ended, or never"); a name that is not remembered is looked up in the file.
// The zero value is ready.
type takenNames struct {
	mu     sync.Mutex
	keys   map[string]struct{}
	oldest []string // a ring, once it is full
	next   int
}

// has tells whether a name is known to be taken.
func (n *takenNames) has(key string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	_, taken := n.keys[key]
	return taken
}

// add remembers a name whose row is committed, in the place of the oldest.
func (n *takenNames) add(key string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, known := n.keys[key]; known {
		return
	}
	if n.keys == nil {
		n.keys = make(map[string]struct{}, takenKept)
	}
	n.keys[key] = struct{}{}
	if len(n.oldest) < takenKept {
		n.oldest = append(n.oldest, key)
		return
	}
	delete(n.keys, n.oldest[n.next])
	n.oldest[n.next] = key
	n.next = (n.next + 1) % takenKept
}
