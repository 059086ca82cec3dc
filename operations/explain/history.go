// Package explain says how a poll came to be as it is. From the poll's journal it makes a
// timeline for people, and a replay, which works the poll's state out again from the entries
// and compares it with what is stored. Only Load reads, and nothing writes.
package explain

import (
	"cmp"
	"context"
	"reflect"
	"slices"

	"questscheduler/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

// History is all that is kept of how a poll came to be as it is.
type History struct {
	Poll poll.Poll
	// Winning is the winning slot, nil where there is none.
	Winning *poll.Slot
	// Entries are the journal's, oldest first.
	Entries []poll.Entry
	// Announcement is what was announced last, and is pending; the zero one for neither.
	Announcement poll.Announcement
}

// loadTries is how often a poll is read that changes while it is read.
const loadTries = 10

// Load reads the history of a poll, from one state: a poll that changes during it is read
// again. NotFound where there is no such poll; Unavailable where it does not stop changing.
func Load(ctx context.Context, reader store.Reader, pollID string) (History, error) {
	path := poll.Path(pollID)
	if path.Valid() != nil {
		return History{}, errUnknown(pollID)
	}
	for range loadTries {
		before, err := reader.Get(ctx, path)
		if err != nil {
			return History{}, err
		}
		if !before.Exists() {
			return History{}, errUnknown(pollID)
		}
		history, err := load(ctx, reader, before)
		if err != nil {
			return History{}, err
		}
		after, err := reader.Get(ctx, path)
		if err != nil {
			return History{}, err
		}
		// Every entry that changes the poll is written together with it.
		if after.Exists() && reflect.DeepEqual(poll.Decode(before), poll.Decode(after)) {
			return history, nil
		}
	}
	return History{}, fault.New(fault.Unavailable, "the poll changes faster than it can be read; try again")
}

func errUnknown(pollID string) error {
	return fault.Newf(fault.NotFound, "there is no poll %s in this store; check the id", clean(pollID))
}

// load reads what belongs to a poll's document.
func load(ctx context.Context, reader store.Reader, document store.Document) (h History, err error) {
	h.Poll = poll.Decode(document)
	h.Winning, err = poll.LoadSlot(ctx, reader, h.Poll.ID, h.Poll.WinningSlotID)
	if err != nil {
		return History{}, err
	}
	h.Entries, err = store.Collect(poll.Journal(ctx, reader, h.Poll.ID))
	if err != nil {
		return History{}, err
	}
	h.Entries = slices.DeleteFunc(h.Entries, h.Poll.Replaces) // of a deleted poll of its id
	slices.SortFunc(h.Entries, func(a, b poll.Entry) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID))
	})
	h.Announcement, err = poll.LoadAnnouncement(ctx, reader, h.Poll.ID)
	if h.Poll.ReplacesAnnounced(h.Announcement) {
		h.Announcement = poll.Announcement{PollID: h.Poll.ID}
	}
	return h, err
}
