package outbox

import (
	"sync"
	"time"
)

// claimedWait is how long a second run of a claimed entry waits for the first.
const claimedWait = time.Second

// claims are the entries that this process runs, where no other has the store. They spare a
// write and guard nothing: each settling transaction compares State.Ref.
type claims struct {
	mu    sync.Mutex
	taken map[[2]string]bool
}

// claim is false where the entry is claimed. release ends a claim.
func (c *claims) claim(kind, id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.taken[[2]string{kind, id}] {
		return false
	}
	if c.taken == nil {
		c.taken = map[[2]string]bool{}
	}
	c.taken[[2]string{kind, id}] = true
	return true
}

// GiveUp ends the claim of a run that does not end with its context, for a Waker that waits for it no
// longer.
func (o *Outbox) GiveUp(kind, id string) { o.claims.release(kind, id) }

func (c *claims) release(kind, id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.taken, [2]string{kind, id})
}
