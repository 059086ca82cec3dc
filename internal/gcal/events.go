package gcal

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"slices"

	calendar "google.golang.org/api/calendar/v3"
	"google.golang.org/api/googleapi"

	"questscheduler/fault"
	"questscheduler/internal/ids"
	"questscheduler/rules"
)

// eventFields is the mask of answers about one event.
const eventFields googleapi.Field = "id,etag,status,summary,description,updated,start,end," +
	"recurrence,recurringEventId,extendedProperties/private"

// notifyAll has Google e-mail every guest about a change.
const notifyAll = "all"

// Insert creates an event under its id. Conflict with CodeDuplicate: the calendar has an
// event with that id, live or deleted; Get returns it. After Unavailable the event may
// exist: insert it again or get it.
func (c *Client) Insert(ctx context.Context, ref Ref, event NewEvent) (Event, error) {
	return c.event(ctx, opInsert, ref, Times, func(ctx context.Context, service *calendar.Service) (*calendar.Event, error) {
		return service.Events.Insert(ref.Calendar, event.encode()).
			SendUpdates(notifyAll).Fields(eventFields).Context(ctx).Do()
	})
}

// Get reads one event with all its guests, deleted ones included (EventState is Gone). NotFound means that it never
// existed or that the account has no access, which proves no deletion unless the calendar
// itself answers.
func (c *Client) Get(ctx context.Context, ref Ref, id string) (Event, error) {
	var shown *wireEvent
	err := c.authorised(ctx, opGet, ref.Account, func(ctx context.Context, client *http.Client) error {
		query := url.Values{"fields": {string(guestFields)}}
		return c.fetch(ctx, client, address{ref, "/" + url.PathEscape(id), query}, func(body io.Reader) (err error) {
			shown, err = readEvent(body)
			return err
		})
	})
	if err != nil {
		return Event{}, err
	}
	if shown.ID == "" { // it may be what cannot be read
		shown.ID = id
	}
	return c.complete(ctx, ref, shown, WithGuests)
}

// Lists reports whether a calendar's listing shows a live event, found by the iCalendar
// id that Google derives from an event's id. NotFound: this account sees no such
// calendar.
func (c *Client) Lists(ctx context.Context, ref Ref, id string) (bool, error) {
	listed, pageToken := false, ""
	for range mostPages {
		err := c.call(ctx, opList, ref.Account, func(ctx context.Context, service *calendar.Service) error {
			call := service.Events.List(ref.Calendar).ICalUID(ids.ICalUID(id)).MaxResults(2500).
				Fields("nextPageToken,items(id)").Context(ctx)
			if pageToken != "" {
				call.PageToken(pageToken)
			}
			answer, err := notNull(call.Do())
			if err == nil {
				listed = slices.ContainsFunc(answer.Items, func(item *calendar.Event) bool { return item != nil && item.Id == id })
				pageToken = answer.NextPageToken
			}
			return err
		})
		if err != nil || listed || pageToken == "" {
			return listed, err
		}
	}
	return false, fault.New(fault.Unavailable, sayLater)
}

// PatchTimes moves an event, between all-day and timed if necessary, and leaves its other
// fields alone. zone is the IANA zone to show it in; "" keeps its own. With an etag, an
// event that changed since is not moved: Conflict with CodeStale. After Unavailable it
// may have moved.
func (c *Client) PatchTimes(ctx context.Context, ref Ref, id, etag string, to rules.Fingerprint, zone string) (Event, error) {
	if to.IsZero() {
		return Event{}, fault.New(fault.Invalid, "an event cannot be moved to no time")
	}
	start, end := writeTimes(to, zone)
	return c.event(ctx, opPatch, ref, Times, func(ctx context.Context, service *calendar.Service) (*calendar.Event, error) {
		call := service.Events.Patch(ref.Calendar, id, &calendar.Event{Start: start, End: end}).
			SendUpdates(notifyAll).Fields(eventFields).Context(ctx)
		if etag != "" {
			call.Header().Set("If-Match", etag)
		}
		return call.Do()
	})
}

// Delete removes an event. deleted is false, without an error, if it was already deleted.
// NotFound: this account sees no such event or no such calendar. After Unavailable it may
// be gone.
func (c *Client) Delete(ctx context.Context, ref Ref, id string) (deleted bool, err error) {
	return c.delete(ctx, ref, id, "", notifyAll)
}

func (c *Client) delete(ctx context.Context, ref Ref, id, etag, notify string) (deleted bool, err error) {
	err = c.call(ctx, opDelete, ref.Account, func(ctx context.Context, service *calendar.Service) error {
		call := service.Events.Delete(ref.Calendar, id).SendUpdates(notify).Context(ctx)
		if etag != "" {
			call.Header().Set("If-Match", etag)
		}
		return call.Do()
	})
	if fault.CodeOf(err) == CodeGone {
		return false, nil
	}
	return err == nil, err
}

func (c *Client) event(
	ctx context.Context, op operation, ref Ref, mask Mask,
	do func(context.Context, *calendar.Service) (*calendar.Event, error),
) (Event, error) {
	var answer *calendar.Event
	err := c.call(ctx, op, ref.Account, func(ctx context.Context, service *calendar.Service) (err error) {
		answer, err = notNull(do(ctx, service))
		return err
	})
	if err != nil {
		return Event{}, err
	}
	return c.complete(ctx, ref, fromClient(answer), mask)
}

// complete interprets an answer about one event. If a time needs the calendar's zone, which
// is rare, it asks the calendar for it: one with neither offset nor zone, and with details
// any without a zone. If that fails the error is Unavailable, since the first call took
// effect.
func (c *Client) complete(ctx context.Context, ref Ref, shown *wireEvent, mask Mask) (Event, error) {
	zone := ""
	if shown.isFloating() || mask > Times && shown.zoneless() {
		access, err := c.Access(ctx, ref)
		if err != nil {
			return Event{}, &fault.Error{Kind: fault.Unavailable, Message: sayLater, RetryAfter: fault.RetryAfter(err), Err: err}
		}
		zone = access.TimeZone
	}
	event := shown.event(zone)
	if mask > Times {
		event.Details = shown.details(mask, zone)
	}
	return event, nil
}
