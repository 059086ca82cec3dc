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

// Of the events that a full listing lacks, a run reads mostMissing for each consumer, of the
// 600 calls that Google answers an account in a minute. fetchedAtOnce are confirmed together.
const (
	mostMissing   = 200
	fetchedAtOnce = 50
)

// fetched is what became of reading an event.
type fetched struct {
	event gcal.Event
	err   error
	// notFound: it was answered with 404, which proves less than a reported deletion.
	notFound bool
}

// observed is the event for a consumer. One that is missing from a calendar that does not
// take us for a writer is Gone without being Writable.
func (f fetched) observed() (SyncedEvent, error) {
	if errors.Is(f.err, errNotWriter) {
		return SyncedEvent{Event: gcal.Event{ID: f.event.ID, EventState: rules.Gone}, Fresh: true}, nil
	}
	return SyncedEvent{Event: f.event, Fresh: true, Writable: true}, f.err
}

// fetchMissing reads events that a full listing lacks, some at once, and calls do for each
// until that fails. left are those that it did not read: of many, each run begins at others.
// What is answered before a failure of the whole run counts.
func (l *syncRun) fetchMissing(
	ctx context.Context, eventIDs []string, do func(eventID string, event gcal.Event, failure error) error,
) (left []string, err error) {
	readable := min(len(eventIDs), mostMissing)
	if readable < len(eventIDs) {
		from := int(l.fence * mostMissing % int64(len(eventIDs)))
		eventIDs = slices.Concat(eventIDs[from:], eventIDs[:from])
	}
	for some := range slices.Chunk(eventIDs[:readable], fetchedAtOnce) {
		for i, f := range l.fetchAll(ctx, some) {
			if err := do(some[i], f.event, f.err); err != nil {
				return nil, err
			}
		}
	}
	return eventIDs[readable:], nil
}

// fetchConfirmed reads one event, as fetchAll does.
func (l *syncRun) fetchConfirmed(ctx context.Context, eventID string) (gcal.Event, error) {
	f := l.fetchAll(ctx, []string{eventID})[0]
	return f.event, f.err
}

// fetchAll reads events. One is Gone only if the calendar itself answers us as a writer
// after that, since a lost calendar answers 404 as well. After a 404, rather than a reported
// deletion, its listing must not show the event either. A failure of the whole run is that
// of all events that were not read before.
func (l *syncRun) fetchAll(ctx context.Context, eventIDs []string) []fetched {
	all := make([]fetched, len(eventIDs))
	var ends error
	for i, eventID := range eventIDs {
		if ends != nil {
			all[i].err = ends
			continue
		}
		all[i] = l.fetch(ctx, eventID)
		if l.endsRun(ctx, all[i].err) {
			ends = all[i].err
		}
	}
	l.confirm(ctx, eventIDs, all)
	return all
}

func (l *syncRun) fetch(ctx context.Context, eventID string) (f fetched) {
	if err := l.keepLease(ctx); err != nil {
		return fetched{err: err}
	}
	f.event, f.err = l.Google.Get(ctx, l.ref, eventID)
	f.notFound = fault.Is(f.err, fault.NotFound) && fault.CodeOf(f.err) != gcal.CodeGone
	if fault.Is(f.err, fault.NotFound) {
		f.event, f.err = gcal.Event{ID: eventID, EventState: rules.Gone}, nil
	}
	return f
}

// errNotWriter says that a missing event may only be hidden from us.
var errNotWriter = fault.New(fault.Unavailable, "the calendar does not take us for one of its writers")

// confirm turns absences into errors that the calendar does not confirm.
func (l *syncRun) confirm(ctx context.Context, eventIDs []string, all []fetched) {
	gone, unfound := []*fetched{}, []string{}
	for i := range all {
		f := &all[i]
		if f.err != nil || f.event.EventState != rules.Gone {
			continue
		}
		gone = append(gone, f)
		if f.notFound {
			unfound = append(unfound, eventIDs[i])
		}
	}
	if len(gone) == 0 {
		return
	}
	writable, err := l.writable(ctx)
	if err == nil && !writable {
		err = errNotWriter
	}
	var listed func(eventID string) bool
	var unlistable error
	if err == nil && len(unfound) > 0 {
		listed, unlistable = l.listedOf(ctx, unfound)
	}
	for _, f := range gone {
		switch {
		case err != nil:
			f.err = err
		case !f.notFound:
		case unlistable != nil:
			f.err = unlistable
		case listed(f.event.ID):
			f.err = fault.New(fault.Unavailable, "the calendar lists an event that it does not find")
		}
	}
}

// writable asks the calendar for our access role, by one page of its listing.
func (l *syncRun) writable(ctx context.Context) (bool, error) {
	page, err := l.page(ctx, l.calendar.SyncToken, "")
	if fault.CodeOf(err) == gcal.CodeSyncTokenExpired {
		page, err = l.page(ctx, "", "")
	}
	return page.Writable, err
}

// listedOf tells which events the calendar's full listing shows. An earlier listing
// proves only that the events it shows exist: a missing one may have been created since,
// so the calendar is listed again. A nameless event of the listing may be any of them.
func (l *syncRun) listedOf(ctx context.Context, eventIDs []string) (listed func(eventID string) bool, err error) {
	nameless := false
	listed = func(eventID string) bool { return l.inFullListing[eventID] || l.relisted[eventID] || nameless }
	if !slices.ContainsFunc(eventIDs, func(eventID string) bool { return !listed(eventID) }) {
		return listed, nil
	}
	l.relisted = map[string]bool{}
	_, err = l.eachPage(ctx, "", func(page gcal.Page) error {
		nameless = nameless || page.Nameless
		for _, event := range page.Events {
			// The event may have been linked since the run began.
			if (slices.Contains(eventIDs, event.ID) || l.concerns(event.ID)) && event.EventState != rules.Gone {
				l.relisted[event.ID] = true
			}
		}
		return nil
	})
	return listed, err
}

// concerns reports whether an event may concern a consumer.
func (l *syncRun) concerns(eventID string) bool {
	return slices.ContainsFunc(l.parts, func(p *part) bool { return p.concerned(eventID) })
}
