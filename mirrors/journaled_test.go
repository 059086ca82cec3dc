package mirrors_test

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
)

var everyEvent = store.Select("all canonical events, for tests", "canonicalEvents", "")

// journaledAtTheEnd checks the journal of every canonical event that is left at the end of
// the test: each entry of a mirror, or of the event, begins where the one before it ended, and
// the last ended at what is stored. A change without an entry is noticed so.
func (w *world) journaledAtTheEnd() {
	w.Cleanup(func() {
		ctx := context.WithoutCancel(w.ctx)
		for event, err := range store.All(ctx, w.memory, everyEvent.With(), mirror.DecodeEvent) {
			w.must(err)
			stored := map[string]string{"": strconv.FormatInt(event.Version, 10)} // by id, that of the event being ""
			mirrors, err := mirror.OfEvent(ctx, w.memory, event.ID)
			w.must(err)
			for _, m := range mirrors {
				stored[m.ID] = string(m.State)
			}
			for id, state := range w.journaled(ctx, event.ID) {
				if stored[id] != state {
					w.Errorf("%s of %s is %q, and its journal ends at %q", cmp.Or(id, "the version"), event.ID, stored[id], state)
				}
			}
		}
	})
}

// journaled are the states at which an event's journal ends.
func (w *world) journaled(ctx context.Context, eventID string) map[string]string {
	entries, err := store.Collect(mirror.Journal(ctx, w.memory, eventID))
	w.must(err)
	slices.SortFunc(entries, func(a, b mirror.JournalEntry) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID)) })
	ends := map[string]string{}
	for _, entry := range entries {
		if end, known := ends[entry.MirrorID]; known && end != entry.Before {
			w.Errorf("entry %s (%s) of %s begins at %q, and the one before ended at %q", entry.ID, entry.Step,
				cmp.Or(entry.MirrorID, eventID), entry.Before, end)
		}
		ends[entry.MirrorID] = entry.After
	}
	return ends
}
