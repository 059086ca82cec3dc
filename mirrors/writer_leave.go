package mirrors

import (
	"context"
	"time"

	"questscheduler/calendarsync"
	"questscheduler/fault"
	"questscheduler/internal/accounts"
	"questscheduler/internal/calendars"
	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
	"questscheduler/mirrors/plan"
	"questscheduler/scheduler"
)

var _ calendarsync.AccountListener = (*Writer)(nil)

const (
	// leaveStretch is how long one call of Leave works, and leaveFor how long after an
	// account was unlinked its grant is kept for that at least.
	leaveStretch = 5 * time.Second
	leaveFor     = 30 * time.Minute
)

// AccountLeaving ends mirroring in an unlinked account: Service.EndAccount, and Leave. It
// implements calendarsync.AccountListener.
func (w *Writer) AccountLeaving(ctx context.Context, account accounts.Account, cause scheduler.Cause) error {
	followed := false // else it was done before, and planning everything again would never end
	for calendar, err := range calendars.OfAccount(ctx, w.Store, account.ID) {
		if err != nil {
			return err
		}
		followed = followed || calendar.Interests[mirror.Consumer] > 0
	}
	if followed {
		if err := w.Service.EndAccount(ctx, account, cause); err != nil {
			return err
		}
	}
	return w.Leave(ctx, account, cause)
}

// AccountBack resumes mirroring in an account that was linked again: Service.ResumeAccount, and
// Relinked. It implements calendarsync.AccountListener.
func (w *Writer) AccountBack(ctx context.Context, account accounts.Account, cause scheduler.Cause) error {
	if err := w.Service.ResumeAccount(ctx, account, cause); err != nil {
		return err
	}
	return w.Relinked(ctx, account, cause)
}

// Leave deletes ours in an unlinked account while its grant still lives, after
// AccountLeaving and before the grant is given back. It may be repeated. Unavailable: it
// works for seconds at a time, and more is left for the next call. Half an hour after the
// account was unlinked it gives up once a call deletes nothing: what is left in the account
// is logged, and deleted if the account is linked again.
func (w *Writer) Leave(ctx context.Context, account accounts.Account, cause scheduler.Cause) error {
	if w.Observing {
		return nil
	}
	until := w.Now().Add(leaveStretch)
	left, deleted := 0, 0
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
		refused, err := w.leaveBehind(ctx, account, m, cause)
		if err != nil {
			return err
		}
		switch fault.KindOf(refused) {
		case fault.Unavailable, fault.RateLimited, fault.Exhausted, fault.Revoked:
			until = w.Now() // the next call would end the same
		}
		if refused != nil {
			left++
		} else {
			deleted++
		}
	}
	if left == 0 {
		return nil
	}
	if deleted > 0 || w.Now().Before(account.UnlinkedAt.Add(leaveFor)) {
		return fault.Newf(fault.Unavailable, "%d copies in the unlinked account are still to be deleted", left)
	}
	w.Log.WarnContext(ctx, "copies left in an unlinked account", "account", account.ID, "left", left, "trace", cause.Trace)
	return nil
}

// leaveBehind deletes a mirror's event with the last use of its account's grant, and its
// document. If the event was never known to exist, an insert that began before the account was
// unlinked may still create it, and the document stays until insertGrace is over. refused is
// Google's error, err the store's.
func (w *Writer) leaveBehind(ctx context.Context, account accounts.Account, was mirror.Mirror, cause scheduler.Cause) (refused, err error) {
	deleted, failure, err := w.deleteEvent(ctx, w.Leaving, was)
	if err != nil {
		return nil, err
	}
	missing := fault.Is(failure, fault.NotFound)
	if missing && was.ETag == "" && w.Now().Before(account.UnlinkedAt.Add(insertGrace)) {
		return failure, nil
	}
	if failure != nil && !missing {
		w.Log.WarnContext(ctx, "copy in an unlinked account not deleted", "mirror", was.ID, "account", was.TargetAccountID,
			"trace", cause.Trace, "error", failure)
		_, _, err := w.commit(ctx, was, cause, func(m *mirror.Mirror) outcome { // Relinked makes it due
			if m.Due.Equal(was.Due) {
				m.Due, m.LastError = time.Time{}, fault.MessageOf(failure, "Google Calendar refused this.")
			}
			return outcome{}
		})
		return failure, err
	}
	if deleted {
		w.Meter.Count(Deleted{})
	}
	return nil, w.forgotten(ctx, was, deleted, false, cause)
}

// Relinked makes the mirrors in an account due that waited for it to be linked again: those
// to be written, and copies that a revoked or unlinked account kept. One that is due already
// gets another time, by which a writer that began before knows that it need not wait.
func (w *Writer) Relinked(ctx context.Context, account accounts.Account, cause scheduler.Cause) error {
	for m, err := range mirror.IntoAccount(ctx, w.Store, account.ID) {
		if err != nil {
			return err
		}
		if plan.Next(m) == plan.Nothing {
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
			w.writeSoon(ctx, m)
		}
	}
	return nil
}
