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
func (l *look) verdict(ctx context.Context, err error) queue.Verdict {
	switch {
	case err == nil:
		return queue.Verdict{Outcome: queue.Done}
	case errors.Is(err, scheduler.ErrFenced):
		return queue.Verdict{Outcome: queue.Done} // the look that holds the calendar does it all
	case errors.Is(ctx.Err(), context.Canceled):
		// The server ends. That is no failure of the calendar, which whoever comes
		// next need not wait for until the lease is over.
		last, cancel := lastWords(ctx)
		defer cancel()
		return queue.Verdict{Err: errors.Join(err, l.commit(last, calendars.Release()))}
	}
	last, cancel := lastWords(ctx)
	defer cancel()
	l.Log.WarnContext(ctx, "look failed", "calendar", l.ref.Calendar, "account", l.ref.Account,
		"hint", l.cause.Hint, "trace", l.cause.Trace, "kind", fault.KindOf(err).String(), "error", err)
	if recordErr := l.fail(last, err); recordErr != nil {
		return queue.Verdict{Err: errors.Join(err, recordErr)}
	}
	row := failureOf(err)
	if !row.again {
		return queue.Verdict{Outcome: queue.Done}
	}
	after := row.after
	if row.longer {
		after = longerEach(after, l.attempt)
	}
	return queue.Verdict{Outcome: queue.Retry, After: max(after, fault.RetryAfter(err)), Err: err}
}

// lastPatience is how long a look whose time is over may take to write that down.
const lastPatience = 3 * time.Second

// lastWords is ctx, or where it has ended a little more: that the time was over is
// what the look failed by, and nobody would see it otherwise.
func lastWords(ctx context.Context) (context.Context, context.CancelFunc) {
	if ctx.Err() == nil {
		return ctx, func() {}
	}
	return context.WithTimeout(context.WithoutCancel(ctx), lastPatience)
}

// longerEach is a wait doubled with each attempt that failed before, at most
// refusedMost. attempt counts from 1.
func longerEach(wait time.Duration, attempt int) time.Duration {
	for range attempt - 1 {
		if wait *= 2; wait >= refusedMost {
			return refusedMost
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
	{kind: fault.Revoked, polls: rules.TokenExpired, tell: true},
	// The quota is used up for hours: the calendar is left alone meanwhile.
	{kind: fault.Exhausted, again: true, after: quotaPause, leave: quotaPause},
	{kind: fault.RateLimited, again: true},
	{kind: fault.Unavailable, again: true},
	// Refused for good, as far as Google knows; people change such things. A push,
	// a sweep or a person has it looked at meanwhile, whatever its own task waits for.
	{kind: fault.Provider, again: true, after: refusedPause, longer: true},
	{kind: fault.NotFound, again: true, after: refusedPause, longer: true},
	{kind: fault.Forbidden, again: true, after: refusedPause, longer: true},
	{kind: fault.Internal, again: true},
}

// failure is one row of the table.
type failure struct {
	kind fault.Kind
	// code, where set, is the one that the row is for.
	code string
	// again tries the look again, after at least that long; longer doubles the
	// wait with each attempt, up to refusedMost.
	again  bool
	after  time.Duration
	longer bool
	// leave keeps every look off the calendar for that long.
	leave time.Duration
	// polls is the error that the calendar's polls show; "": none.
	polls rules.ErrorCode
	// tell tells the account's owner.
	tell bool
}

const (
	quotaPause   = time.Hour
	refusedPause = 30 * time.Second
	// refusedMost is well below the time between two sweeps: one calendar that was
	// deleted must not make most of all looks, nor come back late.
	refusedMost = time.Hour
)

func failureOf(err error) failure {
	kind, code := fault.KindOf(err), fault.CodeOf(err)
	for _, row := range failures {
		if row.kind == kind && (row.code == "" || row.code == code) {
			return row
		}
	}
	return failure{kind: kind, again: true}
}

// fail writes on the calendar that the look failed, and on its polls where only
// the account's owner can mend it. Until that is done the look keeps its lease,
// and the calendar says from before that looks fail: so a look that goes through
// again comes after it, and takes off the polls what was said of them. What a look
// cannot say since another one began, that one says.
func (l *look) fail(ctx context.Context, cause error) error {
	row := failureOf(cause)
	err := l.commitWith(ctx, func(now calendars.Calendar) []store.Update { return l.failed(now, row, cause) })
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
func (l *look) failed(now calendars.Calendar, row failure, cause error) []store.Update {
	kind := fault.KindOf(cause)
	if row.polls != "" {
		return append(now.Lost(l.Now(), kind.String()), calendars.Renew(l.Now())...)
	}
	updates := now.Failed(l.Now(), kind.String())
	leave := row.leave
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
func (l *look) showFailed(ctx context.Context, row failure, cause error) error {
	code, tell := row.polls, row.tell
	if fault.CodeOf(cause) == accounts.CodeNotLinked { // its owner knows, and Links tells what it means
		code, tell = rules.CalendarUnlinked, false
	}
	err := l.eachEntry(ctx, func(entry poll.IndexEntry) error {
		return l.Polls.SetSyncError(ctx, entry.PollID, code, l.cause, l.holds)
	})
	if err != nil || !tell {
		return err
	}
	return l.Owners.TellSyncError(ctx, l.calendar.OwnerID, l.ref.Account)
}

// readableAgain takes token_expired off the calendar's polls after a look that
// went through again: those whose events did not change are in no listing.
func (l *look) readableAgain(ctx context.Context) error {
	if l.calendar.FailedSince.IsZero() {
		return nil
	}
	return l.eachEntry(ctx, func(entry poll.IndexEntry) error {
		for _, code := range []rules.ErrorCode{rules.TokenExpired, rules.CalendarUnlinked} {
			if err := l.Polls.ClearSyncError(ctx, entry.PollID, code, l.cause, l.holds); err != nil {
				return err
			}
		}
		return nil
	})
}
