package calendarsync

import (
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

// look is one look at one calendar: what it began with, and what it holds.
type syncRun struct {
	*Looker
	calendar calendars.Calendar // as it was when the look began
	ref      gcal.Ref
	fence    int64
	cause    scheduler.Cause
	attempt  int
	// shown are the linked events that a full listing showed; nil while the
	// listing is one of changes alone.
	inFullListing map[string]bool
	// listed are the linked events that the calendar held when it was asked last
	// about one that Google does not find.
	relisted map[string]bool
	// search looks for events in other calendars; nil until one is looked for.
	search *search
}

// Handle looks at the calendar of a task: the handler of calendars.LookKind. A
// look never gives a permanent verdict: a calendar is not given up.
func (l *Looker) Handle(ctx context.Context, delivery queue.Delivery) queue.Verdict {
	var request calendars.Hint
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
	l.meter().Looked(request.Cause, err, l.Now().Sub(began))
	return run.verdict(ctx, err)
}

// claim begins a look: generation and fence move and the lease is taken, in one
// transaction, before anything is listed. So whatever hint comes from here on
// asks for the next look. A nil look without wait: nothing follows the calendar,
// or a later look has begun.
func (l *Looker) claim(ctx context.Context, request calendars.Hint, attempt int) (run *syncRun, wait time.Duration, err error) {
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
			Looker: l, calendar: calendar, ref: gcal.Ref{Account: calendar.AccountID, Calendar: calendar.CalendarID},
			fence: fence, cause: scheduler.Cause{Hint: request.Cause, Trace: request.Trace}, attempt: attempt,
		}
		return tx.Update(calendars.Path(request.Key), updates...)
	})
	return run, wait, err
}

// run lists, applies and, after everything was applied, stores the new token.
func (l *syncRun) run(ctx context.Context) error {
	token := l.calendar.SyncToken
	if l.calendar.MaskVersion != l.mask() {
		token = "" // got with other fields: as good as expired
	}
	next, err := l.list(ctx, token)
	if fault.CodeOf(err) == gcal.CodeSyncTokenExpired {
		// Everything is listed, and askForUnshown finds what was deleted since.
		// That is done once: without a token there is none to reject.
		l.Log.InfoContext(ctx, "sync token rejected; running a full sync", "calendar", l.ref.Calendar, "account", l.ref.Account,
			"hint", l.cause.Hint, "trace", l.cause.Trace, "error", err)
		if err := l.commit(ctx, calendars.Forget()...); err != nil {
			return err
		}
		next, err = l.list(ctx, "")
	}
	if err != nil {
		return err
	}
	l.calendar.SyncToken = next // what is asked for from here on is asked from there
	if err := l.fetchUnlisted(ctx); err != nil {
		return err
	}
	if l.calendar.HoldUntold {
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
		return append(now.Settled(l.calendar, settled), calendars.Succeeded(l.Now(), next, l.mask())...)
	})
}

// list reads page after page and applies each linked event; it gives the token
// of the last page.
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

// eachPage calls do with each page of a listing, and gives the token of the last
// one. Between pages the lease is renewed.
func (l *syncRun) eachPage(ctx context.Context, token string, do func(gcal.Page) error) (nextToken string, err error) {
	for page := ""; ; {
		got, err := l.Google.List(ctx, l.ref, token, page)
		if err != nil {
			return "", err
		}
		if err := do(got); err != nil {
			return "", err
		}
		if got.NextPage == "" {
			return got.NextSync, nil
		}
		if got.NextPage == page { // it would be listed until the task's deadline
			return "", fault.New(fault.Unavailable, "the calendar's listing names the same page again")
		}
		page = got.NextPage
		if err := l.commit(ctx, calendars.Renew(l.Now())...); err != nil {
			return "", err
		}
	}
}

// follows tells, without a look into the store, whether an event may be linked.
func (l *syncRun) follows(eventID string) bool {
	return isOurs(eventID) || slices.Contains(l.calendar.LegacyEventIDs, eventID)
}

// apply hands one event of a listing to the rules. A deletion counts only where
// we may write to the calendar: what a reader is shown proves nothing, so it is
// asked for by itself later, and its poll shows sync_failed until then.
func (l *syncRun) applyListed(ctx context.Context, event gcal.Event, writable bool) error {
	if l.inFullListing != nil {
		l.inFullListing[event.ID] = true
	}
	if event.Seen == rules.Gone && !writable {
		return l.deferFailed(ctx, event.ID)
	}
	return l.deferIfStuck(ctx, event.ID, l.applyOrDefer(ctx, event, l.observation(event)))
}

// applyOrDefer applies what was seen of an event. A malformed one is unreadable to
// the rules, and deferred too: once it is well, no further listing need show it.
func (l *syncRun) applyOrDefer(ctx context.Context, event gcal.Event, observed scheduler.Observed) error {
	if err := l.applyObservation(ctx, observed); err != nil || !event.Malformed {
		return err
	}
	return l.deferEvent(ctx, event.ID)
}

// observed is an event as the rules see it.
func (l *syncRun) observation(event gcal.Event) scheduler.Observed {
	return scheduler.Observed{
		AccountID: l.ref.Account, CalendarID: l.ref.Calendar, EventID: event.ID,
		Seen: event.Seen, Fingerprint: event.Fingerprint, Updated: event.Updated,
		Fence: l.fence, Cause: l.cause,
	}
}

// stuckAfter is how many attempts one event may hold the cursor of all.
const stuckAfter = 3

// parkIfStuck lets the cursor pass an event that keeps failing: its poll shows
// sync_failed, and it is asked for by itself from then on.
func (l *syncRun) deferIfStuck(ctx context.Context, eventID string, failure error) error {
	if failure == nil || l.endsRun(ctx, failure) || l.attempt < stuckAfter {
		return failure
	}
	l.Log.ErrorContext(ctx, "an event keeps failing and is parked", "event", eventID, "calendar", l.ref.Calendar,
		"trace", l.cause.Trace, "error", failure)
	return l.deferFailed(ctx, eventID)
}

// parkFailed parks an event, and has its poll show that.
func (l *syncRun) deferFailed(ctx context.Context, eventID string) error {
	if err := l.deferEvent(ctx, eventID); err != nil {
		return err
	}
	entry, _, err := poll.FindIndex(ctx, l.Store, l.ref.Account, l.ref.Calendar, eventID)
	if err != nil || entry == nil {
		return err
	}
	if err := l.Polls.SetSyncError(ctx, entry.PollID, rules.SyncFailed, l.cause, l.stillHolds); err != nil {
		// It is parked all the same: a poll that cannot be written holds up no other.
		l.Log.ErrorContext(ctx, "sync_failed could not be shown", "poll", entry.PollID, "trace", l.cause.Trace, "error", err)
	}
	return nil
}

// park asks for an event by itself from the next look on. What waits for a
// person's word stays what it is.
func (l *syncRun) deferEvent(ctx context.Context, eventID string) error {
	return l.commitWith(ctx, func(now calendars.Calendar) []store.Update {
		if now.Awaits(eventID) {
			return nil
		}
		return []store.Update{calendars.Park(eventID, calendars.PendingFailed)}
	})
}

// holds is an error where another look at the calendar began since, or was told
// off: what this one would say of a poll is worth nothing then.
func (l *syncRun) stillHolds(ctx context.Context, now store.Reader) error {
	calendar, _, err := calendars.LoadKey(ctx, now, l.calendar.Key)
	if err == nil && !calendar.Holds(l.fence) {
		err = scheduler.ErrFenced
	}
	return err
}

// commit writes to the calendar's document while this look holds it.
func (l *syncRun) commit(ctx context.Context, updates ...store.Update) error {
	return l.commitWith(ctx, func(calendars.Calendar) []store.Update { return updates })
}

// commitWith is commit for updates that depend on the calendar as it is now.
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
