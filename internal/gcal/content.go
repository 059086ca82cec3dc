package gcal

import (
	"cmp"
	"context"

	calendar "google.golang.org/api/calendar/v3"

	"questscheduler/fault"
	"questscheduler/internal/recurrence"
)

// Content is what we write of an event that is no poll's: a mirror's, or one that a person
// makes over REST. It has no guests and no conference.
type Content struct {
	Summary     string
	Description string
	Location    string
	Start, End  recurrence.Moment
	// Recurrence are the RRULE, RDATE and EXDATE lines of a series.
	Recurrence []string
	// Transparency is "opaque" or "transparent", Visibility "default" or "private".
	Transparency string
	Visibility   string
	// Status is "confirmed" or "tentative"; "" is "confirmed".
	Status string
	// KeepsReminders leaves an event's reminders as they are, and gives a new one those of
	// its calendar. Otherwise the event has none.
	KeepsReminders bool
}

// notifyNone has Google e-mail no guest about a change.
const notifyNone = "none"

// InsertContent creates an event under its id, and tells nobody. private holds its private
// extended properties. Its errors are Insert's.
func (c *Client) InsertContent(ctx context.Context, ref Ref, id string, content Content, private map[string]string) (Event, error) {
	event, err := content.encode()
	if err != nil {
		return Event{}, err
	}
	event.Id = id
	if len(private) > 0 {
		event.ExtendedProperties = &calendar.EventExtendedProperties{Private: private}
	}
	return c.event(ctx, opInsert, ref, WithDetails, func(ctx context.Context, service *calendar.Service) (*calendar.Event, error) {
		return service.Events.Insert(ref.Calendar, event).
			SendUpdates(notifyNone).MaxAttendees(1).Fields(detailFields).Context(ctx).Do()
	})
}

// PatchContent replaces every field of an event that Content has, and its reminders, and
// tells nobody; other fields stay. A cancelled event, such as an instance of a series,
// comes back. With an etag, an event that changed since is left alone: Conflict with
// CodeStale. After Unavailable it may have changed.
func (c *Client) PatchContent(ctx context.Context, ref Ref, id, etag string, content Content) (Event, error) {
	event, err := content.encode()
	if err != nil {
		return Event{}, err
	}
	return c.event(ctx, opPatch, ref, WithDetails, func(ctx context.Context, service *calendar.Service) (*calendar.Event, error) {
		call := service.Events.Patch(ref.Calendar, id, event).
			SendUpdates(notifyNone).MaxAttendees(1).Fields(detailFields).Context(ctx)
		if etag != "" {
			call.Header().Set("If-Match", etag)
		}
		return call.Do()
	})
}

// DeleteQuietly is Delete, and tells nobody. With an etag, an event that changed
// since is left alone: Conflict with CodeStale.
func (c *Client) DeleteQuietly(ctx context.Context, ref Ref, id, etag string) (deleted bool, err error) {
	return c.delete(ctx, ref, id, etag, notifyNone)
}

// encode writes a content with every field, an empty one as null, so that it is the same
// for a patch. Times of both sorts or of none are Invalid.
func (c Content) encode() (*calendar.Event, error) {
	if c.Start.IsZero() || c.End.IsZero() || c.Start.AllDay() != c.End.AllDay() {
		return nil, fault.New(fault.Invalid, "an event needs a start and an end, both days or both times")
	}
	event := &calendar.Event{
		Summary: c.Summary, Description: c.Description, Location: c.Location, Recurrence: c.Recurrence,
		Start: writeMoment(c.Start, len(c.Recurrence) > 0), End: writeMoment(c.End, len(c.Recurrence) > 0),
		Transparency: c.Transparency, Visibility: c.Visibility, Status: cmp.Or(c.Status, "confirmed"),
	}
	if !c.KeepsReminders {
		event.Reminders = &calendar.EventReminders{NullFields: []string{"Overrides"}, ForceSendFields: []string{"UseDefault"}}
	}
	for _, field := range []struct {
		name  string
		empty bool
	}{
		{"Summary", c.Summary == ""}, {"Description", c.Description == ""}, {"Location", c.Location == ""},
		{"Recurrence", len(c.Recurrence) == 0}, {"Transparency", c.Transparency == ""}, {"Visibility", c.Visibility == ""},
	} {
		if field.empty {
			event.NullFields = append(event.NullFields, field.name)
		}
	}
	return event, nil
}
