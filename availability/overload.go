package availability

import (
	"sync"
	"time"

	"questscheduler/internal/fault"
)

// How many answers are worked out at once: each may need memory for mostIntervals.
const (
	mostAtOnce          = 8
	mostAtOncePerPerson = 2
)

// CodeBusy (RateLimited, Unavailable) is the error of an answer that was not begun, since
// enough are worked out: for the person, or by this process.
const CodeBusy = "availability_busy"

// running counts the answers that are being worked out. The zero value has none.
type running struct {
	mu     sync.Mutex
	all    int
	people map[string]int
}

// enter counts an answer for a person until done is called. RateLimited: the person has
// mostAtOncePerPerson already. Unavailable: the process has mostAtOnce.
func (r *running) enter(personID string) (done func(), err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.people[personID] >= mostAtOncePerPerson:
		return nil, &fault.Error{
			Kind: fault.RateLimited, Code: CodeBusy, RetryAfter: time.Second,
			Message: "Two of your questions about free times are being answered. Ask again when they are.",
		}
	case r.all >= mostAtOnce:
		return nil, &fault.Error{
			Kind: fault.Unavailable, Code: CodeBusy, RetryAfter: 2 * time.Second,
			Message: "Many people ask about free times. Ask again in a moment.",
		}
	}
	if r.people == nil {
		r.people = map[string]int{}
	}
	r.all++
	r.people[personID]++
	return func() { r.leave(personID) }, nil
}

func (r *running) leave(personID string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all--
	if r.people[personID]--; r.people[personID] == 0 {
		delete(r.people, personID)
	}
}
