package attendees

import (
	"context"
	"iter"
	"time"

	"questscheduler/internal/store"
)

const events = "attendeeEvents"

var (
	// EventsDue are the records that are due at a time, those due longest first.
	EventsDue       = store.Select("attendee events by due", events, "due", store.Where("due", store.LessOrEqual))
	eventsOfPrimary = store.Select("attendee events of a primary address", events, "", store.Where("primaries", store.ArrayContains))
	eventsInError   = store.Select("attendee events in error", events, "", store.Where("inError", store.Equal))
	eventsOfUID     = store.Select("attendee events of one iCalUID", events, "", store.Where("icalUid", store.Equal))
	eventsEnded     = store.Select("attendee events that ended before a time", events, "endsAt", store.Where("endsAt", store.Less))
)

// Queries are the package's queries, for opening a store.
var Queries = []*store.Query{EventsDue, eventsOfPrimary, eventsInError, eventsOfUID, eventsEnded}

// LoadEvents reads the records of some ids with one GetAll, in their order. A record that
// does not exist is as DecodeEvent says.
func LoadEvents(ctx context.Context, reader store.Reader, ids []string) ([]EventRecord, error) {
	paths := make([]store.Path, len(ids))
	for i, id := range ids {
		paths[i] = EventPath(id)
	}
	docs, err := reader.GetAll(ctx, paths)
	if err != nil {
		return nil, err
	}
	records := make([]EventRecord, len(docs))
	for i, doc := range docs {
		records[i] = DecodeEvent(doc)
	}
	return records, nil
}

// Due yields records that are due at now, those due longest first.
func Due(ctx context.Context, reader store.Reader, now time.Time) iter.Seq2[EventRecord, error] {
	return store.All(ctx, reader, EventsDue.With(now), DecodeEvent)
}

// SomeDue lists at most limit records that are due at now, those due longest first.
func SomeDue(ctx context.Context, reader store.Reader, now time.Time, limit int) ([]EventRecord, error) {
	found, _, err := store.Page(ctx, reader, EventsDue.With(now).First(limit), DecodeEvent)
	return found, err
}

// OfPrimary yields the records with an addition for a primary address (EventRecord.Primaries),
// given in lower case, by id.
func OfPrimary(ctx context.Context, reader store.Reader, primary string) iter.Seq2[EventRecord, error] {
	return store.All(ctx, reader, eventsOfPrimary.With(primary), DecodeEvent)
}

// InError lists at most limit records that hold an Error, for health.
func InError(ctx context.Context, reader store.Reader, limit int) ([]EventRecord, error) {
	found, _, err := store.Page(ctx, reader, eventsInError.With(true).First(limit), DecodeEvent)
	return found, err
}

// OfUID lists at most limit records of an iCalUID: that of an event or series, and those of
// its exceptions.
func OfUID(ctx context.Context, reader store.Reader, iCalUID string, limit int) ([]EventRecord, error) {
	found, _, err := store.Page(ctx, reader, eventsOfUID.With(iCalUID).First(limit), DecodeEvent)
	return found, err
}
