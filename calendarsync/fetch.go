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

// askForUnshown asks for every linked event that a full listing did not show: it
// may have been deleted in the gap that the listing closes, and a full listing
// does not say so. Where too
// many are gone at once, none is cancelled: they are held for a person's word.
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
		if l.inFullListing[entry.EventID] || l.calendar.Pending[entry.EventID] == calendars.PendingConfirmed {
			return nil
		}
		event, err := l.fetchConfirmed(ctx, entry.EventID)
		switch {
		case err != nil:
		case event.Seen == rules.Gone:
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

// tooMany tells whether more of a calendar's linked events are gone at once than
// is believed without a person's word.
func (l *syncRun) tooMany(gone []gcal.Event, linked int) bool {
	return len(gone) > l.HoldMin && float64(len(gone)) > l.HoldShare*float64(linked)
}

// parkUnderWay parks the events whose insert is under way and that a full listing
// did not show: one may have been made and deleted before it, and is asked for
// when it is linked. Those that are linked by now stand in the index, which is
// read after this.
func (l *syncRun) deferInserts(ctx context.Context) error {
	var after *store.Cursor
	for {
		intents, next, err := poll.IntentsDue(ctx, l.Store, l.Now().Add(farFuture), 100, after)
		if err != nil {
			return err
		}
		for _, intent := range intents {
			here := intent.AccountID == l.ref.Account && intent.CalendarID == l.ref.Calendar
			if intent.Kind != poll.IntentInsert || !here || l.inFullListing[intent.EventID] {
				continue
			}
			if err := l.commit(ctx, calendars.Park(intent.EventID, calendars.PendingRace)); err != nil {
				return err
			}
		}
		if next == nil {
			return nil
		}
		after = next
	}
}

// everyIntent is further ahead than any intent is due.
const farFuture = 365 * 24 * time.Hour

// hold keeps absences from cancelling their polls until a person confirms, and
// tells the calendar's owner once.
func (l *syncRun) hold(ctx context.Context, gone []gcal.Event) error {
	l.Log.WarnContext(ctx, "many events are gone at once; their cancellations are held", "calendar", l.ref.Calendar,
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
			continue // somebody gave the poll another event, which is not gone
		}
		// In this order: a poll that says that it is held has to be one that a
		// person can confirm. The other way round the next look finds it again.
		held, err := l.holdUnlessConfirmed(ctx, event.ID)
		if err != nil {
			return err
		}
		if !held {
			continue
		}
		l.calendar.HoldUntold = true
		if err := l.Polls.SetSyncError(ctx, entry.PollID, rules.MassCancellationHeld, l.cause, l.stillHolds); err != nil {
			return err
		}
	}
	return nil
}

// holdUnlessConfirmed holds the cancellation of an event, and tells whether it
// does: where a person said meanwhile that it is meant, the look that they were
// promised cancels it.
func (l *syncRun) holdUnlessConfirmed(ctx context.Context, eventID string) (held bool, err error) {
	err = l.commitWith(ctx, func(now calendars.Calendar) []store.Update {
		if held = now.Pending[eventID] != calendars.PendingConfirmed; !held {
			return nil
		}
		return calendars.Hold(eventID)
	})
	return held, err
}

// tellHeld tells the calendar's owner of what is held, once: this look held it,
// or an earlier one that did not come to tell.
func (l *syncRun) announceHeld(ctx context.Context) error {
	now, _, err := calendars.LoadKey(ctx, l.Store, l.calendar.Key)
	if err != nil {
		return err
	}
	if held := now.Held(); len(held) > 0 {
		if err := l.Owners.TellHeld(ctx, now.OwnerID, now.Key, held); err != nil {
			return err
		}
	}
	return l.commit(ctx, calendars.HoldTold())
}

// eachEntry calls do for every event of this calendar that a poll follows.
func (l *syncRun) eachEntry(ctx context.Context, do func(poll.IndexEntry) error) error {
	return eachEntry(ctx, l.Store, l.ref.Account, l.ref.Calendar, do)
}

// eachEntry calls do for every event of a calendar that a poll follows. Events that
// are awaited are left out: their polls are cancelled.
func eachEntry(ctx context.Context, reader store.Reader, accountID, calendarID string, do func(poll.IndexEntry) error) error {
	return eachPage(ctx, reader, accountID, calendarID, func(entries []poll.IndexEntry) error {
		for _, entry := range entries {
			if entry.Awaited {
				continue
			}
			if err := do(entry); err != nil {
				return err
			}
		}
		return nil
	})
}

// eachPage calls do with the entries of a calendar, awaited ones included, a page
// of them at a time.
func eachPage(ctx context.Context, reader store.Reader, accountID, calendarID string, do func([]poll.IndexEntry) error) error {
	var after *store.Cursor
	for {
		entries, next, err := poll.IndexOfCalendar(ctx, reader, accountID, calendarID, sweepPage, after)
		if err == nil {
			err = do(entries)
		}
		if err != nil || next == nil {
			return err
		}
		after = next
	}
}

// askForPending asks for the events that were parked when the look began, and
// gives those that were applied.
func (l *syncRun) fetchDeferred(ctx context.Context) (settled []string, err error) {
	for _, eventID := range l.calendar.PendingEvents() {
		if l.calendar.Pending[eventID] == calendars.PendingHeld {
			continue // a person's word is waited for
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
				continue // not linked yet: asked for by a later look
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

// passes tells whether the cursor may pass a parked event that fails once more:
// it stays parked, and the sweep asks for it again.
func (l *syncRun) mayStayDeferred(ctx context.Context, eventID string, failure error) bool {
	known := l.calendar.Pending[eventID] == calendars.PendingFailed || errors.Is(failure, errMalformed)
	if l.endsRun(ctx, failure) || !known && l.attempt < stuckAfter {
		return false
	}
	l.Log.WarnContext(ctx, "a parked event still fails", "event", eventID, "calendar", l.ref.Calendar,
		"trace", l.cause.Trace, "error", failure)
	return true
}

// ends tells whether a failure is the look's as a whole, and not one event's.
func (l *syncRun) endsRun(ctx context.Context, failure error) bool {
	switch fault.KindOf(failure) {
	case fault.Revoked, fault.RateLimited, fault.Exhausted:
		return true
	default:
		return errors.Is(failure, scheduler.ErrFenced) || ctx.Err() != nil
	}
}

// probe asks for one event and applies what it says.
func (l *syncRun) fetchAndApply(ctx context.Context, eventID string) error {
	event, err := l.fetchConfirmed(ctx, eventID)
	if err != nil {
		return err
	}
	observed := l.freshObservation(event)
	observed.Confirmed = l.calendar.Pending[eventID] == calendars.PendingConfirmed
	if err = l.applyObservation(ctx, observed); err == nil && event.Malformed {
		err = errMalformed
	}
	return err
}

// fetched is an event that was fetched by itself, as the rules see it.
func (l *syncRun) freshObservation(event gcal.Event) scheduler.Observed {
	observed := l.observation(event)
	observed.Fresh = true
	return observed
}

// errMalformed keeps an event deferred that was applied as unreadable.
var errMalformed = fault.New(fault.Unavailable, "the event has a field of a type that Google does not document")

// ask reads one event. It is gone only where the calendar itself answers us as
// one of its writers: 404 alone is also what a calendar says that we lost. And
// 404 says no more than that Google does not find the event; that it was deleted
// is believed only where the calendar's listing does not show it either.
func (l *syncRun) fetchConfirmed(ctx context.Context, eventID string) (gcal.Event, error) {
	event, err := l.Google.Get(ctx, l.ref, eventID)
	notFound := fault.Is(err, fault.NotFound) && fault.CodeOf(err) != gcal.CodeGone
	if fault.Is(err, fault.NotFound) {
		event, err = gcal.Event{ID: eventID, Seen: rules.Gone}, nil
	}
	if err != nil || event.Seen != rules.Gone {
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

// writable asks the calendar itself whether we may write to it: one small page
// of its listing, whose answer carries the access role.
func (l *syncRun) writable(ctx context.Context) (bool, error) {
	page, err := l.Google.List(ctx, l.ref, l.calendar.SyncToken, "")
	if fault.CodeOf(err) == gcal.CodeSyncTokenExpired {
		page, err = l.Google.List(ctx, l.ref, "", "")
	}
	return page.Writable, err
}

// unlisted is an error where the calendar's full listing shows an event. What a
// listing before showed is believed; what it lacked may have been made since, by
// a finalisation under way, so that is listed anew: 404 of a calendar that answers
// is rare. Where an event of the listing cannot be named, it may be that one.
func (l *syncRun) checkUnlisted(ctx context.Context, eventID string) error {
	nameless := false
	if !l.inFullListing[eventID] && !l.relisted[eventID] {
		l.relisted = map[string]bool{}
		_, err := l.eachPage(ctx, "", func(page gcal.Page) error {
			nameless = nameless || page.Nameless
			for _, event := range page.Events {
				// An event may have been linked since this look began.
				if (event.ID == eventID || l.follows(event.ID)) && event.Seen != rules.Gone {
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
