package calendarsync

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"questscheduler/internal/calendars"
	"questscheduler/internal/fault"
	"questscheduler/internal/gcal"
	"questscheduler/internal/poll"
	"questscheduler/internal/queue"
	"questscheduler/internal/store"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// syncRun is one sync of one calendar.
type syncRun struct {
	*Syncer
	// calendar is as it was when the run began.
	calendar calendars.Calendar
	ref      gcal.Ref
	fence    int64
	cause    scheduler.Cause
	attempt  int
	// inFullListing are the linked events of a full listing; nil in an incremental one.
	inFullListing map[string]bool
	// relisted are the linked events of the listing that last rechecked a 404.
	relisted map[string]bool
	// search is nil until an event is searched for.
	search *search
}

// Handle is the handler of calendars.SyncKind. It gives up no calendar: its verdict is
// permanent only for a task that cannot be read.
func (l *Syncer) Handle(ctx context.Context, delivery queue.Delivery) queue.Verdict {
	var request calendars.SyncRequest
	if err := json.Unmarshal(delivery.Payload, &request); err != nil || calendars.Path(request.Key).Valid() != nil {
		return queue.Verdict{Outcome: queue.Permanent, Err: errors.New("the task names no calendar")}
	}
	run, wait, err := l.claim(ctx, request, delivery.Attempt)
	switch {
	case err != nil:
		return queue.Verdict{Err: err}
	case wait > 0:
		return queue.Verdict{Outcome: queue.Later, After: wait}
	case run == nil:
		return queue.Verdict{Outcome: queue.Done}
	}
	began := l.Now()
	err = run.run(ctx)
	l.Meter.Count(Synced{request.Cause, err, l.Now().Sub(began)})
	return run.verdict(ctx, err)
}

// claim begins a run: in one transaction, before anything is listed, the generation and
// fence move on and the lease is taken. Any later trigger requests the next run. run is
// nil, without wait, if nothing follows the calendar or a later run has begun.
func (l *Syncer) claim(ctx context.Context, request calendars.SyncRequest, attempt int) (run *syncRun, wait time.Duration, err error) {
	err = l.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		run, wait = nil, 0
		calendar, ok, err := calendars.LoadKey(ctx, tx, request.Key)
		if err != nil || !ok {
			return err
		}
		if !calendar.Wanted() {
			return tx.Update(calendars.Path(request.Key), calendar.Skip()...)
		}
		if calendar.Covers(request.Gen) {
			return nil
		}
		updates, fence, held := calendar.Claim(l.Now(), l.MinGap, request.Gen)
		if wait = held; wait > 0 {
			return nil
		}
		run = &syncRun{
			Syncer: l, calendar: calendar, ref: gcal.Ref{Account: calendar.AccountID, Calendar: calendar.CalendarID},
			fence: fence, cause: scheduler.Cause{Trigger: request.Cause, Trace: request.Trace}, attempt: attempt,
		}
		return tx.Update(calendars.Path(request.Key), updates...)
	})
	return run, wait, err
}

// run lists and applies, and stores the new token once everything was applied.
func (l *syncRun) run(ctx context.Context) error {
	token := l.calendar.SyncToken
	if l.calendar.MaskVersion != l.mask() {
		token = "" // issued for other fields, so as good as expired
	}
	next, err := l.list(ctx, token)
	if fault.CodeOf(err) == gcal.CodeSyncTokenExpired {
		// The full listing shows no deletions; fetchUnlisted finds them.
		l.Log.InfoContext(ctx, "sync token rejected; running a full sync", "calendar", l.ref.Calendar, "account", l.ref.Account,
			"hint", l.cause.Trigger, "trace", l.cause.Trace, "error", err)
		if err := l.commit(ctx, calendars.ResetToken()...); err != nil {
			return err
		}
		next, err = l.list(ctx, "")
	}
	if err != nil {
		return err
	}
	l.calendar.SyncToken = next // for listings from here on
	if err := l.fetchUnlisted(ctx); err != nil {
		return err
	}
	if l.calendar.HoldUnannounced {
		if err := l.announceHeld(ctx); err != nil {
			return err
		}
	}
	settled, err := l.fetchDeferred(ctx)
	if err != nil {
		return err
	}
	if err := l.clearAccountErrors(ctx); err != nil {
		return err
	}
	return l.commitWith(ctx, func(now calendars.Calendar) []store.Update {
		zoned := append(now.Settled(l.calendar, settled), calendars.InZone(l.calendar.TimeZone)...)
		return append(zoned, calendars.Succeeded(l.Now(), next, l.mask())...)
	})
}

// list applies each linked event, page by page, and returns the last page's token.
func (l *syncRun) list(ctx context.Context, token string) (nextToken string, err error) {
	l.inFullListing = nil
	if token == "" {
		l.inFullListing = map[string]bool{}
	}
	return l.eachPage(ctx, token, func(page gcal.Page) error {
		for _, event := range page.Events {
			if !l.follows(event.ID) {
				continue
			}
			if err := l.applyListed(ctx, event, page.Writable); err != nil {
				return err
			}
		}
		return nil
	})
}

// eachPage calls do for each page of a listing and returns the last page's token. It
// renews the lease between pages.
func (l *syncRun) eachPage(ctx context.Context, token string, do func(gcal.Page) error) (nextToken string, err error) {
	for page := ""; ; {
		got, err := l.Google.List(ctx, l.ref, token, page)
		if err != nil {
			return "", err
		}
		l.calendar.TimeZone = cmp.Or(got.TimeZone, l.calendar.TimeZone)
		if err := do(got); err != nil {
			return "", err
		}
		if got.NextPage == "" {
			return got.NextSync, nil
		}
		if got.NextPage == page { // an endless loop
			return "", fault.New(fault.Unavailable, "the calendar's listing names the same page again")
		}
		page = got.NextPage
		if err := l.commit(ctx, calendars.Renew(l.Now())...); err != nil {
			return "", err
		}
	}
}

// follows reports, without reading the store, whether an event may be linked.
func (l *syncRun) follows(eventID string) bool {
	return isOurs(eventID) || slices.Contains(l.calendar.LegacyEventIDs, eventID)
}

// applyListed applies one listed event. A deletion counts only if we may write to the
// calendar, since readers may be shown less. Otherwise the event is deferred, and its
// poll shows sync_failed.
func (l *syncRun) applyListed(ctx context.Context, event gcal.Event, writable bool) error {
	if l.inFullListing != nil {
		l.inFullListing[event.ID] = true
	}
	if event.EventState == rules.Gone && !writable {
		return l.deferFailed(ctx, event.ID)
	}
	return l.deferIfStuck(ctx, event.ID, l.applyOrDefer(ctx, event, l.observation(event)))
}

// applyOrDefer applies an observation. A malformed event is applied as unreadable and
// deferred too: once it is readable, no further listing need show it.
func (l *syncRun) applyOrDefer(ctx context.Context, event gcal.Event, observed scheduler.Observation) error {
	if err := l.applyObservation(ctx, observed); err != nil || !event.Malformed {
		return err
	}
	return l.deferEvent(ctx, event.ID)
}

// observation is an event as the rules take it.
func (l *syncRun) observation(event gcal.Event) scheduler.Observation {
	return scheduler.Observation{
		AccountID: l.ref.Account, CalendarID: l.ref.Calendar, EventID: event.ID,
		EventState: event.EventState, Fingerprint: event.Fingerprint, Updated: event.Updated,
		Fence: l.fence, Cause: l.cause,
	}
}

// stuckAfter is how many attempts one failing event may block the sync token.
const stuckAfter = 3

// deferIfStuck lets the sync token pass an event that keeps failing: its poll shows
// sync_failed, and it is fetched individually from then on.
func (l *syncRun) deferIfStuck(ctx context.Context, eventID string, failure error) error {
	if failure == nil || l.endsRun(ctx, failure) || l.attempt < stuckAfter {
		return failure
	}
	l.Log.ErrorContext(ctx, "event keeps failing and is deferred", "event", eventID, "calendar", l.ref.Calendar,
		"trace", l.cause.Trace, "error", failure)
	return l.deferFailed(ctx, eventID)
}

// deferFailed defers an event and shows that on its poll.
func (l *syncRun) deferFailed(ctx context.Context, eventID string) error {
	if err := l.deferEvent(ctx, eventID); err != nil {
		return err
	}
	entry, _, err := poll.FindIndex(ctx, l.Store, l.ref.Account, l.ref.Calendar, eventID)
	if err != nil || entry == nil {
		return err
	}
	if err := l.Polls.SetSyncError(ctx, entry.PollID, rules.SyncFailed, l.cause, l.stillHolds); err != nil {
		// The event is deferred all the same: a poll that cannot be written blocks no other.
		l.Log.ErrorContext(ctx, "sync_failed not shown on poll", "poll", entry.PollID, "trace", l.cause.Trace, "error", err)
	}
	return nil
}

// deferEvent has an event fetched individually by later runs. Events that await or have a
// user's confirmation are left alone.
func (l *syncRun) deferEvent(ctx context.Context, eventID string) error {
	return l.commitWith(ctx, func(now calendars.Calendar) []store.Update {
		if now.Awaits(eventID) {
			return nil
		}
		return []store.Update{calendars.Defer(eventID, calendars.DeferredFailed)}
	})
}

// stillHolds fails a transaction with ErrFenced if a newer run of the calendar began.
func (l *syncRun) stillHolds(ctx context.Context, now store.Reader) error {
	calendar, _, err := calendars.LoadKey(ctx, now, l.calendar.Key)
	if err == nil && !calendar.Holds(l.fence) {
		err = scheduler.ErrFenced
	}
	return err
}

// commit updates the calendar's document while this run holds it.
func (l *syncRun) commit(ctx context.Context, updates ...store.Update) error {
	return l.commitWith(ctx, func(calendars.Calendar) []store.Update { return updates })
}

// commitWith is commit for updates that depend on the current calendar.
func (l *syncRun) commitWith(ctx context.Context, updates func(now calendars.Calendar) []store.Update) error {
	return l.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		calendar, _, err := calendars.LoadKey(ctx, tx, l.calendar.Key)
		if err != nil {
			return err
		}
		if !calendar.Holds(l.fence) {
			return scheduler.ErrFenced
		}
		if writes := updates(calendar); len(writes) > 0 {
			return tx.Update(calendars.Path(calendar.Key), writes...)
		}
		return nil
	})
}
