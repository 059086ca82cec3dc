package mirror

import (
	"context"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/recurrence"
	"questscheduler/internal/store"
)

// endless is the Until of an endless series.
var endless = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)

// Endless is the Until of a series without an end, the latest day that a store keeps.
func Endless() time.Time { return endless }

// shortest is the longest time from From to Until of an event that is found by its From
// alone (OverlapsOfPeople); longer ones and series are found by their Until.
const shortest = 25 * time.Hour

// EventPath is where a canonical event is.
func EventPath(id string) store.Path { return store.Doc("canonicalEvents", id) }

// OriginKey names the origin of an event: one event of one calendar as one account sees
// it. It is "" for an event without an origin.
func OriginKey(accountID, calendarID, eventID string) string {
	if eventID == "" {
		return ""
	}
	return hash(accountID, calendarID, eventID)
}

// originKey is the stored OriginKey. A copy is nobody's origin, so no question about origins
// finds it.
func originKey(e Event) string {
	if e.Source == SourceCopy {
		return e.ID
	}
	return OriginKey(e.AccountID, e.CalendarID, e.EventID)
}

// EncodeEvent gives the fields of a canonical event.
func EncodeEvent(e Event) map[string]any {
	return map[string]any{
		"ownerId": e.OwnerID, "accountId": e.AccountID, "calendarId": e.CalendarID, "eventId": e.EventID,
		"originKey": originKey(e), "icalUid": e.ICalUID,
		"title": e.Title, "description": e.Description, "location": e.Location,
		"start": encodeMoment(e.Start), "end": encodeMoment(e.End), "status": e.Status,
		"visibility": e.Visibility, "transparency": e.Transparency, "eventType": e.Kind, "declined": e.Declined,
		"organizer":  store.NullIfEmpty(e.Organizer),
		"recurrence": e.Recurrence, "seriesId": e.SeriesID, "originalStart": encodeMoment(e.OriginalStart),
		"replaces": store.NullIfZero(e.OriginalStart.Instant(time.UTC)),
		"etag":     e.ETag, "updated": store.NullIfZero(e.Updated), "version": e.Version, "copyOf": e.CopyOf,
		"duplicateOf": e.DuplicateOf, "holdsBack": e.HoldsBack, "source": string(e.Source),
		"pollId": store.NullIfEmpty(e.PollID), "groupId": store.NullIfEmpty(e.GroupID),
		"from": store.NullIfZero(e.From), "until": store.NullIfZero(e.Until), "long": e.long(),
		"planAt": store.NullIfZero(e.PlanAt), "planTrace": store.NullIfEmpty(e.PlanTrace), "createdAt": e.CreatedAt, "updatedAt": e.UpdatedAt,
	}
}

// long reports whether the event is found by its Until rather than its From.
func (e Event) long() bool { return len(e.Recurrence) > 0 || e.Until.Sub(e.From) > shortest }

// DecodeEvent reads a canonical event.
func DecodeEvent(doc store.Document) Event {
	f := store.Fields(doc.Data)
	return Event{
		ID: doc.Path.ID(), OwnerID: f.String("ownerId"), AccountID: f.String("accountId"), CalendarID: f.String("calendarId"),
		EventID: f.String("eventId"), ICalUID: f.String("icalUid"),
		Title: f.String("title"), Description: f.String("description"), Location: f.String("location"),
		Start: decodeMoment(f.Map("start")), End: decodeMoment(f.Map("end")), Status: f.String("status"),
		Visibility: f.String("visibility"), Transparency: f.String("transparency"), Kind: f.String("eventType"), Declined: f.Bool("declined"),
		Organizer:  f.String("organizer"),
		Recurrence: f.Strings("recurrence"), SeriesID: f.String("seriesId"), OriginalStart: decodeMoment(f.Map("originalStart")),
		ETag: f.String("etag"), Updated: f.Time("updated"), Version: f.Int("version"), CopyOf: f.Strings("copyOf"),
		DuplicateOf: f.Strings("duplicateOf"), HoldsBack: f.Bool("holdsBack"), Source: Source(f.String("source")),
		PollID: f.String("pollId"), GroupID: f.String("groupId"), From: f.Time("from"), Until: f.Time("until"),
		PlanAt: f.Time("planAt"), PlanTrace: f.String("planTrace"), CreatedAt: f.Time("createdAt"), UpdatedAt: f.Time("updatedAt"),
	}
}

// LoadEvent reads a canonical event; NotFound if there is none.
func LoadEvent(ctx context.Context, reader store.Reader, id string) (Event, error) {
	if EventPath(id).Valid() != nil {
		return Event{}, errNoEvent() // an id with a slash names no event
	}
	doc, err := reader.Get(ctx, EventPath(id))
	if err == nil && !doc.Exists() {
		err = errNoEvent()
	}
	if err != nil {
		return Event{}, err
	}
	return DecodeEvent(doc), nil
}

// LoadEvents reads canonical events with one call, those that exist.
func LoadEvents(ctx context.Context, reader store.Reader, ids []string) (all []Event, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	var paths []store.Path
	for _, id := range ids {
		paths = append(paths, EventPath(id))
	}
	docs, err := reader.GetAll(ctx, paths)
	for _, doc := range docs {
		if doc.Exists() {
			all = append(all, DecodeEvent(doc))
		}
	}
	return all, err
}

func errNoEvent() error { return fault.New(fault.NotFound, "There is no such event.") }

func encodeMoment(m recurrence.Moment) any {
	if m.IsZero() {
		return nil
	}
	return map[string]any{
		"date": store.NullIfEmpty(m.Date), "time": store.NullIfZero(m.Time), "zone": store.NullIfEmpty(m.Zone),
	}
}

func decodeMoment(f store.Fields) recurrence.Moment {
	return recurrence.Moment{Date: f.String("date"), Time: f.Time("time"), Zone: f.String("zone")}
}
