package health

import (
	"strings"

	"questscheduler/internal/outbox"
)

// BusyWork are the kinds of work outside the store of which some is due or failing.
func (o Overview) BusyWork() (busy []outbox.Depth) {
	for _, kind := range o.Work {
		if isBusy(kind) {
			busy = append(busy, kind)
		}
	}
	return busy
}

// IdleWork names the other kinds; "" for none.
func (o Overview) IdleWork() string {
	var names []string
	for _, kind := range o.Work {
		if !isBusy(kind) {
			names = append(names, kind.Kind)
		}
	}
	return strings.Join(names, ", ")
}

func isBusy(kind outbox.Depth) bool { return kind.Due > 0 || len(kind.Failing) > 0 }
