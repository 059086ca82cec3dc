package calendarsync

import (
	"context"
	"errors"
	"strings"
	"time"

	"questscheduler/internal/calendars"
	"questscheduler/internal/fault"
	"questscheduler/internal/gcal"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

func isOurs(eventID string) bool { return strings.HasPrefix(eventID, poll.EventPrefix) }

// fetchUnlisted fetches every linked event that a full listing lacks, since a full
// listing does not show deletions. If too many are gone at once, their cancellations are
// held for a person's confirmation.
func (l *syncRun) fetchUnlisted(ctx context.Context) error {
	if l.inFullListing == nil {
		return nil
	}
	if err := l.deferInserts(ctx); err != nil {
		return err
	}
	linked := 0
	var gone []gcal.Event
	err := l.eachEntry(ctx, func(entry poll.IndexEntry) error {
		linked++
		if l.inFullListing[entry.EventID] || l.calendar.Deferred[entry.EventID] == calendars.DeferredConfirmed {
			return nil
		}
		event, err := l.fetchConfirmed(ctx, entry.EventID)
		switch {
		case err != nil:
		case event.EventState == rules.Gone:
			gone = append(gone, event)
		default:
			err = l.applyOrDefer(ctx, event, l.freshObservation(event))
		}
		return l.deferIfStuck(ctx, entry.EventID, err)
	})
	if err != nil {
		return err
	}
	if l.tooMany(gone, linked) {
		found := len(gone)
		if gone, err = l.withoutMoved(ctx, gone); err != nil {
			return err
		}
		linked -= found - len(gone)
	}
	if l.tooMany(gone, linked) {
		return l.hold(ctx, gone)
	}
	for _, event := range gone {
		err := l.applyObservation(ctx, l.freshObservation(event))
		if err := l.deferIfStuck(ctx, event.ID, err); err != nil {
			return err
		}
	}
	return nil
}

// tooMany reports whether too many linked events are gone at once to be believed
// unconfirmed.
func (l *syncRun) tooMany(gone []gcal.Event, linked int) bool {
	return len(gone) > l.HoldMin && float64(len(gone)) > l.HoldShare*float64(linked)
}

// deferInserts defers events that a full listing lacks while their insert is under way:
// they may have been created and deleted before it. Those linked by now are in the index,
// which is read after this.
func (l *syncRun) deferInserts(ctx context.Context) error {
	for intent, err := range poll.PendingIntents(ctx, l.Store, l.Now().Add(farFuture)) {
		if err != nil {
			return err
		}
		here := intent.AccountID == l.ref.Account && intent.CalendarID == l.ref.Calendar
		if intent.Kind != poll.IntentInsert || !here || l.inFullListing[intent.EventID] {
			continue
		}
		if err := l.commit(ctx, calendars.Defer(intent.EventID, calendars.DeferredRace)); err != nil {
			return err
		}
	}
	return nil
}

// farFuture is later than any intent is due.
const farFuture = 365 * 24 * time.Hour

// hold keeps absences from cancelling their polls until a person confirms them, and
// announces that to the calendar's owner once.
func (l *syncRun) hold(ctx context.Context, gone []gcal.Event) error {
	l.Log.WarnContext(ctx, "many events gone at once; cancellations held", "calendar", l.ref.Calendar,
		"count", len(gone), "trace", l.cause.Trace)
	for _, event := range gone {
		entry, _, err := poll.FindIndex(ctx, l.Store, l.ref.Account, l.ref.Calendar, event.ID)
		if err != nil {
			return err
		}
		if entry == nil {
			continue
		}
		p, err := poll.Load(ctx, l.Store, entry.PollID)
		switch {
		case fault.Is(err, fault.NotFound):
			continue
		case err != nil:
			return err
		case p.GoogleEventID != event.ID:
			continue // the poll names another event by now
		}
		// Hold first: a poll that shows the error must be one that a person can confirm. After
		// a crash the next run shows it.
		held, err := l.holdUnlessConfirmed(ctx, event.ID)
		if err != nil {
			return err
		}
		if !held {
			continue
		}
		l.calendar.HoldUnannounced = true
		if err := l.Polls.SetSyncError(ctx, entry.PollID, rules.MassCancellationHeld, l.cause, l.stillHolds); err != nil {
			return err
		}
	}
	return nil
}

// holdUnlessConfirmed holds the cancellation of an event unless a person has confirmed
// it.
func (l *syncRun) holdUnlessConfirmed(ctx context.Context, eventID string) (held bool, err error) {
	err = l.commitWith(ctx, func(now calendars.Calendar) []store.Update {
		if held = now.Deferred[eventID] != calendars.DeferredConfirmed; !held {
			return nil
		}
		return calendars.Hold(eventID)
	})
	return held, err
}

// announceHeld tells the calendar's owner once what this run, or an interrupted one, has
// held.
func (l *syncRun) announceHeld(ctx context.Context) error {
	now, _, err := calendars.LoadKey(ctx, l.Store, l.calendar.Key)
	if err != nil {
		return err
	}
	if held := now.Held(); len(held) > 0 {
		if err := l.Owners.NotifyHeld(ctx, now.OwnerID, now.Key, held); err != nil {
			return err
		}
	}
	return l.commit(ctx, calendars.HoldAnnounced())
}

func (l *syncRun) eachEntry(ctx context.Context, do func(poll.IndexEntry) error) error {
	return eachEntry(ctx, l.Store, l.ref.Account, l.ref.Calendar, do)
}

// eachEntry calls do for every event of a calendar that a poll follows, except awaited
// ones, whose polls are cancelled.
func eachEntry(ctx context.Context, reader store.Reader, accountID, calendarID string, do func(poll.IndexEntry) error) error {
	for entry, err := range poll.IndexOfCalendar(ctx, reader, accountID, calendarID) {
		if err != nil {
			return err
		}
		if entry.Awaited {
			continue
		}
		if err := do(entry); err != nil {
			return err
		}
	}
	return nil
}

// fetchDeferred fetches the events that were deferred when the run began, and returns
// those it applied.
func (l *syncRun) fetchDeferred(ctx context.Context) (settled []string, err error) {
	for _, eventID := range l.calendar.DeferredEvents() {
		if l.calendar.Deferred[eventID] == calendars.DeferredHeld {
			continue // awaits confirmation
		}
		linked, _, err := poll.FindIndex(ctx, l.Store, l.ref.Account, l.ref.Calendar, eventID)
		if err != nil {
			return nil, err
		}
		if linked == nil {
			intent, err := poll.LoadIntent(ctx, l.Store, poll.IntentID(l.ref.Account, l.ref.Calendar, eventID))
			if err != nil {
				return nil, err
			}
			if intent != nil && intent.Kind == poll.IntentInsert {
				continue // not linked yet; a later run fetches it
			}
		} else if err := l.fetchAndApply(ctx, eventID); err != nil {
			if !l.mayStayDeferred(ctx, eventID, err) {
				return nil, err
			}
			continue
		}
		settled = append(settled, eventID)
	}
	return settled, nil
}

// mayStayDeferred reports whether the sync token may pass a deferred event that failed
// again: the sweep fetches it later.
func (l *syncRun) mayStayDeferred(ctx context.Context, eventID string, failure error) bool {
	known := l.calendar.Deferred[eventID] == calendars.DeferredFailed || errors.Is(failure, errMalformed)
	if l.endsRun(ctx, failure) || !known && l.attempt < stuckAfter {
		return false
	}
	l.Log.WarnContext(ctx, "deferred event still fails", "event", eventID, "calendar", l.ref.Calendar,
		"trace", l.cause.Trace, "error", failure)
	return true
}

// endsRun reports whether a failure concerns the whole run and not one event.
func (l *syncRun) endsRun(ctx context.Context, failure error) bool {
	switch fault.KindOf(failure) {
	case fault.Revoked, fault.RateLimited, fault.Exhausted:
		return true
	default:
		return errors.Is(failure, scheduler.ErrFenced) || ctx.Err() != nil
	}
}

func (l *syncRun) fetchAndApply(ctx context.Context, eventID string) error {
	event, err := l.fetchConfirmed(ctx, eventID)
	if err != nil {
		return err
	}
	observed := l.freshObservation(event)
	observed.Confirmed = l.calendar.Deferred[eventID] == calendars.DeferredConfirmed
	if err = l.applyObservation(ctx, observed); err == nil && event.Malformed {
		err = errMalformed
	}
	return err
}

// freshObservation is the observation of an event that was fetched individually.
func (l *syncRun) freshObservation(event gcal.Event) scheduler.Observation {
	observed := l.observation(event)
	observed.Fresh = true
	return observed
}

// errMalformed keeps an event deferred that was applied as unreadable.
var errMalformed = fault.New(fault.Unavailable, "the event has a field of a type that Google does not document")

// fetchConfirmed reads one event. It is Gone only if the calendar itself answers us as a
// writer, since a lost calendar answers 404 as well. After a 404, rather than a reported
// deletion, its listing must not show the event either.
func (l *syncRun) fetchConfirmed(ctx context.Context, eventID string) (gcal.Event, error) {
	event, err := l.Google.Get(ctx, l.ref, eventID)
	notFound := fault.Is(err, fault.NotFound) && fault.CodeOf(err) != gcal.CodeGone
	if fault.Is(err, fault.NotFound) {
		event, err = gcal.Event{ID: eventID, EventState: rules.Gone}, nil
	}
	if err != nil || event.EventState != rules.Gone {
		return event, err
	}
	writable, err := l.writable(ctx)
	if err == nil && !writable {
		err = fault.New(fault.Unavailable, "the calendar does not take us for one of its writers")
	}
	if err == nil && notFound {
		err = l.checkUnlisted(ctx, eventID)
	}
	return event, err
}

// writable asks the calendar for our access role, by one page of its listing.
func (l *syncRun) writable(ctx context.Context) (bool, error) {
	page, err := l.Google.List(ctx, l.ref, l.calendar.SyncToken, "")
	if fault.CodeOf(err) == gcal.CodeSyncTokenExpired {
		page, err = l.Google.List(ctx, l.ref, "", "")
	}
	return page.Writable, err
}

// checkUnlisted fails if the calendar's full listing shows an event. An earlier listing
// proves only that the events it shows exist: a missing one may have been created since,
// so the calendar is listed again. A nameless event of the listing may be the missing one.
func (l *syncRun) checkUnlisted(ctx context.Context, eventID string) error {
	nameless := false
	if !l.inFullListing[eventID] && !l.relisted[eventID] {
		l.relisted = map[string]bool{}
		_, err := l.eachPage(ctx, "", func(page gcal.Page) error {
			nameless = nameless || page.Nameless
			for _, event := range page.Events {
				// The event may have been linked since the run began.
				if (event.ID == eventID || l.follows(event.ID)) && event.EventState != rules.Gone {
					l.relisted[event.ID] = true
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if l.inFullListing[eventID] || l.relisted[eventID] || nameless {
		return fault.New(fault.Unavailable, "the calendar lists an event that it does not find")
	}
	return nil
}
