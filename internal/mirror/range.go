package mirror

import (
	"context"
	"iter"
	"time"

	"questscheduler/internal/store"
)

// EventsCollection is the collection of canonical events.
const EventsCollection = "canonicalEvents"

// Short is the longest event that is found by its start; a longer one, and a series, spans
// (Event.Spans).
const Short = 7 * 24 * time.Hour

var (
	starting = store.Select("short events of a person by start", EventsCollection, "from",
		store.Where("ownerId", store.Equal), store.Where("spans", store.Equal),
		store.Where("from", store.GreaterOrEqual), store.Where("from", store.Less))
	spanning = store.Select("series and long events of a person by end", EventsCollection, "until",
		store.Where("ownerId", store.Equal), store.Where("spans", store.Equal), store.Where("until", store.Greater))
	replacing = store.Select("exceptions of a person's series by original start", EventsCollection, "originalAt",
		store.Where("ownerId", store.Equal), store.Where("originalAt", store.GreaterOrEqual), store.Where("originalAt", store.Less))
)

// Spans reports whether an event may overlap a time long after its start.
func (e Event) Spans() bool { return len(e.Recurrence) > 0 || e.Until.Sub(e.From) > Short }

// Starting yields a person's events that are no series and last a week at most, of those
// that start in [from, to), by start. Those that overlap a time start up to Short before.
func Starting(ctx context.Context, reader store.Reader, ownerID string, from, to time.Time) iter.Seq2[Event, error] {
	return store.All(ctx, reader, starting.With(ownerID, false, from, to), DecodeEvent)
}

// Spanning yields a person's series and events of over a week that end after a time.
func Spanning(ctx context.Context, reader store.Reader, ownerID string, after time.Time) iter.Seq2[Event, error] {
	return store.All(ctx, reader, spanning.With(ownerID, true, after), DecodeEvent)
}

// Replacing yields the exceptions of a person's series, cancelled ones too, whose original
// start is in [from, to): each stands in the place of an occurrence of its series.
func Replacing(ctx context.Context, reader store.Reader, ownerID string, from, to time.Time) iter.Seq2[Event, error] {
	return store.All(ctx, reader, replacing.With(ownerID, from, to), DecodeEvent)
}
