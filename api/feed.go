package api

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"

	"questscheduler/changes"
	"questscheduler/fault"
	"questscheduler/poll"
)

// recheckMost is how many of the polls that one made, takes part in or has in a
// group are looked at without a hint; older ones are shown when they change in
// this process.
const recheckMost = 100

// feed is one person's stream: what was shown of their polls, and how it goes
// on.
type feed struct {
	*server
	by      caller
	changes *changes.Listener
	out     *eventWriter // nil until the stream begins
	// known are the person's own polls by id: a hash of how each was shown
	// last, or stood when the stream began.
	known map[string]string
}

// send sends one event. Its id is for the caller's logs; a stream cannot be
// taken up again at one.
func (f *feed) send(event string, data any) error {
	return f.out.event(event, f.NewID("evt"), data)
}

// showChanged shows the polls that were written since it was last called.
func (f *feed) showChanged(ctx context.Context) error {
	changed, lost := f.changes.Take()
	if lost {
		return f.recheck(ctx)
	}
	for _, id := range changed {
		if err := f.show(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// recheck shows whatever changed of the polls that are known or have come.
func (f *feed) recheck(ctx context.Context) error {
	ids, err := poll.Concerning(ctx, f.Store, f.by.person.ID, recheckMost)
	if err != nil {
		return err
	}
	ids = append(ids, slices.Collect(maps.Keys(f.known))...)
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		if err := f.show(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// show sends a poll where it is the person's own and not as it was shown last,
// and its removal where it was their own and is no more. Before the stream
// begins it only learns.
func (f *feed) show(ctx context.Context, id string) error {
	answer, err := f.read(ctx, id)
	if err != nil {
		return err
	}
	before, known := f.known[id]
	if answer == nil {
		delete(f.known, id)
		if !known || f.out == nil {
			return nil
		}
		return f.send("removed", removedPoll{ID: id})
	}
	now, err := looks(*answer)
	if err != nil || now == before {
		return err
	}
	f.known[id] = now
	if f.out == nil {
		return nil
	}
	return f.send("poll", answer)
}

// removedPoll is the data of the event removed.
type removedPoll struct {
	ID string `json:"id"`
}

// read gives a poll as GET gives it; nil where it is not the person's own. Most
// polls that change are other people's, so that is found out first.
func (f *feed) read(ctx context.Context, id string) (*pollAnswer, error) {
	p, err := poll.Load(ctx, f.Store, id)
	if fault.Is(err, fault.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	group, err := poll.LoadGroup(ctx, f.Store, p.GroupID)
	if err != nil || !p.Concerns(f.by.person.ID, group) {
		return nil, err
	}
	view, err := f.Scheduler.View(ctx, f.by.person, id)
	if fault.Is(err, fault.NotFound) { // since a moment ago
		return nil, nil
	}
	answer := answerPoll(view)
	return &answer, err
}

// looks is a hash of all that a poll shows but when its calendar was last looked
// at: a look that found nothing new is no change.
func looks(answer pollAnswer) (string, error) {
	answer.Sync.LastSyncedAt = nil
	text, err := json.Marshal(answer)
	return hash(text), err
}

// streaming counts the streams that people have open. Its zero value is ready.
type streaming struct {
	mu   sync.Mutex
	open map[string]int
}

// enter counts one more, until leave is called.
func (s *streaming) enter(person string) (leave func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[person] >= maxStreams {
		return nil, errTooFast(recheckEvery)
	}
	if s.open == nil {
		s.open = map[string]int{}
	}
	s.open[person]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.open[person]--; s.open[person] == 0 {
			delete(s.open, person)
		}
	}, nil
}
