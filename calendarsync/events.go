package calendarsync

import (
	"context"
	"strconv"

	"questscheduler/internal/fault"
	"questscheduler/internal/gcal"
	"questscheduler/internal/poll"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// Names of the private marks on events that we make: whose they are.
const (
	markPoll       = "questschedulerPoll"
	markGeneration = "questschedulerGeneration"
)

// EventWriter is what Events needs of the calendar (gcal.Client).
type EventWriter interface {
	Insert(ctx context.Context, ref gcal.Ref, event gcal.NewEvent) (gcal.Event, error)
	Get(ctx context.Context, ref gcal.Ref, eventID string) (gcal.Event, error)
	PatchTimes(ctx context.Context, ref gcal.Ref, eventID, etag string, to rules.Fingerprint, zone string) (gcal.Event, error)
	Delete(ctx context.Context, ref gcal.Ref, eventID string) (deleted bool, err error)
	List(ctx context.Context, ref gcal.Ref, syncToken, pageToken string) (gcal.Page, error)
	Access(ctx context.Context, ref gcal.Ref) (gcal.Access, error)
}

// Events makes, reads, finds and deletes the events of polls in Google calendars.
// It implements scheduler.Calendar.
type Events struct {
	Google    EventWriter
	Elsewhere *Elsewhere
}

// Insert makes the event of an intent, marked as ours.
func (e Events) Insert(ctx context.Context, intent poll.Intent) (scheduler.Event, error) {
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

// Get reads an event, deleted ones included. One that is malformed and shows no
// marks is Unavailable: whose it is cannot be read.
func (e Events) Get(ctx context.Context, accountID, calendarID, eventID string) (scheduler.Event, error) {
	event, err := e.Google.Get(ctx, gcal.Ref{Account: accountID, Calendar: calendarID}, eventID)
	if err == nil && event.Malformed && event.Private[markPoll] == "" {
		return scheduler.Event{}, errMalformed
	}
	return translate(event), err
}

// Move gives an event another time, while it is the one that was read.
func (e Events) Move(ctx context.Context, accountID, calendarID string, event scheduler.Event, to rules.Fingerprint, zone string) (scheduler.Event, error) {
	moved, err := e.Google.PatchTimes(ctx, gcal.Ref{Account: accountID, Calendar: calendarID}, event.ID, event.Version, to, zone)
	return translate(moved), err
}

// Delete removes an event; one that is not there is no error. NotFound: it is the
// calendar that is not there, or lost to us, and says nothing of its events.
func (e Events) Delete(ctx context.Context, accountID, calendarID, eventID string) (deleted bool, err error) {
	ref := gcal.Ref{Account: accountID, Calendar: calendarID}
	deleted, err = e.Google.Delete(ctx, ref, eventID)
	if !fault.Is(err, fault.NotFound) {
		return deleted, err
	}
	if _, unread := e.Google.List(ctx, ref, "", ""); !fault.Is(unread, fault.Provider) {
		return false, unread
	}
	return false, err // it may not be read either, which refuses no deletion
}

// Find looks for an event that is gone from its calendar in the other calendars
// of the same person.
func (e Events) Find(ctx context.Context, missing scheduler.Missing) (*scheduler.Found, error) {
	return e.Elsewhere.begin("").find(ctx, missing)
}

// MayFollow asks the calendar for the account's role in it.
func (e Events) MayFollow(ctx context.Context, accountID, calendarID string) (bool, error) {
	access, err := e.Google.Access(ctx, gcal.Ref{Account: accountID, Calendar: calendarID})
	return access.Writable, err
}

func translate(event gcal.Event) scheduler.Event {
	generation, err := strconv.ParseInt(event.Private[markGeneration], 10, 64)
	if err != nil {
		generation = -1 // no generation of ours is below zero
	}
	return scheduler.Event{
		ID: event.ID, Version: event.ETag, Seen: event.Seen, Fingerprint: event.Fingerprint, Updated: event.Updated,
		Poll: event.Private[markPoll], Generation: generation,
	}
}
