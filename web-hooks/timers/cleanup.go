package timers

import (
	"context"
	"errors"
	"time"

	"questscheduler/calendarsync"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/notify"
)

// Cleaning is one row of the cleanup.
type Cleaning struct {
	// What names the removed documents for people ("expired snapshots"). Names
	// are unique.
	What string
	// Remove removes at most limit documents and returns how many it removed and
	// whether more may be left. It is called until none is.
	Remove func(ctx context.Context, documents store.Store, now time.Time, limit int) (removed int, more bool, err error)
	// RemoveFrom replaces Remove for documents most of which stay: it continues at
	// the end of its last page ("": the beginning) and returns where it ended; ""
	// at the end.
	RemoveFrom func(ctx context.Context, documents store.Store, now time.Time, at string) (removed int, next string, err error)
	// Shared documents have other readers or writers too. They stay while the
	// server only observes.
	Shared bool
}

// cleanPage is how many documents the cleanup removes in a transaction.
const cleanPage = 100

// cleanings are the rows of the documents that every deployment has.
var cleanings = []Cleaning{
	{What: "expired snapshots", Remove: poll.RemoveSnapshots, Shared: true},
	{What: "watch channels long ended", Remove: calendarsync.RemoveDead},
	{What: "old notifications", Remove: notify.RemoveOld, Shared: true},
}

// cleanup is the parts of the job: one for each row.
func (p Parts) cleanup() (parts []part) {
	for _, rows := range [][]Cleaning{cleanings, p.Cleaning} {
		for _, row := range rows {
			if !row.Shared || !p.Observing {
				parts = append(parts, part{row.What, p.clean(row)})
			}
		}
	}
	return parts
}

// clean is the step that removes a page of a row. A row that fails is left to the
// next day and does not delay the others.
func (p Parts) clean(row Cleaning) Step {
	remove := row.RemoveFrom
	if remove == nil {
		remove = func(ctx context.Context, documents store.Store, now time.Time, _ string) (removed int, next string, err error) {
			removed, more, err := row.Remove(ctx, documents, now, cleanPage)
			return removed, again(more), err
		}
	}
	return func(ctx context.Context, run Run) (Stretch, error) {
		removed, next, err := remove(ctx, p.Documents, p.Now(), run.At)
		did := Counts{{row.What, removed}}
		switch {
		case err == nil:
			return Stretch{Next: next, Did: did}, nil
		case errors.Is(ctx.Err(), context.Canceled): // the program ends
			return Stretch{}, err
		default:
			p.Log.WarnContext(ctx, "cleanup: left to the next", "what", row.What, "trace", run.Cause.Trace, "error", err)
			return Stretch{Did: append(did, Count{"failed", 1})}, nil
		}
	}
}
