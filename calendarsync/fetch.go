package calendarsync

import (
	"context"
	"errors"
	"slices"

	"questscheduler/fault"
	"questscheduler/internal/gcal"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// endsRun reports whether a failure concerns the whole run and not one event.
func (l *syncRun) endsRun(ctx context.Context, failure error) bool {
	switch fault.KindOf(failure) {
	case fault.Revoked, fault.RateLimited, fault.Exhausted:
		return true
	default:
		return errors.Is(failure, scheduler.ErrFenced) || ctx.Err() != nil
	}
}

// errNotWriter says that a missing event may only be hidden from us.
var errNotWriter = fault.New(fault.Unavailable, "the calendar does not take us for one of its writers")

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
		err = errNotWriter
	}
	if err == nil && notFound {
		err = l.checkUnlisted(ctx, eventID)
	}
	return event, err
}

// writable asks the calendar for our access role, by one page of its listing.
func (l *syncRun) writable(ctx context.Context) (bool, error) {
	page, err := l.page(ctx, l.calendar.SyncToken, "")
	if fault.CodeOf(err) == gcal.CodeSyncTokenExpired {
		page, err = l.page(ctx, "", "")
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
				if (event.ID == eventID || l.concerns(event.ID)) && event.EventState != rules.Gone {
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

// concerns reports whether an event may concern a consumer.
func (l *syncRun) concerns(eventID string) bool {
	return slices.ContainsFunc(l.parts, func(p *part) bool { return p.concerned(eventID) })
}
