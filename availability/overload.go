package availability

import (
	"sync"
	"time"

	"questscheduler/fault"
)

// How many answers are worked out at once: each may need memory for mostIntervals.
const (
	mostAtOnce          = 8
	mostAtOncePerPerson = 2
	// manyAtOnce is from how many on a person gets one at a time, so that a few people's
	// questions leave places for others.
	manyAtOnce = mostAtOnce / 2
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
// mostAtOncePerPerson already, or one while there are manyAtOnce. Unavailable: the process
// has mostAtOnce.
func (r *running) enter(personID string) (done func(), err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	most := mostAtOncePerPerson
	if r.all >= manyAtOnce {
		most = 1
	}
	switch {
	case r.people[personID] >= most:
		return nil, &fault.Error{
			Kind: fault.RateLimited, Own: true, Code: CodeBusy, RetryAfter: time.Second,
			Message: "As many of your questions about free times are being answered as may be at once. Ask again when they are.",
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
	r.people[personID]--
	if r.people[personID] == 0 {
		delete(r.people, personID)
	}
}
