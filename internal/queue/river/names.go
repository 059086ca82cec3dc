package river

import "sync"

// namesKept is how many names are remembered.
const namesKept = 4096

// recentNames remembers the latest names that were committed, so that enqueueing one
// again costs neither a write nor a wait for the writer. It may remember a name longer
// than its row exists, which the port allows. The zero value is ready.
type recentNames struct {
	mu     sync.Mutex
	keys   map[string]struct{}
	oldest []string // a ring, once it is full
	next   int
}

func (n *recentNames) has(key string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	_, taken := n.keys[key]
	return taken
}

// add remembers a name whose row is committed, and forgets the oldest.
func (n *recentNames) add(key string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, known := n.keys[key]; known {
		return
	}
	if n.keys == nil {
		n.keys = make(map[string]struct{}, namesKept)
	}
	n.keys[key] = struct{}{}
	if len(n.oldest) < namesKept {
		n.oldest = append(n.oldest, key)
		return
	}
	delete(n.keys, n.oldest[n.next])
	n.oldest[n.next] = key
	n.next = (n.next + 1) % namesKept
}
