package calendarsync

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"questscheduler/internal/accounts"
	"questscheduler/internal/calendars"
	"questscheduler/internal/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/queue"
	"questscheduler/internal/store"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// verdict decides what happens to the run's task, and records a failure on the calendar.
// No failure changes a poll's status.
func (l *syncRun) verdict(ctx context.Context, err error) queue.Verdict {
	switch {
	case err == nil && l.retry > 0:
		return queue.Verdict{Outcome: queue.Later, After: l.retry}
	case err == nil:
		return queue.Verdict{Outcome: queue.Done}
	case errors.Is(err, scheduler.ErrFenced):
		return queue.Verdict{Outcome: queue.Done} // a newer run does the work
	case errors.Is(ctx.Err(), context.Canceled):
		// The server is stopping, which is no failure. Release the lease for the next run.
		last, cancel := finalContext(ctx)
		defer cancel()
		return queue.Verdict{Err: errors.Join(err, l.commit(last, calendars.Release()))}
	}
	last, cancel := finalContext(ctx)
	defer cancel()
	l.Log.WarnContext(ctx, "sync failed", "calendar", l.ref.Calendar, "account", l.ref.Account,
		"hint", l.cause.Trigger, "trace", l.cause.Trace, "kind", fault.KindOf(err).String(), "error", err)
	if recordErr := l.fail(last, err); recordErr != nil {
		return queue.Verdict{Err: errors.Join(err, recordErr)}
	}
	row := failureOf(err)
	if !row.retry {
		return queue.Verdict{Outcome: queue.Done}
	}
	after := row.after
	if row.backoff {
		after = backoff(after, l.attempt)
	}
	return queue.Verdict{Outcome: queue.Retry, After: max(after, fault.RetryAfter(err)), Err: err}
}

// finalTimeout limits the time that a timed-out run may take to record its end.
const finalTimeout = 3 * time.Second

// finalContext returns ctx, or a short extension if ctx has ended: without the record the
// timeout would stay unknown.
func finalContext(ctx context.Context) (context.Context, context.CancelFunc) {
	if ctx.Err() == nil {
		return ctx, func() {}
	}
	return context.WithTimeout(context.WithoutCancel(ctx), finalTimeout)
}

// backoff doubles a wait for each failed attempt before this one (attempt counts from 1),
// up to maxRefusedPause.
func backoff(wait time.Duration, attempt int) time.Duration {
	for range attempt - 1 {
		if wait *= 2; wait >= maxRefusedPause {
			return maxRefusedPause
		}
	}
	return wait
}

// failures lists what follows from a failed run, by kind; the first matching row counts,
// and without one the run is retried.
// None changes a poll's status.
var failures = []failure{
	// Only relinking helps, and triggers a run. An owner who unlinked the account knows.
	{kind: fault.Revoked, code: string(rules.CalendarUnlinked), polls: rules.CalendarUnlinked},
	{kind: fault.Revoked, polls: rules.TokenExpired, announce: true},
	// The quota is used up for hours; leave the calendar alone.
	{kind: fault.Exhausted, retry: true, after: quotaPause, pause: quotaPause},
	// Permanent for Google, but people change such things. Other triggers still run a sync.
	{kind: fault.Provider, retry: true, after: refusedPause, backoff: true},
	{kind: fault.NotFound, retry: true, after: refusedPause, backoff: true},
	{kind: fault.Forbidden, retry: true, after: refusedPause, backoff: true},
}

// failure is one row of the table.
type failure struct {
	kind fault.Kind
	// code, if set, restricts the row to errors with that code.
	code string
	// retry repeats the run after at least after; backoff doubles that with each attempt,
	// up to maxRefusedPause.
	retry   bool
	after   time.Duration
	backoff bool
	// pause keeps every run off the calendar for that long.
	pause time.Duration
	// polls is the error shown on the calendar's polls; "" for none.
	polls rules.ErrorCode
	// announce notifies the account's owner.
	announce bool
	// reason is the calendar's stored error; "": the kind.
	reason string
}

const (
	quotaPause   = time.Hour
	refusedPause = 30 * time.Second
	// maxRefusedPause is well below the time between two sweeps, and long enough that a
	// deleted calendar does not make up most of all runs.
	maxRefusedPause = time.Hour
)

func failureOf(err error) failure {
	kind, code := fault.KindOf(err), fault.CodeOf(err)
	for _, row := range failures {
		if row.kind == kind && (row.code == "" || row.code == code) {
			return row
		}
	}
	return failure{kind: kind, retry: true}
}

// fail records on the calendar that the run failed, and on its polls if only the
// account's owner can fix it. Until then the run keeps its lease, and the calendar is
// marked as failing before its polls are: so the next successful run comes later and
// clears them. If a newer run has begun, it records its own result.
func (l *syncRun) fail(ctx context.Context, cause error) error {
	row := failureOf(cause)
	if row.polls == "" {
		row = l.orLost(ctx, row)
	}
	var woken []calendars.Calendar
	var err error
	if row.reason == calendars.ReasonLost && !l.calendar.Lost() {
		if woken, err = l.awaiting(ctx); err != nil {
			return err
		}
	}
	err = l.commitWith(ctx, func(now calendars.Calendar) []store.Update { return l.failureUpdates(now, row, cause) }, woken...)
	if err == nil && row.polls != "" {
		err = l.showFailed(ctx, row, cause)
		err = errors.Join(err, l.commit(ctx, calendars.Ended(l.Now())...))
	}
	if errors.Is(err, scheduler.ErrFenced) {
		return nil
	}
	return err
}

// orLost is the row of a failure that may mean that the calendar is lost. It is retried as
// its kind is: what was unshared may be shared again.
func (l *syncRun) orLost(ctx context.Context, row failure) failure {
	if !l.isLost(ctx) {
		return row
	}
	if row.reason = calendars.ReasonLost; l.refused { // an outage is no news of it
		row.polls, row.announce = rules.CalendarLost, true
	}
	return row
}

// failureUpdates records a failure on the calendar. If polls have yet to show it, the
// lease is kept.
func (l *syncRun) failureUpdates(now calendars.Calendar, row failure, cause error) (updates []store.Update) {
	kind := fault.KindOf(cause)
	switch {
	case l.refused:
		updates = now.Refused(l.Now())
	case l.answered:
		updates = now.Answered()
	}
	reason := cmp.Or(row.reason, kind.String())
	if row.polls != "" {
		return slices.Concat(updates, now.MarkFailing(l.Now(), reason), calendars.Renew(l.Now()))
	}
	updates = append(updates, now.Failed(l.Now(), reason)...)
	leave := row.pause
	if kind == fault.RateLimited { // a push must not run earlier than Google allows
		leave = fault.RetryAfter(cause)
	}
	if leave > 0 {
		updates = append(updates, calendars.Pause(l.Now().Add(leave)))
	}
	return updates
}

// showFailed shows on the calendar's polls what only the account's owner can fix, and
// notifies the owner.
func (l *syncRun) showFailed(ctx context.Context, row failure, cause error) error {
	code, tell := row.polls, row.announce
	if fault.CodeOf(cause) == accounts.CodeNotLinked { // its owner knows; Links announces it
		code, tell = rules.CalendarUnlinked, false
	}
	followed := false
	err := eachEntry(ctx, l.Store, l.ref.Account, l.ref.Calendar, func(entry poll.IndexEntry) error {
		followed = true
		return l.Polls.SetSyncError(ctx, entry.PollID, code, l.cause, l.stillHolds)
	})
	switch {
	case err != nil || !tell:
		return err
	case code != rules.CalendarLost:
		return l.Owners.NotifySyncError(ctx, l.calendar.OwnerID, l.ref.Account)
	case followed: // of others, the sync status tells
		return l.notifyLost(ctx)
	default:
		return nil
	}
}

// clearAccountErrors clears errors of the account and of a lost calendar on the calendar's polls after the first
// successful run; unchanged events are in no listing.
func (l *pollConsumer) clearAccountErrors(ctx context.Context) error {
	if l.calendar.FailedSince.IsZero() {
		return nil
	}
	return l.eachEntry(ctx, func(entry poll.IndexEntry) error {
		for _, code := range []rules.ErrorCode{rules.TokenExpired, rules.CalendarUnlinked, rules.CalendarLost} {
			if err := l.Polls.ClearSyncError(ctx, entry.PollID, code, l.cause, l.stillHolds); err != nil {
				return err
			}
		}
		return nil
	})
}
