package mirrors

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/internal/poll"
	"questscheduler/internal/recurrence"
)

// CodeOtherDay (Conflict): a change of a series names another day than that of its first
// occurrence, and may be meant for one occurrence.
const CodeOtherDay = "other_day"

// addressTime is the layout of the original start in the address of an occurrence.
const addressTime = "20060102T150405Z"

// OccurrenceID is the address of an occurrence of a series: the id of the series and the start
// that the occurrence has by the rule, in UTC; of an all-day one midnight UTC of its day.
func OccurrenceID(seriesID string, original recurrence.Moment) string {
	return seriesID + "_" + original.Instant(time.UTC).UTC().Format(addressTime)
}

// cutAddress splits the address of an occurrence; ok is false for the id of an event.
func cutAddress(id string) (seriesID string, at time.Time, ok bool) {
	end := strings.LastIndexByte(id, '_')
	if end < 0 {
		return "", time.Time{}, false
	}
	at, err := time.Parse(addressTime, id[end+1:])
	return id[:end], at, err == nil
}

// originalOf is the original start that an address names. NotFound: the event is no series, or
// its occurrences are days and the address names a time.
func originalOf(series mirror.Event, at time.Time) (recurrence.Moment, error) {
	switch {
	case len(series.Recurrence) == 0:
		return recurrence.Moment{}, errNoOccurrence()
	case !series.Start.AllDay():
		return recurrence.Moment{Time: at, Zone: series.Start.Zone}, nil
	case !at.Equal(at.Truncate(24 * time.Hour)):
		return recurrence.Moment{}, errNoOccurrence()
	}
	return recurrence.Moment{Date: at.Format(time.DateOnly)}, nil
}

// getOccurrence returns an occurrence of a series as a list shows it: the exception in its
// place, if there is one, else by the rule.
func (e *Events) getOccurrence(ctx context.Context, ownerID, seriesID string, at time.Time) (Shown, error) {
	series, err := e.load(ctx, ownerID, seriesID)
	if err != nil {
		return Shown{}, err
	}
	original, err := originalOf(series, at)
	if err != nil {
		return Shown{}, err
	}
	one, changed, err := e.exception(ctx, series, original)
	shown := Shown{Event: asSharedWith(ownerID, series), OccurrenceID: OccurrenceID(series.ID, original)}
	switch {
	case err != nil:
	case !changed:
		shown.Begins, shown.Ends, err = byRule(series, original)
	case one.Status == cancelled:
		err = errNoOccurrence()
	default:
		shown.Event, shown.Begins, shown.Ends = asSharedWith(ownerID, one), one.From, one.Until
	}
	if err != nil {
		return Shown{}, err
	}
	all := []Shown{shown}
	err = e.addMirrors(ctx, ownerID, all)
	return all[0], err
}

// exception finds the exception in the place of an occurrence, cancelled ones included.
func (e *Events) exception(ctx context.Context, series mirror.Event, original recurrence.Moment) (one mirror.Event, found bool, err error) {
	same, err := mirror.OfUIDs(ctx, e.Service.Store, series.OwnerID, []string{series.ICalUID})
	i := slices.IndexFunc(same, func(other mirror.Event) bool {
		return isSeriesOf(series, other) && other.OriginalStart.Equal(original)
	})
	if err != nil || i < 0 {
		return mirror.Event{}, false, err
	}
	return same[i], true, nil
}

// byRule is when an occurrence is by the rule of its series.
func byRule(series mirror.Event, original recurrence.Moment) (start, end time.Time, err error) {
	from := original.Instant(time.UTC)
	lines := recurrence.Series{Start: series.Start, End: series.End, Lines: series.Recurrence}
	within := recurrence.Range{Zone: time.UTC, From: from, To: from.Add(time.Second)}
	occurrences, err := recurrence.Expand(lines, within, maxOccurrences)
	i := slices.IndexFunc(occurrences, func(o recurrence.Occurrence) bool { return o.Original.Equal(original) })
	if err != nil || i < 0 { // what cannot be expanded has no known occurrence
		return start, end, errNoOccurrence()
	}
	return occurrences[i].Start, occurrences[i].End, nil
}

// target is what a route changes in a calendar: an event, or an occurrence of a series.
type target struct {
	ref gcal.Ref
	// eventID is Google's id of the event, or of the instance.
	eventID string
	// id is that of the canonical event, of an occurrence that of its series; occurrence is
	// the address of an occurrence, "" for an event.
	id, occurrence string
}

// target finds what an id or an address names. Its errors are those of changeable; NotFound: the
// series has no such occurrence.
func (e *Events) target(ctx context.Context, ownerID, id string) (target, error) {
	eventID, at, isOccurrence := cutAddress(id)
	if !isOccurrence {
		eventID = id
	}
	event, err := e.changeable(ctx, ownerID, eventID)
	if err != nil {
		return target{}, err
	}
	found := target{ref: gcal.Ref{Account: event.AccountID, Calendar: event.CalendarID}, eventID: event.EventID, id: event.ID}
	if !isOccurrence {
		return found, nil
	}
	original, err := originalOf(event, at)
	if err != nil {
		return target{}, err
	}
	instance, err := e.Google.Instance(ctx, found.ref, event.EventID, original)
	err = e.missing(ctx, found.ref, err)
	if fault.Is(err, fault.NotFound) {
		err = errNoOccurrence()
	}
	found.eventID, found.occurrence = instance.ID, id
	return found, err
}

// checkDay refuses to move a series to another day than that of its first occurrence: lists show
// each occurrence, and who changes one as it is shown must not move all. The day is that in the
// zone of the series so far, since another zone alone moves nothing, or that in its new one.
func (t target) checkDay(was, now gcal.Content) error {
	first, asked := dayOf(was.Start, was.Start.Zone), dayOf(now.Start, was.Start.Zone)
	isSame := first == asked || first == dayOf(now.Start, now.Start.Zone)
	if len(was.Recurrence) == 0 || isSame {
		return nil
	}
	which := "by its address, which lists have as occurrence_id"
	near := now.Start.Instant(time.UTC)
	series := recurrence.Series{Start: was.Start, End: was.End, Lines: was.Recurrence}
	within := recurrence.Range{Zone: time.UTC, From: near.AddDate(0, 0, -1), To: near.AddDate(0, 0, 1)}
	occurrences, err := recurrence.Expand(series, within, maxOccurrences)
	if err == nil {
		for _, o := range occurrences {
			if dayOf(o.Original, was.Start.Zone) == asked {
				which = "as " + OccurrenceID(t.id, o.Original)
				break
			}
		}
	}
	return &fault.Error{Kind: fault.Conflict, Code: CodeOtherDay, Message: fmt.Sprintf(
		"The first occurrence of this series is on %s, and start_ts on %s. To change one occurrence, name it %s. To move the "+
			"whole series to another day, delete it and make another.",
		first, asked, which)}
}

// dayOf is the day on which a moment lies in a zone.
func dayOf(m recurrence.Moment, name string) string {
	if m.AllDay() {
		return m.Date
	}
	zone, err := poll.Zone(name)
	if err != nil {
		zone = time.UTC
	}
	return m.Time.In(zone).Format(time.DateOnly)
}

func errNoOccurrence() error {
	return fault.New(fault.NotFound, "There is no such occurrence of this series. List your events for the occurrences there are.")
}
