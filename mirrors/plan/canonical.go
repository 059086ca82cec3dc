package plan

import (
	"cmp"
	"reflect"
	"slices"
	"time"

	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/internal/recurrence"
	"questscheduler/rules"
)

const cancelled = "cancelled"

// Origin says whose event an observation is, and where it was observed.
type Origin struct {
	OwnerID, AccountID, CalendarID string
	// Source of a new event; "" means SourceProvider.
	Source mirror.Source
	// PollID and GroupID are set for the session of a poll, GroupID if its group shares it.
	PollID, GroupID string
	// ICalUID is that of the series, for an exception whose answer lacks it, as that of a
	// cancelled one may; "" if unknown.
	ICalUID string
	// Copied marks an event of the class Copied.
	Copied bool
}

// Canonical returns the canonical event after an observation of its origin, and whether the
// document differs. For a new event was has its ID alone. Unchanged are: an observation
// that is older than what is stored, one whose times cannot be read, and a deletion of an
// event that is not known. Of a cancelled event Google guarantees the id alone, and of a
// cancelled exception its series and original start too: the rest stays as it was known.
// Version grows if a field that the API shows changes.
func Canonical(was mirror.Event, shown gcal.Event, at Origin, now time.Time) (next mirror.Event, changed bool) {
	if rules.Older(shown.Updated, was.Updated) {
		return was, false
	}
	var details gcal.Details
	if shown.Details != nil {
		details = *shown.Details
	}
	next = was
	next.OwnerID, next.AccountID, next.CalendarID, next.EventID = at.OwnerID, at.AccountID, at.CalendarID, shown.ID
	next.PollID, next.GroupID = at.PollID, at.GroupID
	keep(&next.Source, at.Source)
	next.Source = cmp.Or(next.Source, mirror.SourceProvider)
	keep(&next.ICalUID, at.ICalUID)
	keep(&next.ICalUID, details.ICalUID)
	keep(&next.ETag, shown.ETag)
	keep(&next.Organizer, mirror.OrganizerOf(shown.Organizer))
	next.Updated = rules.Newest(was.Updated, shown.Updated)
	switch {
	case gone(shown):
		keep(&next.SeriesID, shown.InstanceOf)
		if next.OriginalStart.IsZero() {
			next.OriginalStart = details.Original
		}
		if was.Version == 0 && (next.SeriesID == "" || next.OriginalStart.IsZero()) {
			return was, false
		}
		if next.Start.IsZero() {
			next.Start, next.End = next.OriginalStart, next.OriginalStart
		}
		next.Status = cancelled
	case details.Start.IsZero() || details.End.IsZero() || shown.EventState == rules.Unreadable:
		return was, false
	default:
		describe(&next, details)
		if at.Copied {
			next.Kind = mirror.KindCopy
		}
		next.SeriesID, next.OriginalStart = shown.InstanceOf, details.Original
	}
	if differs(times(was), times(next)) { // a full listing shows all series again
		next.From, next.Until = Bounds(next)
	}
	if !differs(was, next) {
		return was, false
	}
	if differs(face(was), face(next)) {
		next.Version++
	}
	if was.Version == 0 {
		next.CreatedAt = now
	}
	next.PlanAt, next.UpdatedAt = DueAt(next, now), now
	return next, true
}

func describe(e *mirror.Event, details gcal.Details) {
	e.Title, e.Description, e.Location = details.Summary, details.Description, details.Location
	e.Start, e.End, e.Recurrence = details.Start, details.End, slices.Clone(details.Recurrence)
	e.Status, e.Visibility, e.Transparency, e.Kind = "confirmed", "default", "opaque", "default"
	keep(&e.Status, details.Status)
	keep(&e.Visibility, details.Visibility)
	keep(&e.Transparency, details.Transparency)
	keep(&e.Kind, details.Kind)
	e.Declined = details.Response == "declined"
}

// keep sets a field unless the value is empty.
func keep[S ~string](field *S, value S) {
	if value != "" {
		*field = value
	}
}

// face is what the API shows of an event.
func face(e mirror.Event) mirror.Event {
	return mirror.Event{
		Title: e.Title, Description: e.Description, Location: e.Location, Start: e.Start, End: e.End,
		Status: e.Status, Visibility: e.Visibility, Transparency: e.Transparency, Source: e.Source,
		Recurrence: e.Recurrence, SeriesID: e.SeriesID, OriginalStart: e.OriginalStart,
	}
}

// times is what Bounds depends on.
func times(e mirror.Event) mirror.Event {
	return mirror.Event{Start: e.Start, End: e.End, Recurrence: e.Recurrence}
}

// differs compares two events, except for when they were written and planned. Equal times
// in different representations are equal.
func differs(a, b mirror.Event) bool {
	for _, e := range []*mirror.Event{&a, &b} {
		e.PlanAt, e.CreatedAt, e.UpdatedAt = time.Time{}, time.Time{}, time.Time{}
		for _, at := range []*time.Time{&e.Start.Time, &e.End.Time, &e.OriginalStart.Time, &e.Updated, &e.From, &e.Until} {
			*at = at.UTC()
		}
		if len(e.Recurrence) == 0 {
			e.Recurrence = nil
		}
	}
	return !reflect.DeepEqual(a, b)
}

var endless = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)

// Bounds returns the start of the event's first occurrence and the end of its last, as
// Event.From and Event.Until; days begin in UTC. A series whose rule cannot be read counts
// as endless.
func Bounds(event mirror.Event) (from, until time.Time) {
	from, until = event.Start.Instant(time.UTC).UTC(), event.End.Instant(time.UTC).UTC()
	if len(event.Recurrence) > 0 {
		last, isEndless, err := recurrence.End(recurrence.Series{Start: event.Start, End: event.End, Lines: event.Recurrence})
		until = last.UTC()
		if err != nil || isEndless {
			until = endless
		}
	}
	if until.Before(from) {
		until = from
	}
	return from, until
}
