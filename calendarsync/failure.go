package calendarsync

import (
	"context"
	"errors"
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

// verdict says what becomes of a look's task, and records a failure on the
// calendar. A failure changes no poll's status.
func (l *syncRun) verdict(ctx context.Context, err error) queue.Verdict {
	switch {
	case err == nil:
		return queue.Verdict{Outcome: queue.Done}
	case errors.Is(err, scheduler.ErrFenced):
		return queue.Verdict{Outcome: queue.Done} // the look that holds the calendar does it all
	case errors.Is(ctx.Err(), context.Canceled):
		// The server ends. That is no failure of the calendar, which whoever comes
		// next need not wait for until the lease is over.
		last, cancel := finalContext(ctx)
		defer cancel()
		return queue.Verdict{Err: errors.Join(err, l.commit(last, calendars.Release()))}
	}
	last, cancel := finalContext(ctx)
	defer cancel()
	l.Log.WarnContext(ctx, "look failed", "calendar", l.ref.Calendar, "account", l.ref.Account,
		"hint", l.cause.Hint, "trace", l.cause.Trace, "kind", fault.KindOf(err).String(), "error", err)
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

// lastPatience is how long a look whose time is over may take to write that down.
const finalTimeout = 3 * time.Second

// lastWords is ctx, or where it has ended a little more: that the time was over is
// what the look failed by, and nobody would see it otherwise.
func finalContext(ctx context.Context) (context.Context, context.CancelFunc) {
	if ctx.Err() == nil {
		return ctx, func() {}
	}
	return context.WithTimeout(context.WithoutCancel(ctx), finalTimeout)
}

// longerEach is a wait doubled with each attempt that failed before, at most
// refusedMost. attempt counts from 1.
func backoff(wait time.Duration, attempt int) time.Duration {
	for range attempt - 1 {
		if wait *= 2; wait >= maxRefusedPause {
			return maxRefusedPause
		}
	}
	return wait
}

// failures is what follows from a look that Google, or the store, did not let
// through, by kind; the first row that fits counts. None changes a poll's status.
var failures = []failure{
	// Only relinking helps, and that asks for a look. Who took the account out
	// themselves need not be told.
	{kind: fault.Revoked, code: string(rules.CalendarUnlinked), polls: rules.CalendarUnlinked},
	{kind: fault.Revoked, polls: rules.TokenExpired, announce: true},
	// The quota is used up for hours: the calendar is left alone meanwhile.
	{kind: fault.Exhausted, retry: true, after: quotaPause, pause: quotaPause},
	{kind: fault.RateLimited, retry: true},
	{kind: fault.Unavailable, retry: true},
	// Refused for good, as far as Google knows; people change such things. A push,
	// a sweep or a person has it looked at meanwhile, whatever its own task waits for.
	{kind: fault.Provider, retry: true, after: refusedPause, backoff: true},
	{kind: fault.NotFound, retry: true, after: refusedPause, backoff: true},
	{kind: fault.Forbidden, retry: true, after: refusedPause, backoff: true},
	{kind: fault.Internal, retry: true},
}

// failure is one row of the table.
type failure struct {
	kind fault.Kind
	// code, where set, is the one that the row is for.
	code string
	// again tries the look again, after at least that long; longer doubles the
	// wait with each attempt, up to refusedMost.
	retry   bool
	after   time.Duration
	backoff bool
	// leave keeps every look off the calendar for that long.
	pause time.Duration
	// polls is the error that the calendar's polls show; "": none.
	polls rules.ErrorCode
	// tell tells the account's owner.
	announce bool
}

const (
	quotaPause   = time.Hour
	refusedPause = 30 * time.Second
	// refusedMost is well below the time between two sweeps: one calendar that was
	// deleted must not make most of all looks, nor come back late.
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

// fail writes on the calendar that the look failed, and on its polls where only
// the account's owner can mend it. Until that is done the look keeps its lease,
// and the calendar says from before that looks fail: so a look that goes through
// again comes after it, and takes off the polls what was said of them. What a look
// cannot say since another one began, that one says.
func (l *syncRun) fail(ctx context.Context, cause error) error {
	row := failureOf(cause)
	err := l.commitWith(ctx, func(now calendars.Calendar) []store.Update { return l.failureUpdates(now, row, cause) })
	if err == nil && row.polls != "" {
		err = errors.Join(l.showFailed(ctx, row, cause), l.commit(ctx, calendars.Ended(l.Now())...))
	}
	if errors.Is(err, scheduler.ErrFenced) {
		return nil
	}
	return err
}

// failed gives what a failure writes on the calendar. Where the polls have yet to
// show it, the lease is not given back.
func (l *syncRun) failureUpdates(now calendars.Calendar, row failure, cause error) []store.Update {
	kind := fault.KindOf(cause)
	if row.polls != "" {
		return append(now.Lost(l.Now(), kind.String()), calendars.Renew(l.Now())...)
	}
	updates := now.Failed(l.Now(), kind.String())
	leave := row.pause
	if kind == fault.RateLimited { // a push must not look before Google allows it
		leave = fault.RetryAfter(cause)
	}
	if leave > 0 {
		updates = append(updates, calendars.Leave(l.Now().Add(leave)))
	}
	return updates
}

// showFailed shows on the calendar's polls what only the account's owner can mend,
// and tells them.
func (l *syncRun) showFailed(ctx context.Context, row failure, cause error) error {
	code, tell := row.polls, row.announce
	if fault.CodeOf(cause) == accounts.CodeNotLinked { // its owner knows, and Links tells what it means
		code, tell = rules.CalendarUnlinked, false
	}
	err := l.eachEntry(ctx, func(entry poll.IndexEntry) error {
		return l.Polls.SetSyncError(ctx, entry.PollID, code, l.cause, l.stillHolds)
	})
	if err != nil || !tell {
		return err
	}
	return l.Owners.TellSyncError(ctx, l.calendar.OwnerID, l.ref.Account)
}

// readableAgain takes token_expired off the calendar's polls after a look that
// went through again: those whose events did not change are in no listing.
func (l *syncRun) clearAccountErrors(ctx context.Context) error {
	if l.calendar.FailedSince.IsZero() {
		return nil
	}
	return l.eachEntry(ctx, func(entry poll.IndexEntry) error {
		for _, code := range []rules.ErrorCode{rules.TokenExpired, rules.CalendarUnlinked} {
			if err := l.Polls.ClearSyncError(ctx, entry.PollID, code, l.cause, l.stillHolds); err != nil {
				return err
			}
		}
		return nil
	})
}
