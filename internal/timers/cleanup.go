package timers

import (
	"context"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"questscheduler/calendarsync"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/notify"
)

// Cleaning is one row of the cleanup.
type Cleaning struct {
	// What is removed, as people are told: "expired snapshots".
	What string
	// Remove removes a page of limit documents at most, and tells how many it
	// removed and whether more may be left. It may be asked again and again.
	Remove func(ctx context.Context, documents store.Store, now time.Time, limit int) (removed int, more bool, err error)
	// RemoveFrom, in the place of Remove, is for documents among which many stay:
	// it goes on from where its last page ended ("": from the beginning), and gives
	// where to go on; "" at the end.
	RemoveFrom func(ctx context.Context, documents store.Store, now time.Time, at string) (removed int, next string, err error)
	// Shared are documents that others read or keep too: while we only observe,
	// they stay.
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

// cleanings are the rows of the cleanup.
func (p Parts) cleanings() []Cleaning {
	return slices.DeleteFunc(slices.Concat(cleanings, p.Cleaning), func(row Cleaning) bool { return row.Shared && p.Observing })
}

// cleanup is the job that goes through the rows.
type cleanup struct {
	rows      []Cleaning
	documents store.Store
	now       func() time.Time
	log       *slog.Logger
}

// step removes a page of the row that the cleanup is at: its number and what it
// removes, which tells whether the table is still the same, and where the row is.
// A row that fails is left to the next day, and does not keep the others waiting.
func (c cleanup) step(ctx context.Context, run Run) (Stretch, error) {
	at, from := c.rowAt(run.At)
	row := c.rows[at]
	removed, more, from, err := row.remove(ctx, c.documents, c.now(), from)
	did := Counts{{row.What, removed}}
	if err != nil {
		if ctx.Err() != nil {
			return Stretch{}, err
		}
		c.log.WarnContext(ctx, "cleanup: left to the next", "what", row.What, "trace", run.Cause.Trace, "error", err)
		did, more = append(did, Count{"failed", 1}), false
	}
	if !more {
		at, from = at+1, ""
	}
	if at == len(c.rows) {
		return Stretch{Did: did}, nil
	}
	return Stretch{Next: strconv.Itoa(at) + " " + c.rows[at].What + "\n" + from, Did: did}, nil
}

// remove removes a page of a row.
func (row Cleaning) remove(ctx context.Context, documents store.Store, now time.Time, from string) (removed int, more bool, next string, err error) {
	if row.RemoveFrom == nil {
		removed, more, err = row.Remove(ctx, documents, now, cleanPage)
		return removed, more, "", err
	}
	removed, next, err = row.RemoveFrom(ctx, documents, now, from)
	return removed, next != "", next, err
}

// rowAt is the row of a place, and where in it; the first where another version's
// table wrote it: beginning anew removes nothing twice.
func (c cleanup) rowAt(place string) (at int, from string) {
	row, from, _ := strings.Cut(place, "\n")
	number, what, _ := strings.Cut(row, " ")
	at, err := strconv.Atoi(number)
	if err != nil || at < 0 || at >= len(c.rows) || c.rows[at].What != what {
		return 0, ""
	}
	return at, from
}
