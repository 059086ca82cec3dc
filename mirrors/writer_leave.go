package mirrors

import (
	"context"
	"iter"
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

// Leave deletes the mirrors of an unlinked account's events elsewhere, and ours in the
// account itself while its grant still lives. It is called before the grant is given back,
// and may be repeated. Unavailable: it works for seconds at a time, and more is left for
// the next call. Half an hour after the account was unlinked it gives up: what is left in
// the account is logged, and deleted if the account is linked again.
func (w *Writer) Leave(ctx context.Context, account accounts.Account, cause scheduler.Cause) error {
	if w.Observing {
		return nil
	}
	until := w.Now().Add(leaveStretch)
	more, err := w.eachUID(ctx, mirror.FromAccount(ctx, w.Store, account.ID), until, func(m mirror.Mirror) error {
		if err := w.Plan(ctx, m.OwnerID, m.ICalUID, cause); err != nil {
			return err
		}
		if now, found, err := mirror.Load(ctx, w.Store, m.ID); err != nil || !found || now.Due.IsZero() {
			return err
		} else {
			w.enqueue(ctx, now, cause.Trace)
		}
		return nil
	})
	if err != nil {
		return err
	}
	deleted, left := 0, 0
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
		gone, err := w.leaveBehind(ctx, m, cause)
		if err != nil {
			return err
		}
		if gone {
			deleted++
		} else {
			left++
		}
	}
	if left == 0 && !more {
		return nil
	}
	if w.Now().Before(account.UnlinkedAt.Add(leaveFor)) {
		return fault.Newf(fault.Unavailable, "%d copies in the unlinked account are still to be deleted", left)
	}
	w.Log.WarnContext(ctx, "copies left in an unlinked account", "account", account.ID, "left", left, "trace", cause.Trace)
	return nil
}

// leaveBehind deletes a mirror's event with the last use of its account's grant, and its
// document. gone is false if Google did not allow it.
func (w *Writer) leaveBehind(ctx context.Context, m mirror.Mirror, cause scheduler.Cause) (gone bool, err error) {
	ref := gcal.Ref{Account: m.TargetAccountID, Calendar: m.TargetCalendarID}
	deleted, failure := w.Leaving.DeleteQuietly(ctx, ref, m.EventID, "")
	if failure != nil && !fault.Is(failure, fault.NotFound) {
		w.Log.WarnContext(ctx, "copy in an unlinked account not deleted", "mirror", m.ID, "account", m.TargetAccountID,
			"trace", cause.Trace, "error", failure)
		_, _, err := w.commit(ctx, m, cause, func(m *mirror.Mirror) outcome { // Relinked makes it due
			m.Due, m.LastError = time.Time{}, sentence(failure)
			return outcome{}
		})
		return false, err
	}
	if deleted {
		w.Meter.Count(Deleted{})
	}
	return true, w.forgotten(ctx, m, deleted, cause)
}

// eachUID calls do for the first of the mirrors with each iCalUID, until a time; more
// reports whether it ran out.
func (w *Writer) eachUID(ctx context.Context, all iter.Seq2[mirror.Mirror, error], until time.Time, do func(mirror.Mirror) error) (more bool, err error) {
	done := map[string]bool{}
	for m, err := range all {
		switch {
		case err != nil:
			return true, err
		case m.State == mirror.Deleting || done[m.OwnerID+"\x00"+m.ICalUID]:
			continue
		case ctx.Err() != nil || !w.Now().Before(until):
			return true, nil
		}
		done[m.OwnerID+"\x00"+m.ICalUID] = true
		if err := do(m); err != nil {
			return true, err
		}
	}
	return false, nil
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
			w.enqueue(ctx, m, cause.Trace)
		}
	}
	return nil
}
