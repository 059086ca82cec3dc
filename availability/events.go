package availability

import (
	"context"
	"slices"
	"time"

	"questscheduler/internal/mirror"
)

// place is a calendar as one account reaches it. Events of groups are at the places of the
// accounts that are connected to the group, without a calendar.
type place struct{ accountID, calendarID string }

// events are what may occupy people in a range, with the exceptions of their series.
type events struct {
	at map[place][]mirror.Event
	// read counts them; complete is false if there are more than an answer may hold.
	read     int
	complete bool
}

// eventsOf reads the events of people, and those of their groups.
func (s *Service) eventsOf(ctx context.Context, owners []string, within Interval) (events, error) {
	found := events{at: map[place][]mirror.Event{}, complete: true}
	if len(owners) == 0 {
		return found, nil
	}
	slices.Sort(owners)
	owners = slices.Compact(owners)
	for event, err := range mirror.Blocking(ctx, s.Store, owners, within.Start, within.End) {
		if err != nil {
			return found, err
		}
		if event.Source != mirror.SourceGroup && !found.add(place{event.AccountID, event.CalendarID}, event) {
			return found, nil
		}
	}
	return found, s.addGroups(ctx, owners, within, &found)
}

// add adds an event, and reports whether there is room for it.
func (e *events) add(at place, event mirror.Event) bool {
	if e.read == mostIntervals {
		e.complete = false
		return false
	}
	e.read++
	e.at[at] = append(e.at[at], event)
	return true
}

// addGroups adds the events of groups to the accounts that show them.
func (s *Service) addGroups(ctx context.Context, owners []string, within Interval, found *events) error {
	connections, err := mirror.ConnectionsOfPeople(ctx, s.Store, owners)
	if err != nil || len(connections) == 0 {
		return err
	}
	accounts := map[string][]string{}
	var groups []string
	for _, c := range connections {
		if len(accounts[c.GroupID]) == 0 {
			groups = append(groups, c.GroupID)
		}
		accounts[c.GroupID] = append(accounts[c.GroupID], c.AccountID)
	}
	for event, err := range mirror.BlockingOfGroups(ctx, s.Store, groups, within.Start, within.End) {
		if err != nil {
			return err
		}
		for _, account := range accounts[event.GroupID] {
			event.CalendarID, event.Declined = "", false // another person's answer
			if !found.add(place{accountID: account}, event) {
				return nil
			}
		}
	}
	return nil
}

// count is how many events own lists.
func (e *events) count(r *reading) int {
	return len(e.at[place{r.account.ID, r.account.Primary()}]) + len(e.at[place{accountID: r.account.ID}])
}

// own are the events that occupy an account's owner in its primary calendar, and those of
// its groups.
func (e *events) own(r *reading) []mirror.Event {
	return slices.Concat(e.at[place{r.account.ID, r.account.Primary()}], e.at[place{accountID: r.account.ID}])
}

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
	case full || !a.found.complete:
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
func withoutZone(timed, allDay []Event, within Interval, left *bound) (all Times, full bool, err error) {
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
func byLength(events []Event) (timed, allDay []Event) {
	for _, e := range events {
		if e.Start.AllDay() || slices.ContainsFunc(e.Exceptions, func(x Event) bool { return x.Start.AllDay() }) {
			allDay = append(allDay, e)
		} else {
			timed = append(timed, e)
		}
	}
	return timed, allDay
}

// assemble puts the exceptions of each series with it. One whose series is not there, since
// the owner was invited to that date alone, stands for itself.
func assemble(events []mirror.Event) (all []Event) {
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
func decisive(e mirror.Event) Event {
	return Event{
		Start: e.Start, End: e.End, Lines: e.Recurrence, Original: e.OriginalStart, Kind: e.Kind,
		Cancelled: e.Status == "cancelled", Transparent: e.Transparency == "transparent", Declined: e.Declined,
	}
}
