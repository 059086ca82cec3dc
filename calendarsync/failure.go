package calendarsync

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/calendars"
	"questscheduler/internal/ids"
	"questscheduler/internal/outbox"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// result ends the run: it records a failure on the calendar, with when it is tried again. No
// failure changes a poll's status.
func (l *syncRun) result(ctx context.Context, err error) outbox.Result {
	switch {
	case err == nil:
		return outbox.Kept(l.next)
	case errors.Is(err, scheduler.ErrFenced):
		return outbox.Done() // a newer run does the work
	}
	last, cancel := finalContext(ctx)
	defer cancel()
	if errors.Is(ctx.Err(), context.Canceled) {
		// The server is stopping, which is no failure. The next run is due at once.
		return outbox.Broken(errors.Join(err, l.commitWith(last, func(now calendars.Calendar) []store.Update { return now.Abandon(l.Now()) })))
	}
	l.Log.WarnContext(ctx, "sync failed", "calendar", l.ref.Calendar, "account", l.ref.Account,
		"hint", l.cause.Trigger, "trace", l.cause.Trace, "kind", fault.KindOf(err).String(), "error", err)
	if recordErr := l.fail(last, err); recordErr != nil {
		return outbox.Broken(errors.Join(err, recordErr)) // the run's lease ends, and the next one is due then
	}
	return outbox.Kept(l.next)
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

// wait is how long to wait after that many failed runs in a row; what the error asks for is
// kept.
func (f failure) wait(cause error, failed int64) time.Duration {
	wait := f.after
	for range min(failed-1, 40) {
		wait = 2 * wait
		if f.most == 0 || wait >= f.most {
			break
		}
	}
	return max(min(wait, max(f.after, f.most)), fault.RetryAfter(cause))
}

// failures lists what follows from a failed run, by kind; the first matching row counts,
// and without one the run is retried soon, since most other failures pass.
// None changes a poll's status.
var failures = []failure{
	// Only relinking helps, and triggers a run. An owner who unlinked the account knows (Links).
	{kind: fault.Revoked, code: string(rules.CalendarUnlinked), polls: rules.CalendarUnlinked},
	{kind: fault.NotFound, code: string(rules.CalendarUnlinked), polls: rules.CalendarUnlinked, reason: calendars.ReasonRevoked},
	{kind: fault.Revoked, polls: rules.TokenExpired, announce: true},
	// The quota is used up for hours; leave the calendar alone.
	{kind: fault.Exhausted, retry: true, after: quotaPause, pause: quotaPause},
	// Google counts the calls of a minute. Where it, or our own budget, says how long to wait, that counts.
	{kind: fault.RateLimited, retry: true, after: limitedPause, most: maxUnansweredPause},
	// Permanent for Google, but people change such things. Other triggers still run a sync.
	{kind: fault.Provider, retry: true, after: refusedPause, most: maxRefusedPause},
	{kind: fault.NotFound, retry: true, after: refusedPause, most: maxRefusedPause},
}

// failure is one row of the table.
type failure struct {
	kind fault.Kind
	// code, if set, restricts the row to errors with that code.
	code string
	// retry repeats the run after at least after, which doubles with each further failure up
	// to most; 0: it does not grow.
	retry       bool
	after, most time.Duration
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
	limitedPause = time.Minute
	refusedPause = 30 * time.Second
	// maxRefusedPause is well below the time between two sweeps, and long enough that a
	// deleted calendar does not make up most of all runs.
	maxRefusedPause = time.Hour
	// unansweredPause and maxUnansweredPause are for what passes: a service does not answer.
	unansweredPause    = time.Second
	maxUnansweredPause = 10 * time.Minute
)

func failureOf(err error) failure {
	kind, code := fault.KindOf(err), fault.CodeOf(err)
	for _, row := range failures {
		said := kind == fault.RateLimited && fault.RetryAfter(err) > 0
		if row.kind == kind && (row.code == "" || row.code == code) && !said {
			return row
		}
	}
	return failure{kind: kind, retry: true, after: unansweredPause, most: maxUnansweredPause}
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
		woken, err = l.awaiting(ctx)
		if err != nil {
			return err
		}
	}
	err = l.commitWith(ctx, func(now calendars.Calendar) []store.Update { return l.failureUpdates(now, row, cause) }, woken...)
	if err == nil && row.polls != "" {
		err = l.showFailed(ctx, row)
		if err == nil { // else the run is due once more when its lease ends
			err = l.commitWith(ctx, func(now calendars.Calendar) []store.Update { return now.Ended(l.Now(), l.next) })
		}
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
	row.reason = calendars.ReasonLost
	if l.refused { // an outage is no news of it
		row.polls, row.announce = rules.CalendarLost, true
	}
	return row
}

// failureUpdates records a failure on the calendar, and when the run is tried again. If polls
// have yet to show it, the lease is kept.
func (l *syncRun) failureUpdates(now calendars.Calendar, row failure, cause error) (updates []store.Update) {
	kind := fault.KindOf(cause)
	switch {
	case l.refused:
		updates = now.Refused(l.Now())
	case l.answered:
		updates = now.Answered()
	}
	updates = append(updates, now.CountFailure())
	wait, leave := row.wait(cause, now.SyncAttempts+1), row.pause
	if kind == fault.RateLimited { // a push must not run earlier than Google allows
		wait += l.jitter(wait)
		leave = wait
	}
	l.next = time.Time{}
	if row.retry {
		l.next = l.Now().Add(wait)
	}
	reason := cmp.Or(row.reason, kind.String())
	if row.polls != "" {
		return slices.Concat(updates, now.MarkFailing(l.Now(), reason), now.Renew(l.Now()))
	}
	updates = append(updates, now.Failed(l.Now(), reason, l.next)...)
	if leave > 0 {
		updates = append(updates, calendars.Pause(l.Now().Add(leave)))
	}
	return updates
}

// jitter is up to a quarter of a wait, another one for each calendar and run: Google refuses all
// calendars of an account at once, and must not be asked for all of them at once again.
func (l *syncRun) jitter(wait time.Duration) time.Duration {
	share := ids.Of(l.calendar.Key, strconv.FormatInt(l.fence, 10))[0]
	return (wait / 4 * time.Duration(share) / 255).Truncate(time.Millisecond)
}

// showFailed shows on the calendar's polls what only the account's owner can fix, and
// notifies the owner.
func (l *syncRun) showFailed(ctx context.Context, row failure) error {
	followed := false
	err := eachEntry(ctx, l.Store, l.ref.Account, l.ref.Calendar, func(entry poll.IndexEntry) error {
		followed = true
		return l.Polls.SetSyncError(ctx, entry.PollID, row.polls, l.cause, l.stillHolds)
	})
	switch {
	case err != nil || !row.announce:
		return err
	case row.polls != rules.CalendarLost:
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
	return eachError(ctx, l.Store, l.eachEntry, func(pollID string, code rules.ErrorCode) error {
		switch code {
		case rules.TokenExpired, rules.CalendarUnlinked, rules.CalendarLost:
			return l.Polls.ClearSyncError(ctx, pollID, code, l.cause, l.stillHolds)
		default:
			return nil
		}
	})
}

// eachError calls do for every poll of some index entries that shows an error. It reads the polls
// in pages: few show one, if any.
func eachError(
	ctx context.Context, reader store.Reader, entries func(context.Context, func(poll.IndexEntry) error) error,
	do func(pollID string, code rules.ErrorCode) error,
) error {
	var paths []store.Path
	err := entries(ctx, func(entry poll.IndexEntry) error {
		paths = append(paths, poll.Path(entry.PollID))
		return nil
	})
	if err != nil {
		return err
	}
	for page := range slices.Chunk(paths, sweepPage) {
		docs, err := reader.GetAll(ctx, page)
		if err != nil {
			return err
		}
		for _, doc := range docs {
			if shown := poll.Decode(doc).Sync.Error; shown != nil {
				if err := do(doc.Path.ID(), shown.Code); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
