package plan

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"questscheduler/internal/mirror"
	"questscheduler/rules"
)

// syncedWithin is how long two copies of one event may differ in time because one calendar
// was not synced yet.
const syncedWithin = 10 * time.Minute

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
		isByRule := event.SeriesID != "" && other.SeriesID == ""
		if isByRule {
			if isExceptionOf(event, other) || excepts(other, event.OriginalStart, others) {
				continue
			}
			other = occurrenceOf(other, event.OriginalStart)
		}
		if other.ID == event.ID || other.ICalUID != event.ICalUID || !other.OriginalStart.Equal(event.OriginalStart) {
			continue
		}
		until := agreeUntil(event, other)
		differ := !sameTimes(event, other) || isByRule && blocks(event) != blocks(other)
		if sameOrganizer(event, other) && differ && until.After(now) && (at.IsZero() || until.Before(at)) {
			at = until
		}
	}
	return at
}

// blocks reports whether an event takes the time of its owner.
func blocks(event mirror.Event) bool {
	return event.Status != cancelled && !event.Declined && event.Transparency != "transparent"
}
