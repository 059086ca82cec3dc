package gcal

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"slices"

	calendar "google.golang.org/api/calendar/v3"
	"google.golang.org/api/googleapi"

	"questscheduler/internal/fault"
	"questscheduler/rules"
)

// eventFields is what answers about one event hold.
const eventFields googleapi.Field = "id,etag,status,summary,description,updated,start,end," +
	"recurrence,recurringEventId,extendedProperties/private"

// getFields is what the answer of Get holds: beside that, whose event it is.
const getFields = eventFields + ",organizer(email,self)"

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
	var shown *shownEvent
	var words eventWords
	err := c.authorised(ctx, opGet, ref.Account, func(ctx context.Context, client *http.Client) error {
		query := url.Values{"fields": {string(getFields)}}
		return c.fetch(ctx, client, ref, "/"+url.PathEscape(id), query, func(body io.Reader) (err error) {
			shown, words, err = readEvent(body)
			return err
		})
	})
	if err != nil {
		return Event{}, err
	}
	if shown.ID == "" { // it may be what cannot be read
		shown.ID = id
	}
	return c.whole(ctx, ref, shown, words)
}

// Lists tells whether a calendar's listing shows a live event, by the iCalendar
// id that Google gives to an event that is made under an id. It is one small
// call. NotFound: there is no such calendar for us.
func (c *Client) Lists(ctx context.Context, ref Ref, id string) (bool, error) {
	listed := false
	err := c.call(ctx, opList, ref.Account, func(ctx context.Context, service *calendar.Service) error {
		answer, err := given(service.Events.List(ref.Calendar).ICalUID(id + "@google.com").
			Fields("items(id)").Context(ctx).Do())
		if err == nil {
			listed = slices.ContainsFunc(answer.Items, func(item *calendar.Event) bool { return item != nil && item.Id == id })
		}
		return err
	})
	return listed, err
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
	var answer *calendar.Event
	err := c.call(ctx, op, ref.Account, func(ctx context.Context, service *calendar.Service) (err error) {
		answer, err = given(do(ctx, service))
		return err
	})
	if err != nil {
		return Event{}, err
	}
	return c.whole(ctx, ref, shownBy(answer), eventWords{Summary: answer.Summary, Description: answer.Description})
}

// whole reads what an answer about one event means. Where a time of it has
// neither an offset nor a zone, the calendar is asked for its own, as every
// listing tells it: Google's answers have offsets, so that is rare. Its failure is
// Unavailable, since the call that answered the event had its effect.
func (c *Client) whole(ctx context.Context, ref Ref, shown *shownEvent, words eventWords) (Event, error) {
	zone := ""
	if shown.floats() {
		access, err := c.Access(ctx, ref)
		if err != nil {
			return Event{}, &fault.Error{Kind: fault.Unavailable, Message: sayLater, RetryAfter: fault.RetryAfter(err), Err: err}
		}
		zone = access.TimeZone
	}
	event := shown.event(zone)
	event.Summary, event.Description = words.Summary, words.Description
	event.Organizer, event.Organized = words.Organizer.Email, words.Organizer.Self
	return event, nil
}
