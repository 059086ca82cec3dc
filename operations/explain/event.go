package explain

import (
	"cmp"
	"context"
	"reflect"
	"slices"
	"strings"

	"questscheduler/fault"
	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
)

// IsEvent reports whether an id is one of a canonical event rather than of a poll.
func IsEvent(id string) bool { return strings.HasPrefix(id, "evt_") }

// EventHistory is all that is kept of how the mirrors of a canonical event came to be as
// they are.
type EventHistory struct {
	ID string
	// Event is the zero Event if it was removed; its journal outlives it.
	Event mirror.Event
	// Mirrors are those of all people, by id.
	Mirrors []mirror.Mirror
	// Entries are the journal's, oldest first.
	Entries []mirror.Entry
}

// LoadEvent reads the history of a canonical event, from one state: one that changes during
// it is read again. NotFound if neither the event nor a journal of it exists; Unavailable
// if it does not stop changing.
func LoadEvent(ctx context.Context, reader store.Reader, id string) (EventHistory, error) {
	if mirror.EventPath(id).Valid() != nil {
		return EventHistory{}, errUnknownEvent(id)
	}
	before, err := loadEvent(ctx, reader, id)
	for range loadTries {
		if err != nil {
			return EventHistory{}, err
		}
		// Every entry that changes something is written together with it.
		after, err := loadEvent(ctx, reader, id)
		if err != nil {
			return EventHistory{}, err
		}
		if reflect.DeepEqual(before, after) {
			if after.Event.ID == "" && len(after.Entries) == 0 {
				return EventHistory{}, errUnknownEvent(id)
			}
			return after, nil
		}
		before = after
	}
	return EventHistory{}, fault.New(fault.Unavailable, "the event and its mirrors change faster than they can be read; try again")
}

func errUnknownEvent(id string) error {
	return fault.Newf(fault.NotFound, "there is no event %s in this store; check the id", clean(id))
}

func loadEvent(ctx context.Context, reader store.Reader, id string) (h EventHistory, err error) {
	h.ID = id
	h.Event, err = mirror.LoadEvent(ctx, reader, id)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return h, err
	}
	h.Mirrors, err = mirror.OfEvent(ctx, reader, id)
	if err != nil {
		return h, err
	}
	h.Entries, err = store.Collect(mirror.Journal(ctx, reader, id))
	slices.SortFunc(h.Mirrors, func(a, b mirror.Mirror) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(h.Entries, func(a, b mirror.Entry) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID)) })
	return h, err
}
