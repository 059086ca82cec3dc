package worldtest

import (
	"net/url"
	"slices"
	"strings"

	"questscheduler/internal/mirror"
)

// origin is an occurrence in the own calendar of one of Mirrorer's accounts, with what says
// which meeting it is.
type origin struct {
	Occurrence
	meeting string
	// series is what two series share that are one meeting: the times of the first occurrence and
	// the rule. It is "" for an event that is none, and for an occurrence without its series.
	series string
	// changed marks an occurrence that its calendar has apart from its series.
	changed bool
}

// copies are the same for all copies of one series' occurrence, or of one event.
func (o origin) copies() string { return o.meeting + " in " + o.series }

// hides reports whether an account that shows this occurrence itself needs no mirror of the
// other. Of two series that differ, the occurrences by the rule are no meeting in common, even
// where their times meet.
func (o origin) hides(other origin) bool {
	return o.meeting == other.meeting && (other.changed || o.series == "" || o.series == other.series)
}

// meetingOf is the same for one occurrence of a meeting in every calendar: anybody can copy an
// iCalUID, so organizer and times belong to it.
func meetingOf(o Occurrence) string {
	original := ""
	if o.SeriesID != "" {
		original = instant(o.Original)
	}
	return strings.Join([]string{o.ICalUID, "of", original, "by", o.Organizer.Email, "at", instant(o.Start), "to", instant(o.End)}, " ")
}

// originsOf are the occurrences of the own calendar of one of Mirrorer's accounts.
func (w *World) originsOf(name string) (all []origin) {
	w.t.Helper()
	stored, _ := w.eventsListed(name, Person(name).Email, url.Values{})
	series, changed := map[string]string{}, map[string]bool{}
	for _, event := range stored {
		if event.SeriesID != "" {
			changed[event.ID] = true
		} else if len(event.Recurrence) > 0 {
			series[event.ID] = instant(event.Start) + " to " + instant(event.End) + " " + strings.Join(event.Recurrence, " ")
		}
	}
	for _, o := range w.OccurrencesOf(name) {
		all = append(all, origin{Occurrence: o, meeting: meetingOf(o), series: series[o.SeriesID], changed: changed[o.ID]})
	}
	return all
}

// originOf finds what the event of a mirror is a copy of, by the canonical event that the
// mirror's document names.
func originOf(shown Occurrence, canonical mirror.Event, origins map[string][]origin) (origin, bool) {
	for name, all := range origins {
		if canonical.CalendarID != Person(name).Email {
			continue
		}
		at := slices.IndexFunc(all, func(o origin) bool {
			if len(canonical.Recurrence) == 0 {
				return o.ID == canonical.EventID
			}
			return o.SeriesID == canonical.EventID && instant(o.Original) == instant(shown.Original)
		})
		if at >= 0 {
			return all[at], true
		}
	}
	return origin{}, false
}
