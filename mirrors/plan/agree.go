package plan

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/internal/recurrence"
	"questscheduler/rules"
)

// syncedWithin is how long two copies of one event may differ in time because one calendar
// was not synced yet.
const syncedWithin = 10 * time.Minute

// meetings divides events with one iCalUID into meetings: anybody can copy an iCalUID, so
// events belong together only if organizer and time agree as well. An exception belongs to
// its series; without one to a meeting of its organizer. The order of the ids decides, so
// that planning twice gives the same.
func meetings(events []mirror.Event, now time.Time) (all [][]mirror.Event) {
	sorted := slices.SortedFunc(slices.Values(events), func(a, b mirror.Event) int {
		return cmp.Or(compareBool(a.SeriesID != "", b.SeriesID != ""), strings.Compare(a.ID, b.ID))
	})
	for _, event := range sorted {
		i := slices.IndexFunc(all, func(meeting []mirror.Event) bool {
			if event.SeriesID == "" {
				return agree(event, meeting[0], now)
			}
			return slices.ContainsFunc(meeting, func(other mirror.Event) bool { return isExceptionOf(event, other) })
		})
		if i < 0 && event.SeriesID != "" {
			i = slices.IndexFunc(all, func(meeting []mirror.Event) bool { return sameOrganizer(event, meeting[0]) })
		}
		if i < 0 {
			i, all = len(all), append(all, nil)
		}
		all[i] = append(all[i], event)
	}
	return all
}

// agree reports whether two events with one iCalUID, or two occurrences with one original
// start, show the same: organizer, start and end agree. Google gives a meeting one id in all
// calendars, so copies with one id and organizer that differ in time agree until both
// calendars should have been synced.
func agree(a, b mirror.Event, now time.Time) bool {
	return sameOrganizer(a, b) && (sameTimes(a, b) || now.Before(agreeUntil(a, b)))
}

// agreesWithAny reports whether an event agrees with one of some others.
func agreesWithAny(event mirror.Event, others []mirror.Event, now time.Time) bool {
	return slices.ContainsFunc(others, func(other mirror.Event) bool { return agree(event, other, now) })
}

// sameOrganizer reports whether two events may have one organizer; an unknown one is any.
func sameOrganizer(a, b mirror.Event) bool {
	return a.Organizer == b.Organizer || a.Organizer == "" || b.Organizer == ""
}

func sameTimes(a, b mirror.Event) bool {
	return a.Start.Equal(b.Start) && a.End.Equal(b.End) && slices.Equal(linesOf(a.Recurrence), linesOf(b.Recurrence))
}

// linesOf are the lines of a recurrence in one form: calendars write the parts of a rule and the
// values of a part in any order and case, and leave out what holds anyway.
func linesOf(recurrence []string) (all []string) {
	for _, line := range recurrence {
		name, value, _ := strings.Cut(strings.ToUpper(strings.TrimSpace(line)), ":")
		parts := slices.DeleteFunc(strings.Split(value, ";"), func(part string) bool {
			return part == "" || part == "INTERVAL=1" || part == "WKST=MO"
		})
		for i, part := range parts {
			key, values, isPart := strings.Cut(part, "=")
			if !isPart { // of dates
				key, values = "", part
			}
			parts[i] = key + "=" + strings.Join(slices.Sorted(strings.SplitSeq(values, ",")), ",")
		}
		slices.Sort(parts)
		all = append(all, name+":"+strings.Join(parts, ";"))
	}
	slices.Sort(all)
	return all
}

// agreeUntil is until when two events count as one of which one calendar was not synced yet;
// zero if they are not one event at Google.
func agreeUntil(a, b mirror.Event) time.Time {
	id := cmp.Or(a.SeriesID, a.EventID)
	if id != cmp.Or(b.SeriesID, b.EventID) || id == "" {
		return time.Time{}
	}
	return rules.Newest(a.Updated, b.Updated).Add(syncedWithin)
}

// DisagreeAt is when the first of some other events stops counting as the same meeting as an
// event by time alone; zero for never. Plan the event again then.
func DisagreeAt(event mirror.Event, others []mirror.Event, now time.Time) (at time.Time) {
	for _, other := range others {
		if event.SeriesID != "" && other.SeriesID == "" {
			if isExceptionOf(event, other) || excepts(other, event.OriginalStart, others) {
				continue
			}
			other = occurrenceOf(other, event.OriginalStart)
		}
		if other.ID == event.ID || other.ICalUID != event.ICalUID || !other.OriginalStart.Equal(event.OriginalStart) {
			continue
		}
		until := agreeUntil(event, other)
		if sameOrganizer(event, other) && !sameTimes(event, other) && until.After(now) && (at.IsZero() || until.Before(at)) {
			at = until
		}
	}
	return at
}

// excepts reports whether one of some events is the exception of a series for an occurrence.
func excepts(series mirror.Event, original recurrence.Moment, events []mirror.Event) bool {
	return slices.ContainsFunc(events, func(event mirror.Event) bool {
		return isExceptionOf(event, series) && event.OriginalStart.Equal(original)
	})
}

// occurrenceOf is the occurrence of a series with an original start, as the rule has it.
func occurrenceOf(series mirror.Event, original recurrence.Moment) mirror.Event {
	times := instance(gcal.Content{Start: series.Start, End: series.End}, original)
	one := series
	one.Start, one.End, one.Recurrence = times.Start, times.End, nil
	one.SeriesID, one.OriginalStart = series.EventID, original
	return one
}
