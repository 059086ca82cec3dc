package calendarsync

import (
	"context"

	"questscheduler/internal/calendars"
	"questscheduler/scheduler"
)

// sweepChannels stops a page of unneeded channels: those of calendars that nothing
// follows, those that could not be stopped before, and those replaced by a later one.
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

// needed reports whether a channel is useful or may become so. If nothing follows its
// calendar it is superseded.
func (w *Watcher) needed(ctx context.Context, watch Watch) (bool, error) {
	switch {
	case watch.Status == Expired:
		return true, nil // kept for the record until the cleanup
	case watch.Status == Retiring:
		return false, nil
	case !watch.Expiration.After(w.Now()):
		return watch.NextTry.After(w.Now()), nil // Retry replaces it first
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
