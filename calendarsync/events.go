package calendarsync

import (
	"context"
	"strconv"

	"questscheduler/fault"
	"questscheduler/internal/gcal"
	"questscheduler/internal/poll"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// Private extended properties of events that we create.
const (
	markPoll       = "questschedulerPoll"
	markGeneration = "questschedulerGeneration"
)

// EventWriter is the part of gcal.Client that Events needs.
type EventWriter interface {
	Insert(ctx context.Context, ref gcal.Ref, event gcal.NewEvent) (gcal.Event, error)
	Get(ctx context.Context, ref gcal.Ref, eventID string) (gcal.Event, error)
	PatchTimes(ctx context.Context, ref gcal.Ref, eventID, etag string, to rules.Fingerprint, zone string) (gcal.Event, error)
	Delete(ctx context.Context, ref gcal.Ref, eventID string) (deleted bool, err error)
	List(ctx context.Context, ref gcal.Ref, mask gcal.Mask, syncToken, pageToken string) (gcal.Page, error)
	Access(ctx context.Context, ref gcal.Ref) (gcal.Access, error)
}

// Events creates, reads, finds and deletes the events of polls. It implements
// scheduler.Calendar.
type Events struct {
	Google     EventWriter
	MoveFinder *MoveFinder
}

// Insert creates the event of an intent, with our marks.
func (e Events) Insert(ctx context.Context, intent poll.Intent) (scheduler.CalendarEvent, error) {
	event, err := e.Google.Insert(ctx, gcal.Ref{Account: intent.AccountID, Calendar: intent.CalendarID}, gcal.NewEvent{
		ID: intent.EventID, Summary: intent.Session.Title, Description: intent.Session.Description,
		Start: intent.Session.Start, End: intent.Session.End, AllDay: intent.Session.AllDay,
		TimeZone: intent.Session.Timezone, Attendees: intent.Session.Attendees,
		Private: map[string]string{
			markPoll: intent.PollID, markGeneration: strconv.FormatInt(intent.Generation, 10),
		},
	})
	return translate(event), err
}

// errMalformed is the error of an event that has to be read whole.
var errMalformed = fault.New(fault.Unavailable, "the event has a field of a type that Google does not document")

// Get reads an event, deleted ones included. A malformed event without our marks is
// Unavailable: whose it is cannot be read.
func (e Events) Get(ctx context.Context, accountID, calendarID, eventID string) (scheduler.CalendarEvent, error) {
	event, err := e.Google.Get(ctx, gcal.Ref{Account: accountID, Calendar: calendarID}, eventID)
	if err == nil && event.Malformed && event.Private[markPoll] == "" {
		return scheduler.CalendarEvent{}, errMalformed
	}
	return translate(event), err
}

// Move changes an event's time if it is still the version that was read.
func (e Events) Move(
	ctx context.Context, at poll.Place, event scheduler.CalendarEvent, to rules.Fingerprint, zone string,
) (scheduler.CalendarEvent, error) {
	moved, err := e.Google.PatchTimes(ctx, gcal.Ref{Account: at.AccountID, Calendar: at.CalendarID}, event.ID, event.Version, to, zone)
	return translate(moved), err
}

// Delete removes an event; one that does not exist is no error. NotFound: the calendar
// itself is not accessible, which says nothing of its events.
func (e Events) Delete(ctx context.Context, accountID, calendarID, eventID string) (deleted bool, err error) {
	ref := gcal.Ref{Account: accountID, Calendar: calendarID}
	deleted, err = e.Google.Delete(ctx, ref, eventID)
	if !fault.Is(err, fault.NotFound) {
		return deleted, err
	}
	if _, unread := e.Google.List(ctx, ref, gcal.Times, "", ""); !fault.Is(unread, fault.Provider) {
		return false, unread
	}
	return false, err // it cannot be read either, which is no refusal to delete
}

// Find searches its owner's other calendars for a missing event.
func (e Events) Find(ctx context.Context, missing scheduler.Missing) (*scheduler.Found, error) {
	return e.MoveFinder.begin("").find(ctx, missing)
}

// MayFollow reports whether the account may write to the calendar, by asking the
// calendar.
func (e Events) MayFollow(ctx context.Context, accountID, calendarID string) (bool, error) {
	access, err := e.Google.Access(ctx, gcal.Ref{Account: accountID, Calendar: calendarID})
	return access.Writable, err
}

func translate(event gcal.Event) scheduler.CalendarEvent {
	generation, err := strconv.ParseInt(event.Private[markGeneration], 10, 64)
	if err != nil {
		generation = -1 // no valid generation
	}
	return scheduler.CalendarEvent{
		ID: event.ID, Version: event.ETag, EventState: event.EventState, Fingerprint: event.Fingerprint, Updated: event.Updated,
		Poll: event.Private[markPoll], Generation: generation,
	}
}
