package calendarsync

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"questscheduler/internal/calendars"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/scheduler"
)

const (
	// upcoming is how long before a session its calendar is synced every ListEvery: a move that
	// Google's push does not report, and that is found with the next sweep, may be found too late.
	upcoming = 48 * time.Hour
	// ListEvery is a minute less than the quarter of an hour within which a lost push is found:
	// the drain, which wakes what is due, runs every minute.
	ListEvery = 14 * time.Minute
	// UpcomingEvery is how often PlanUpcoming is due: less than ListEvery, so that the next sync
	// of a calendar is planned before its time.
	UpcomingEvery = 10 * time.Minute
)

// Upcoming counts what PlanUpcoming did.
type Upcoming struct {
	Sessions int // that start soon
	Syncs    int // planned
}

// PlanUpcoming does a page of the sessions that start soon, the earliest first: it plans a sync of
// each one's calendar ListEvery after the last one began, whatever caused that. Those that were not
// synced for longer are spread over the time until the next run, or with spread 0 are due at once.
// A calendar that fails or rests is left alone.
//
// at and next are places as for SweepPage. Repeating a page is harmless: a planned sync stays. An
// error means that the store did not answer.
func (w *Watcher) PlanUpcoming(
	ctx context.Context, cause scheduler.Cause, at string, spread time.Duration,
) (did Upcoming, next string, err error) {
	here := positionAt(at)
	if here.Began.IsZero() {
		here.Began = store.Instant(w.Now()).UTC()
	}
	until := here.Began.Add(upcoming + ListEvery) // what begins to be soon before the next run has planned it
	polls, further, err := poll.Starting(ctx, w.Store, here.Began, until, store.Paging{Limit: sweepPage, After: here.cursor()})
	if err == nil {
		did, err = w.planUpcoming(ctx, polls, cause, &here, spread)
	}
	if err != nil {
		return Upcoming{}, "", fmt.Errorf("plan syncs before sessions: %w", err)
	}
	if !here.advance(further) {
		return did, "", nil
	}
	written, err := json.Marshal(here)
	return did, string(written), err
}

func (w *Watcher) planUpcoming(
	ctx context.Context, polls []poll.Poll, cause scheduler.Cause, here *position, spread time.Duration,
) (did Upcoming, err error) {
	keys, err := w.calendarsOf(ctx, polls)
	if err != nil || len(keys) == 0 {
		return Upcoming{Sessions: len(polls)}, err
	}
	var planned map[string]time.Time
	var handed int
	err = w.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		planned, handed = map[string]time.Time{}, 0
		found, err := calendars.LoadKeys(ctx, tx, keys)
		if err != nil {
			return err
		}
		for _, calendar := range found {
			due := calendar.StartedAt.Add(ListEvery)
			if late := due.Before(here.Began); late && spread == 0 {
				due = here.Began
			} else if late {
				due = position{Began: here.Began, Handed: here.Handed + handed}.slot(spread)
				handed++
			}
			updates := calendar.PlanSync(calendars.Request{At: due, Trigger: SweepKind, Trace: cause.Trace})
			if len(updates) == 0 {
				continue
			}
			planned[calendar.Key] = due
			if err := tx.Update(calendars.Path(calendar.Key), updates...); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return Upcoming{}, err
	}
	here.Handed += handed
	for _, key := range keys {
		if due, is := planned[key]; is {
			w.Outbox.Soon(ctx, calendars.SyncKind, key, due)
		}
	}
	return Upcoming{len(polls), len(planned)}, nil
}

// calendarsOf lists the keys of the calendars that hold the polls' events, each once, in the
// order of the polls. A poll without an index entry is left to the sweep.
func (w *Watcher) calendarsOf(ctx context.Context, polls []poll.Poll) (keys []string, err error) {
	indexed, err := poll.Indexed(ctx, w.Store, polls)
	if err != nil {
		return nil, err
	}
	for _, p := range polls {
		entry, is := indexed[p.ID]
		if !is { // perhaps it had to step aside for another of its id
			found, _, err := poll.IndexOf(ctx, w.Store, p)
			if err != nil {
				return nil, err
			}
			if found == nil {
				continue
			}
			entry = *found
		}
		if key := poll.CalendarKey(entry.AccountID, entry.CalendarID); !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys, nil
}
