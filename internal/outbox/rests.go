package outbox

import (
	"sync"
	"time"

	"questscheduler/fault"
)

// rests are accounts whose quota is used up for a kind, in this process: that work would only be
// refused once more. Each entry keeps its own wait too, so that another process learns nothing and
// loses nothing.
type rests struct {
	mu    sync.Mutex
	ended map[string]time.Time
}

// rest has an account rest for a while where the error concerns all its work.
func (r *rests) rest(account string, now time.Time, err error, wait time.Duration) {
	if kind := fault.KindOf(err); account == "" || kind != fault.RateLimited && kind != fault.Exhausted {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended == nil {
		r.ended = map[string]time.Time{}
	}
	for other, until := range r.ended { // those that are over take no memory
		if !until.After(now) {
			delete(r.ended, other)
		}
	}
	if until := now.Add(wait); until.After(r.ended[account]) {
		r.ended[account] = until
	}
}

// resting reports whether an account rests.
func (r *rests) resting(account string, now time.Time) bool {
	if account == "" {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ended[account].After(now)
}
