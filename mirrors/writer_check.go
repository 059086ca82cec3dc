package mirrors

import (
	"cmp"
	"context"

	"questscheduler/fault"
	"questscheduler/internal/gcal"
	"questscheduler/mirrors/plan"
	"questscheduler/rules"
)

// checkAgain decides again after a write was refused because the event is not what the
// mirror remembers.
func (w *Writer) checkAgain(ctx context.Context, a *attempt, refused error) error {
	shown, err := a.google.Get(ctx, a.ref(), a.Mirror.EventID)
	missed := fault.Is(err, fault.NotFound)
	switch {
	case missed:
		if _, err := a.google.Access(ctx, a.ref()); err != nil {
			return w.calendarMissing(ctx, a, err)
		}
		// Google may miss for a moment what it has: where nothing failed before, and what it just said to be
		// another version. Of a deleted event it shows that.
		if a.Mirror.Attempts == 0 || fault.CodeOf(refused) == gcal.CodeStale {
			return w.failed(ctx, a, refused)
		}
		shown = gcal.Event{ID: a.Mirror.EventID, EventState: rules.Gone} // its tombstone is gone too
	case err != nil:
		return w.failed(ctx, a, err)
	}
	verdict, err := w.observed(ctx, a.Mirror, shown, a.cause)
	same := verdict == plan.Ignored || verdict == plan.Echo && (shown.ETag == "" || shown.ETag == a.Mirror.ETag)
	if err == nil && same { // the next try would end the same
		return w.failed(ctx, a, refused)
	}
	if err == nil && missed { // Google may have missed it again
		w.deleteReplaced(ctx, a, a.Mirror.EventID, a.Mirror.ETag)
	}
	return err
}

// deleteReplaced deletes an event that its mirror names no more, unless another document names it,
// such as a kept copy. If that fails, the reconciliation does it.
func (w *Writer) deleteReplaced(ctx context.Context, a *attempt, eventID, etag string) {
	_, refused, err := w.deleteUnnamed(ctx, a.google, a.ref(), eventID, etag)
	if err := cmp.Or(err, refused); err != nil && !fault.Is(err, fault.NotFound) {
		w.Log.WarnContext(ctx, "event of a forgotten mirror not deleted; left to the reconciliation",
			"mirror", a.Mirror.ID, "trace", a.cause.Trace, "error", err)
	}
}
