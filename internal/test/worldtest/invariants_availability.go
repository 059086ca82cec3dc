package worldtest

import (
	"context"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
)

// silent is a Google that says of nobody when they are busy.
type silent struct{}

// FreeBusy implements availability.Google.
func (silent) FreeBusy(context.Context, string, []string, time.Time, time.Time) (map[string]gcal.FreeBusy, error) {
	return nil, fault.New(fault.Unavailable, "nobody is asked")
}

// isCopy reports whether a canonical event is what an event of ours occupies.
func isCopy(e mirror.Event) bool { return e.Source == mirror.SourceCopy }
