package explain

import (
	"cmp"
	"context"
	"reflect"
	"slices"
	"strings"

	"questscheduler/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

// History is what is stored of a poll, and its journal.
type History struct {
	Poll poll.Poll
	// Winning is the winning slot, nil if there is none.
	Winning *poll.Slot
	// Entries are the journal's, oldest first.
	Entries []poll.JournalEntry
	// Announcement is what was announced last, and is pending; the zero one for neither.
	Announcement poll.Announcement
}

// Load reads the history of a poll. NotFound if there is no such poll; Unavailable if it does
// not stop changing.
func Load(ctx context.Context, reader store.Reader, pollID string) (History, error) {
	return consistent("the poll changes", func() (History, error) { return load(ctx, reader, pollID) })
}

// maxCandidates is how many polls are named that a short id may mean.
const maxCandidates = 5

// loadShort is Load for the beginning of a poll's id, as the dashboard shows it. Invalid where
// several polls have it; notFound where none has.
func loadShort(ctx context.Context, reader store.Reader, prefix string, notFound error) (History, error) {
	if poll.Path(prefix).Valid() != nil {
		return History{}, notFound
	}
	ids, err := poll.WithPrefix(ctx, reader, prefix, maxCandidates+1)
	switch {
	case err != nil:
		return History{}, err
	case len(ids) == 0:
		return History{}, notFound
	case len(ids) == 1:
		return Load(ctx, reader, ids[0])
	}
	listed := strings.Join(ids[:min(len(ids), maxCandidates)], "\n  ")
	if len(ids) > maxCandidates {
		listed += "\n  and others"
	}
	return History{}, fault.Newf(fault.Invalid, "several polls begin with %s; give more of the id:\n  %s", clean(prefix), listed)
}

// loadTries is how often something is read that changes while it is read.
const loadTries = 10

// consistent reads until it gets the same twice in a row, which is then one state, since each
// change is written together with its entry. changes says what does not come to rest.
func consistent[T any](changes string, read func() (T, error)) (T, error) {
	last, err := read()
	for range loadTries {
		if err != nil {
			return last, err
		}
		before := last
		last, err = read()
		if err == nil && reflect.DeepEqual(before, last) {
			return last, nil
		}
	}
	if err == nil {
		err = fault.New(fault.Unavailable, changes+" faster than it can be read; try again")
	}
	return last, err
}

func load(ctx context.Context, reader store.Reader, pollID string) (h History, err error) {
	var document store.Document
	if path := poll.Path(pollID); path.Valid() == nil {
		document, err = reader.Get(ctx, path)
	}
	if err != nil {
		return h, err
	}
	if !document.Exists() {
		return h, fault.Newf(fault.NotFound, "there is no poll %s in this store; check the id", clean(pollID))
	}
	h.Poll = poll.Decode(document)
	h.Winning, err = poll.LoadSlot(ctx, reader, h.Poll.ID, h.Poll.WinningSlotID)
	if err != nil {
		return h, err
	}
	h.Entries, err = store.Collect(poll.Journal(ctx, reader, h.Poll.ID))
	if err != nil {
		return h, err
	}
	h.Entries = slices.DeleteFunc(h.Entries, h.Poll.Replaces) // of a deleted poll of its id
	slices.SortFunc(h.Entries, func(a, b poll.JournalEntry) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID))
	})
	h.Announcement, err = poll.LoadAnnouncement(ctx, reader, h.Poll.ID)
	if h.Poll.ReplacesAnnounced(h.Announcement) {
		h.Announcement = poll.Announcement{PollID: h.Poll.ID}
	}
	return h, err
}
