package api

import (
	"context"
	"encoding/json"

	"questscheduler/internal/poll"
	"questscheduler/internal/store/changes"
)

// maxPending is how many changed polls wait to be sent. Beyond it, the stream
// rechecks all polls that it knows.
const maxPending = 256

// feed is one person's stream: it sends the polls that differ from what it sent
// last.
type feed struct {
	*server
	by      caller
	written *changes.Listener // the dispatcher's
	pending *changes.Pending  // filled by the dispatcher
	sent    *sentPolls
	scans   int          // see dispatcher.scanVotes
	out     *eventWriter // nil until the stream begins
}

func newFeed(s *server, by caller) *feed {
	return &feed{server: s, by: by, pending: changes.NewPending(maxPending), sent: newSentPolls()}
}

// send sends one event. Its id is for the caller's logs; a stream cannot be resumed
// at one.
func (f *feed) send(event string, data any) error {
	return f.out.event(event, f.NewID("evt"), data)
}

// sendChanged sends the polls that the dispatcher found.
func (f *feed) sendChanged(ctx context.Context) error {
	changed, lost := f.pending.Take()
	if lost {
		return f.recheck(ctx)
	}
	for _, change := range changed {
		if err := f.update(ctx, change.Poll, nil); err != nil {
			return err
		}
	}
	return nil
}

// update sends a poll if it is the person's own and differs from what was sent
// last, or its removal if it no longer is. current is that of dispatcher.load.
func (f *feed) update(ctx context.Context, id string, current func(*cachedPoll) bool) error {
	before, known := f.sent.begin(id) // before the read, so that no later change is missed
	cached, err := f.dispatch.load(ctx, id, current)
	if err != nil {
		return err
	}
	if !cached.Concerns(f.by.person.ID) {
		f.sent.forget(id)
		if !known {
			return nil
		}
		return f.send("removed", map[string]string{"id": id})
	}
	now := sentPoll{}
	now.document, err = cached.document()
	if err != nil || known && !before.below && now.document == before.document {
		return err
	}
	view, err := cached.whole(ctx, f.Scheduler)
	if err != nil {
		return err
	}
	f.dispatch.weigh(cached)
	answer := answerPoll(view.For(f.by.person))
	now.answer, err = answerHash(answer)
	if err != nil {
		return err
	}
	f.sent.set(id, now)
	if now.answer == before.answer {
		return nil
	}
	return f.send("poll", answer)
}

// answerHash covers all but the time of the calendar's last sync: a sync that found
// nothing is no change.
func answerHash(answer pollAnswer) (string, error) {
	answer.Sync.LastSyncedAt = nil
	text, err := json.Marshal(answer)
	return hash(text), err
}

// recheck sends what changed of the polls that are known or new. It reads slots and
// votes only of polls whose documents differ, or of which a change was lost. Before
// the stream begins it only learns the polls.
func (f *feed) recheck(ctx context.Context) error {
	found, err := poll.Concerning(ctx, f.Store, f.by.person.ID)
	if err != nil {
		return err
	}
	listed := make(map[string]bool, len(found))
	for _, p := range found {
		listed[p.ID] = true
	}
	others := f.sent.list(listed)
	for _, p := range found {
		if err := f.compare(ctx, poll.WithGroup{ID: p.ID, Poll: &p}, true); err != nil {
			return err
		}
	}
	if len(others) == 0 {
		return nil
	}
	unlisted, err := poll.LoadWithGroups(ctx, f.Store, others)
	if err != nil {
		return err
	}
	for _, p := range unlisted {
		if _, known := f.sent.get(p.ID); !known {
			continue // a new poll took its place
		}
		if err := f.compare(ctx, p, p.Concerns(f.by.person.ID)); err != nil {
			return err
		}
	}
	return nil
}

// compare sends a poll that a recheck read, if it changed.
func (f *feed) compare(ctx context.Context, p poll.WithGroup, concerned bool) error {
	document := ""
	if p.Poll != nil {
		var err error
		document, err = documentHash(*p.Poll)
		if err != nil {
			return err
		}
	}
	if f.out == nil {
		f.sent.set(p.ID, sentPoll{document: document})
		if isNew(p.Poll, f.Now()) {
			f.dispatch.readAgain(p.Poll)
		}
		return nil
	}
	before, known := f.sent.get(p.ID)
	if known && concerned && document == before.document && !before.below {
		return nil
	}
	return f.update(ctx, p.ID, func(cached *cachedPoll) bool {
		now, err := cached.document()
		return err == nil && now == document && cached.Concerns(f.by.person.ID) == concerned
	})
}
