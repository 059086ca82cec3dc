package worldtest

import (
	"fmt"
	"time"

	"questscheduler/internal/gcal"
)

// tries count the changes of a minute by the event and its version.
type tries struct {
	minute time.Time
	counts map[string]int
	// endless says which change is made without end; "": none is.
	endless string
}

// mostTries is how often an event of one version may be changed within a minute: each try waits
// longer than the one before, but the program may die, and several may run.
const mostTries = 20

// tried notes that the program changes an event.
func (w *World) tried(ref gcal.Ref, id, etag string) {
	if minute := w.Clock.Now().Truncate(time.Minute); !minute.Equal(w.tries.minute) {
		w.tries.minute, w.tries.counts = minute, map[string]int{}
	}
	asked := ref.Calendar + " " + id + " " + etag
	w.tries.counts[asked]++
	if w.tries.counts[asked] == mostTries {
		w.tries.endless = fmt.Sprintf("event %s in calendar %s was changed %d times within a minute, always as %s", id,
			ref.Calendar, mostTries, etag)
	}
}
