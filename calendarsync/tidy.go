package calendarsync

import (
	"cmp"
	"context"
	"slices"
	"time"

	"questscheduler/cursor"
	"questscheduler/scheduler"
)

// abandonedAfter is how long a channel may be on its way to being active. What
// takes longer was begun by a process that died.
const abandonedAfter = time.Hour

// tidy stops a page of the channels that nothing needs: of calendars that no
// poll follows any more, those that could not be stopped before, and those that
// stand beside a later one. A channel that nobody finished making is forgotten:
// Google never said what it is to be stopped by. What cannot be stopped now is
// tried again by the next sweep.
func (w *Watcher) tidy(ctx context.Context, cause scheduler.Cause, here *place, swept *Swept) (further bool, err error) {
	bound := watchesInOrder.With().First(sweepPage).From(here.cursor())
	docs, err := w.Store.Query(ctx, bound)
	if err != nil {
		return false, err
	}
	for _, doc := range docs {
		watch := decodeWatch(doc)
		needed, err := w.needed(ctx, watch)
		if err != nil {
			swept.Failed++
			w.Log.WarnContext(ctx, "sweep: channel left to the next", "channel", watch.ChannelID, "trace", cause.Trace, "error", err)
			continue
		}
		if !needed {
			w.retire(ctx, watch)
		}
		here.After = doc.Path
	}
	return len(docs) == sweepPage, nil
}

// needed tells whether a channel is of use, or may come to be.
func (w *Watcher) needed(ctx context.Context, watch Watch) (bool, error) {
	switch {
	case watch.Status == Expired:
		return true, nil // kept for whoever asks, until the cleanup
	case watch.Status == Retiring:
		return false, nil
	case watch.Status != Active && watch.CreatedAt.Before(w.Now().Add(-abandonedAfter)):
		return false, nil
	}
	calendar, _, err := cursor.LoadKey(ctx, w.Store, watch.CalendarKey)
	if err != nil || !calendar.Wanted() {
		return false, err
	}
	if watch.Status != Active {
		return true, nil
	}
	watches, err := watchesOf(ctx, w.Store, watch.AccountID, watch.CalendarID)
	return !slices.ContainsFunc(watches, func(other Watch) bool {
		return w.lives(other) && later(other, watch) > 0
	}), err
}

// later orders channels by how long they last, so that of several the same one
// is kept whoever asks.
func later(a, b Watch) int {
	return cmp.Or(a.Expiration.Compare(b.Expiration), cmp.Compare(a.ChannelID, b.ChannelID))
}
