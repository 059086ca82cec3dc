package api

import (
	"context"
	"encoding/json"

	"questscheduler/internal/poll"
	"questscheduler/internal/store/changes"
)

// mostPending is how many changed polls a stream keeps until it shows them. Beyond
// it, the stream compares all that it knows.
const mostPending = 256

// feed is one person's stream: what was shown of their polls, and how it goes
// on.
type feed struct {
	*server
	by      caller
	written *changes.Listener // the dispatcher's
	pending *changes.Pending  // what the dispatcher brought
	shown   *shownPolls
	scans   int          // see dispatcher.scanVotes
	out     *eventWriter // nil until the stream begins
}

func newFeed(s *server, by caller) *feed {
	return &feed{server: s, by: by, pending: changes.NewPending(mostPending), shown: newShownPolls()}
}

// send sends one event. Its id is for the caller's logs; a stream cannot be
// taken up again at one.
func (f *feed) send(event string, data any) error {
	return f.out.event(event, f.NewID("evt"), data)
}

// showChanged shows the polls that the dispatcher brought.
func (f *feed) showChanged(ctx context.Context) error {
	changed, lost := f.pending.Take()
	if lost {
		return f.recheck(ctx)
	}
	for _, change := range changed {
		if err := f.show(ctx, change.Poll, nil); err != nil {
			return err
		}
	}
	return nil
}

// show sends a poll where it is the person's own and not as it was shown last,
// and its removal where it was their own and is no more. fits is
// dispatcher.current's.
func (f *feed) show(ctx context.Context, id string, fits func(*loadedPoll) bool) error {
	before, known := f.shown.begin(id) // before it is read, so that no change after that is missed
	loaded, err := f.dispatch.current(ctx, id, fits)
	if err != nil {
		return err
	}
	if !loaded.Concerns(f.by.person.ID) {
		f.shown.forget(id)
		if !known {
			return nil
		}
		return f.send("removed", removedPoll{ID: id})
	}
	now := shownPoll{}
	if now.document, err = loaded.document(); err != nil || known && !before.below && now.document == before.document {
		return err
	}
	view, err := loaded.whole(ctx, f.Scheduler)
	if err != nil {
		return err
	}
	f.dispatch.weigh(loaded)
	answer := answerPoll(view.For(f.by.person))
	if now.looks, err = looks(answer); err != nil {
		return err
	}
	f.shown.set(id, now)
	if now.looks == before.looks {
		return nil
	}
	return f.send("poll", answer)
}

// removedPoll is the data of the event removed.
type removedPoll struct {
	ID string `json:"id"`
}

// looks is a hash of all that a poll shows but when its calendar was last looked
// at: a look that found nothing new is no change.
func looks(answer pollAnswer) (string, error) {
	answer.Sync.LastSyncedAt = nil
	text, err := json.Marshal(answer)
	return hash(text), err
}

// recheck shows whatever changed of the polls that are known or have come. It
// reads slots and votes of those alone whose documents differ, or of which a
// change was lost. Before the stream begins it only learns.
func (f *feed) recheck(ctx context.Context) error {
	found, err := poll.Concerning(ctx, f.Store, f.by.person.ID)
	if err != nil {
		return err
	}
	listed := make(map[string]bool, len(found))
	for _, p := range found {
		listed[p.ID] = true
	}
	others := f.shown.list(listed)
	for _, p := range found {
		if err := f.compare(ctx, poll.WithGroup{ID: p.ID, Poll: &p}, true); err != nil {
			return err
		}
	}
	return f.recheckOthers(ctx, others)
}

// recheckOthers shows what changed of polls that are known and were not listed.
func (f *feed) recheckOthers(ctx context.Context, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	loaded, err := poll.LoadWithGroups(ctx, f.Store, ids)
	if err != nil {
		return err
	}
	for _, p := range loaded {
		if _, known := f.shown.get(p.ID); !known {
			continue // forgotten for one that came
		}
		if err := f.compare(ctx, p, p.Concerns(f.by.person.ID)); err != nil {
			return err
		}
	}
	return nil
}

// compare shows a poll that a recheck found, where it is not as it was shown last.
func (f *feed) compare(ctx context.Context, p poll.WithGroup, concerned bool) error {
	document := ""
	if p.Poll != nil {
		var err error
		if document, err = documentOf(*p.Poll); err != nil {
			return err
		}
	}
	if f.out == nil {
		f.shown.set(p.ID, shownPoll{document: document})
		if isNew(p.Poll, f.Now()) {
			f.dispatch.settle(p.Poll)
		}
		return nil
	}
	before, known := f.shown.get(p.ID)
	if known && concerned && document == before.document && !before.below {
		return nil
	}
	return f.show(ctx, p.ID, func(loaded *loadedPoll) bool {
		now, err := loaded.document()
		return err == nil && now == document && loaded.Concerns(f.by.person.ID) == concerned
	})
}
