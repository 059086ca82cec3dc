package dashboard

import (
	"cmp"
	"context"
	"slices"
	"time"

	"questscheduler/internal/calendars"
	"questscheduler/internal/poll"
	"questscheduler/internal/queue"
	"questscheduler/rules"
)

// Queue is one kind's queue.
type Queue struct {
	Kind    string
	Waiting int
	Dead    int
	// Oldest is since when the longest waiting due task is due; zero: none is.
	Oldest time.Time
}

// DeadLetter is a task that ended without success.
type DeadLetter struct {
	ID, Kind, Name, Reason string
	Attempt                int
	At                     time.Time
}

func (r *Reader) queue(ctx context.Context, view *View) error {
	depths, err := r.Tasks.Depths(ctx)
	if err != nil {
		return err
	}
	for _, depth := range depths {
		view.Queues = append(view.Queues, depthOf(depth))
	}
	letters, err := r.Tasks.DeadLetters(ctx, maxDead+1)
	if err != nil {
		return err
	}
	if len(letters) > maxDead {
		letters, view.MoreDead = letters[:maxDead], true
	}
	for _, letter := range letters {
		view.Dead = append(view.Dead, DeadLetter{
			ID: letter.ID, Kind: letter.Kind, Name: letter.Name, Reason: letter.Reason, Attempt: letter.Attempt, At: letter.At,
		})
	}
	return nil
}

func depthOf(d queue.Depth) Queue {
	return Queue{Kind: d.Kind, Waiting: d.Waiting, Dead: d.Dead, Oldest: d.Oldest}
}

// HeldCalendar is a calendar with cancellations that wait for a person's word.
type HeldCalendar struct {
	Key, CalendarID, OwnerID string
	Polls                    []HeldPoll
}

// HeldPoll is a poll whose event is gone with many others.
type HeldPoll struct {
	ID, Title string
	Since     time.Time
}

// held reads the polls that say that they are held, and whose calendar says so
// too: what was confirmed meanwhile waits for nobody.
func (r *Reader) held(ctx context.Context, view *View) error {
	polls, err := poll.WithError(ctx, r.Store, rules.MassCancellationHeld, maxHeld)
	if err != nil {
		return err
	}
	view.MoreHeld = len(polls) == maxHeld
	found := map[string]calendars.Calendar{}
	byKey := map[string]*HeldCalendar{}
	for _, p := range polls {
		entry, _, err := poll.IndexOf(ctx, r.Store, p)
		if err != nil {
			return err
		}
		if entry == nil {
			continue
		}
		key := poll.CalendarKey(entry.AccountID, entry.CalendarID)
		calendar, read := found[key]
		if !read {
			if calendar, _, err = calendars.LoadKey(ctx, r.Store, key); err != nil {
				return err
			}
			found[key] = calendar
		}
		if calendar.Deferred[entry.EventID] != calendars.DeferredHeld {
			continue
		}
		if byKey[key] == nil {
			byKey[key] = &HeldCalendar{Key: key, CalendarID: calendar.CalendarID, OwnerID: calendar.OwnerID}
		}
		byKey[key].Polls = append(byKey[key].Polls, HeldPoll{ID: p.ID, Title: p.Title, Since: p.Sync.Error.At})
	}
	for _, held := range byKey { // sorted below
		slices.SortFunc(held.Polls, func(a, b HeldPoll) int { return cmp.Or(cmp.Compare(a.Title, b.Title), cmp.Compare(a.ID, b.ID)) })
		view.Held = append(view.Held, *held)
	}
	slices.SortFunc(view.Held, func(a, b HeldCalendar) int { return cmp.Compare(a.Key, b.Key) })
	return nil
}
