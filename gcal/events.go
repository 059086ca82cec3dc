package gcal

import (
	"context"

	calendar "google.golang.org/api/calendar/v3"
	"google.golang.org/api/googleapi"

	"questscheduler/fault"
	"questscheduler/rules"
)

// eventFields is what answers about one event hold.
const eventFields googleapi.Field = "id,etag,status,summary,description,updated,start,end," +
	"recurrence,recurringEventId,extendedProperties/private"

// Insert makes an event under the id it names. Conflict with CodeDuplicate: the
// id is taken in that calendar, by a live event or a deleted one; Get tells.
// After Unavailable the event may be there: insert again or get it.
func (c *Client) Insert(ctx context.Context, ref Ref, event NewEvent) (Event, error) {
	return c.event(ctx, opInsert, ref, func(ctx context.Context, service *calendar.Service) (*calendar.Event, error) {
		return service.Events.Insert(ref.Calendar, event.encode()).
			SendUpdates(c.audience(event.SendUpdates)).Fields(eventFields).Context(ctx).Do()
	})
}

// Get reads one event, deleted ones included (Seen is Gone). NotFound means
// that it was never there, or that the account has no access: no proof of a
// deletion while the calendar itself does not answer.
func (c *Client) Get(ctx context.Context, ref Ref, id string) (Event, error) {
	return c.event(ctx, opGet, ref, func(ctx context.Context, service *calendar.Service) (*calendar.Event, error) {
		return service.Events.Get(ref.Calendar, id).Fields(eventFields).Context(ctx).Do()
	})
}

// PatchTimes moves an event to a time, from all-day to timed and back where
// need be, and leaves the rest of it alone. zone is the IANA zone it is shown
// in; "" keeps the one it has. With an etag the event is moved only while it is
// the one the etag was read from, else Conflict with CodeStale and nothing is
// written. After Unavailable it may have been moved.
func (c *Client) PatchTimes(ctx context.Context, ref Ref, id, etag string, to rules.Fingerprint, zone string) (Event, error) {
	if to.IsZero() {
		return Event{}, fault.New(fault.Invalid, "an event cannot be moved to no time")
	}
	start, end := writeTimes(to, zone)
	return c.event(ctx, opPatch, ref, func(ctx context.Context, service *calendar.Service) (*calendar.Event, error) {
		call := service.Events.Patch(ref.Calendar, id, &calendar.Event{Start: start, End: end}).
			SendUpdates(c.audience("")).Fields(eventFields).Context(ctx)
		if etag != "" {
			call.Header().Set("If-Match", etag)
		}
		return call.Do()
	})
}

// Delete removes an event. deleted is false, without an error, where it was
// deleted before. NotFound: there is no such event, or no such calendar for us.
// After Unavailable it may be gone.
func (c *Client) Delete(ctx context.Context, ref Ref, id string) (deleted bool, err error) {
	err = c.call(ctx, opDelete, ref.Account, func(ctx context.Context, service *calendar.Service) error {
		return service.Events.Delete(ref.Calendar, id).SendUpdates(c.audience("")).Context(ctx).Do()
	})
	if fault.CodeOf(err) == CodeGone {
		return false, nil
	}
	return err == nil, err
}

// event makes a call that answers one event.
func (c *Client) event(ctx context.Context, op operation, ref Ref, do func(context.Context, *calendar.Service) (*calendar.Event, error)) (Event, error) {
	var event Event
	err := c.call(ctx, op, ref.Account, func(ctx context.Context, service *calendar.Service) error {
		answer, err := given(do(ctx, service))
		if err == nil {
			event = decodeEvent(answer)
		}
		return err
	})
	return event, err
}
