package availability

import (
	"slices"
	"time"

	"questscheduler/internal/mirror"
)

// fromEvents works the account's times out from its events, except for the session.
func (a *answering) fromEvents(r *reading, left *bound) (err error) {
	timed, allDay := byLength(assemble(a.own.others(a.found.own(r))))
	var full bool
	if zone, known := zoneOf(r.stored.TimeZone); known {
		r.times, full, err = busyWithin(slices.Concat(timed, allDay), zone, a.within, left)
	} else {
		r.times, full, err = withoutZone(timed, allDay, a.within, left)
		if len(allDay) > 0 {
			r.Unknown = unknownFor(ReasonTimeZone)
		}
	}
	switch {
	case full || a.found.isCut(r):
		r.times.Unknown, r.Unknown = []Interval{a.within}, unknownFor(ReasonTooMany)
	case len(r.times.Unknown) > 0 && r.Unknown == nil:
		r.Unknown = unknownFor(ReasonSeries)
	}
	return err
}

func zoneOf(name string) (zone *time.Location, known bool) {
	if name == "" {
		return nil, false
	}
	zone, err := time.LoadLocation(name)
	return zone, err == nil
}

// withoutZone is busyWithin for a calendar whose zone is unknown: the times that its all-day
// events have in any zone are unknown.
func withoutZone(timed, allDay []BusyEvent, within Interval, left *bound) (all Times, full bool, err error) {
	all, full, err = busyWithin(timed, time.UTC, within, left)
	for _, hours := range []int{14, 0, -12} { // the first zone, one between, the last
		if err != nil || full {
			return all, full, err
		}
		var there Times
		there, full, err = busyWithin(allDay, time.FixedZone("", hours*60*60), within, left)
		all.Unknown = slices.Concat(all.Unknown, there.Busy, there.Unknown)
	}
	return Join(all), full, err
}

// byLength separates events with no all-day part from those with one.
func byLength(events []BusyEvent) (timed, allDay []BusyEvent) {
	for _, e := range events {
		if e.Start.AllDay() || slices.ContainsFunc(e.Exceptions, func(x BusyEvent) bool { return x.Start.AllDay() }) {
			allDay = append(allDay, e)
		} else {
			timed = append(timed, e)
		}
	}
	return timed, allDay
}

// assemble puts the exceptions of each series with it. One whose series is not there, since
// the owner was invited to that date alone, stands for itself.
func assemble(events []mirror.Event) (all []BusyEvent) {
	series := map[string]int{}
	for _, e := range events {
		if e.SeriesID == "" {
			series[e.EventID] = len(all)
			all = append(all, decisive(e))
		}
	}
	for _, e := range events {
		i, known := series[e.SeriesID]
		switch {
		case e.SeriesID == "":
		case known:
			all[i].Exceptions = append(all[i].Exceptions, decisive(e))
		default:
			all = append(all, decisive(e))
		}
	}
	return all
}

// decisive is what of an event decides whether it occupies its owner.
func decisive(e mirror.Event) BusyEvent {
	return BusyEvent{
		Start: e.Start, End: e.End, Lines: e.Recurrence, Original: e.OriginalStart, Kind: e.Kind,
		Cancelled: e.Status == "cancelled", Transparent: e.Transparency == "transparent", Declined: e.Declined,
	}
}
