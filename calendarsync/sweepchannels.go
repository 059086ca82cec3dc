package calendarsync

import (
	"context"

	"questscheduler/internal/calendars"
	"questscheduler/scheduler"
)

// tidy stops a page of the channels that nothing needs: of calendars that no
// poll follows any more, those that could not be stopped before, and those that
// stand beside a later one. What cannot be stopped now is tried again by the next
// sweep.
func (w *Watcher) sweepChannels(ctx context.Context, cause scheduler.Cause, here *position, swept *Swept) (further bool, err error) {
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

// needed tells whether a channel is of use, or may come to be. One that is not,
// since nothing follows its calendar, is counted on by nobody any more.
func (w *Watcher) needed(ctx context.Context, watch Watch) (bool, error) {
	switch {
	case watch.Status == Expired:
		return true, nil // kept for whoever asks, until the cleanup
	case watch.Status == Retiring:
		return false, nil
	case !watch.Expiration.After(w.Now()):
		return watch.NextTry.After(w.Now()), nil // Retry opens another in its place first
	}
	calendar, _, err := calendars.LoadKey(ctx, w.Store, watch.CalendarKey)
	if err != nil {
		return false, err
	}
	if !calendar.Wanted() {
		unneeded, err := w.release(ctx, watch)
		return !unneeded, err
	}
	watches, err := Watches(ctx, w.Store, watch.AccountID, watch.CalendarID)
	if err != nil {
		return false, err
	}
	kept := w.current(watches)
	if watch.Status == Active {
		return !w.replaces(kept, watch), nil
	}
	young := watch.CreatedAt.After(w.Now().Add(-answerTimeout))
	return young || kept.ChannelID == "", nil
}
