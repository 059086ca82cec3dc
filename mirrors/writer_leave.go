package mirrors

import (
	"context"
	"time"

	"questscheduler/internal/accounts"
	"questscheduler/internal/fault"
	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
	"questscheduler/mirrors/plan"
	"questscheduler/scheduler"
)

const (
	// leaveStretch is how long one call of Leave works, and leaveFor how long after an
	// account was unlinked its grant is kept for that.
	leaveStretch = 5 * time.Second
	leaveFor     = 30 * time.Minute
)

// Leave deletes ours in an unlinked account while its grant still lives, after
// AccountLeaving and before the grant is given back. It may be repeated. Unavailable: it
// works for seconds at a time, and more is left for the next call. Half an hour after the
// account was unlinked it gives up: what is left in the account is logged, and deleted if
// the account is linked again.
func (w *Writer) Leave(ctx context.Context, account accounts.Account, cause scheduler.Cause) error {
	if w.Observing {
		return nil
	}
	until := w.Now().Add(leaveStretch)
	left := 0
	for m, err := range mirror.IntoAccount(ctx, w.Store, account.ID) {
		if err != nil {
			return err
		}
		if m.EventID == "" || m.SeriesMirrorID != "" || m.State == mirror.Covered {
			continue // it has no event of its own
		}
		if ctx.Err() != nil || !w.Now().Before(until) {
			left++
			continue
		}
		refused, err := w.leaveBehind(ctx, m, cause)
		if err != nil {
			return err
		}
		switch fault.KindOf(refused) {
		case fault.Unavailable, fault.RateLimited, fault.Exhausted, fault.Revoked:
			until = w.Now() // the next call would end the same
		}
		if refused != nil {
			left++
		}
	}
	if left == 0 {
		return nil
	}
	if w.Now().Before(account.UnlinkedAt.Add(leaveFor)) {
		return fault.Newf(fault.Unavailable, "%d copies in the unlinked account are still to be deleted", left)
	}
	w.Log.WarnContext(ctx, "copies left in an unlinked account", "account", account.ID, "left", left, "trace", cause.Trace)
	return nil
}

// leaveBehind deletes a mirror's event with the last use of its account's grant, and its
// document. refused is Google's error, err the store's.
func (w *Writer) leaveBehind(ctx context.Context, m mirror.Mirror, cause scheduler.Cause) (refused, err error) {
	ref := gcal.Ref{Account: m.TargetAccountID, Calendar: m.TargetCalendarID}
	deleted, failure := w.Leaving.DeleteQuietly(ctx, ref, m.EventID, "")
	if failure != nil && !fault.Is(failure, fault.NotFound) {
		w.Log.WarnContext(ctx, "copy in an unlinked account not deleted", "mirror", m.ID, "account", m.TargetAccountID,
			"trace", cause.Trace, "error", failure)
		_, _, err := w.commit(ctx, m, cause, func(m *mirror.Mirror) outcome { // Relinked makes it due
			m.Due, m.LastError = time.Time{}, sentence(failure)
			return outcome{}
		})
		return failure, err
	}
	if deleted {
		w.Meter.Count(Deleted{})
	}
	return nil, w.forgotten(ctx, m, deleted, cause)
}

// Relinked makes the mirrors in an account due that waited for it to be linked again: those
// to be written, and copies that a revoked or unlinked account kept.
func (w *Writer) Relinked(ctx context.Context, account accounts.Account, cause scheduler.Cause) error {
	for m, err := range mirror.IntoAccount(ctx, w.Store, account.ID) {
		if err != nil {
			return err
		}
		if !m.Due.IsZero() || plan.Next(m) == plan.Nothing {
			continue
		}
		m, held, err := w.commit(ctx, m, cause, func(m *mirror.Mirror) outcome {
			m.Due, m.LastError = store.Instant(w.Now()), ""
			return outcome{}
		})
		if err != nil {
			return err
		}
		if held {
			w.enqueueWrites(ctx, []mirror.Mirror{m}, cause)
		}
	}
	return nil
}
