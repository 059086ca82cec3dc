package api

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"questscheduler/api/streams"
	"questscheduler/fault"
	"questscheduler/internal/poll"
	"questscheduler/scheduler"
)

// maxKnown is how many polls a stream remembers, twice what a listing has
// (poll.MostConcerning). Beyond it the stream ends.
const maxKnown = 2 * poll.MostConcerning

// feed is one person's stream: it names the polls that changed since it named them
// last, or since it began. Access is checked whenever a poll is named.
type feed struct {
	*server
	by    caller
	known map[string]sentPoll
	out   *eventWriter
	open  *streams.Stream
}

// sentPoll is what a stream knows of a poll.
type sentPoll struct {
	document string // documentTag
	etag     string // "": not named yet
}

// changedPoll is the data of an event.
type changedPoll struct {
	ID   string `json:"id"`
	ETag string `json:"etag,omitempty"`
}

// documentTag covers all that a poll's own document contributes to its answer.
func documentTag(p poll.Poll) string {
	original := ""
	if p.Sync.Rescheduled != nil {
		original = p.Sync.Rescheduled.FromSlotID
	}
	return digest([]any{answerPoll(scheduler.View{Poll: p}), p.WinningSlotID, original, fmt.Sprint(p.Votes)})
}

// learn records the person's polls as the caller will list them.
func (f *feed) learn(ctx context.Context) error {
	listed, err := poll.Concerning(ctx, f.Store, f.by.person.ID)
	for _, p := range listed {
		f.known[p.ID] = sentPoll{document: documentTag(p)}
	}
	f.learned()
	return err
}

func (f *feed) learned() { f.streams.Learned(f.open, maps.Keys(f.known)) }

// apply names a poll that this process wrote, if it is the person's.
func (f *feed) apply(ctx context.Context, p *streams.Change) error {
	if p.Err != nil {
		return p.Err
	}
	if !p.Concerns(f.by.person.ID) {
		return f.remove(p.ID)
	}
	return f.update(ctx, *p.Poll)
}

// recheck names the polls whose documents differ, as others may have written them. It
// reads slots and votes of these alone.
func (f *feed) recheck(ctx context.Context) error {
	f.streams.Learn(f.open)
	defer f.learned()
	listed, err := poll.Concerning(ctx, f.Store, f.by.person.ID)
	if err != nil {
		return err
	}
	unlisted := maps.Clone(f.known)
	for _, p := range listed {
		delete(unlisted, p.ID)
	}
	others, err := poll.LoadWithGroups(ctx, f.Store, slices.Sorted(maps.Keys(unlisted)))
	if err != nil {
		return err
	}
	for _, p := range others {
		if p.Concerns(f.by.person.ID) {
			listed = append(listed, *p.Poll)
		} else if err := f.remove(p.ID); err != nil {
			return err
		}
	}
	for _, p := range listed {
		if f.known[p.ID].document == documentTag(p) {
			continue
		}
		if err := f.update(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// update names a poll of the person's, unless it is as it was named last.
func (f *feed) update(ctx context.Context, p poll.Poll) error {
	view, err := f.Scheduler.View(ctx, f.by.person, p.ID)
	if fault.Is(err, fault.NotFound) {
		return f.remove(p.ID) // since p was read
	}
	if err != nil {
		return err
	}
	before, now := f.known[p.ID], sentPoll{document: documentTag(p), etag: tagOf(answerPoll(view))}
	f.known[p.ID] = now
	if now.etag == before.etag {
		return nil
	}
	return f.send("poll", changedPoll{p.ID, now.etag})
}

// remove names a poll that is no longer the person's, if they know of it.
func (f *feed) remove(id string) error {
	if _, known := f.known[id]; !known {
		return nil
	}
	delete(f.known, id)
	return f.send("removed", changedPoll{ID: id})
}
