package availability

import (
	"context"
	"slices"
	"time"

	"questscheduler/internal/mirror"
)

// eventsOf reads the canonical events of people that may occupy them in a range, with the
// exceptions of their series, by account. The events of groups are among those of each
// account that is connected to the group, without a calendar.
func (s *Service) eventsOf(ctx context.Context, owners []string, within Interval) (map[string][]mirror.Event, error) {
	if len(owners) == 0 {
		return nil, nil
	}
	slices.Sort(owners)
	owners = slices.Compact(owners)
	events, err := mirror.OverlapsOfPeople(ctx, s.Store, owners, within.Start, within.End)
	if err != nil {
		return nil, err
	}
	byAccount := map[string][]mirror.Event{}
	for _, event := range events {
		if event.Source != mirror.SourceGroup {
			byAccount[event.AccountID] = append(byAccount[event.AccountID], event)
		}
	}
	return byAccount, s.addGroups(ctx, owners, within, byAccount)
}

// addGroups adds the events of groups to the accounts that show them.
func (s *Service) addGroups(ctx context.Context, owners []string, within Interval, byAccount map[string][]mirror.Event) error {
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
	events, err := mirror.OverlapsOfGroups(ctx, s.Store, groups, within.Start, within.End)
	if err != nil {
		return err
	}
	for _, event := range events {
		for _, account := range accounts[event.GroupID] {
			event.CalendarID, event.Declined = "", false // another person's answer
			byAccount[account] = append(byAccount[account], event)
		}
	}
	return nil
}

// fromEvents works the account's times out from the events of its primary calendar and of
// its groups.
func (r *reading) fromEvents(events []mirror.Event, within Interval, own *session) (err error) {
	primary := r.account.Primary()
	events = slices.DeleteFunc(slices.Clone(events), func(e mirror.Event) bool {
		return e.CalendarID != "" && e.CalendarID != primary || own.is(e)
	})
	timed, allDay := byLength(assemble(events))
	if zone, known := zoneOf(r.stored.TimeZone); known {
		r.times, err = Busy(slices.Concat(timed, allDay), zone, within.Start, within.End)
	} else {
		r.times, err = withoutZone(timed, allDay, within)
		if len(allDay) > 0 {
			r.Unknown = unknownFor(ReasonTimeZone)
		}
	}
	if len(r.times.Unknown) > 0 && r.Unknown == nil {
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

// withoutZone is Busy for a calendar whose zone is unknown: the times that its all-day
// events have in any zone are unknown.
func withoutZone(timed, allDay []Event, within Interval) (Times, error) {
	all, err := Busy(timed, time.UTC, within.Start, within.End)
	for _, hours := range []int{14, 0, -12} { // the first zone, one between, the last
		if err != nil {
			return Times{}, err
		}
		var there Times
		there, err = Busy(allDay, time.FixedZone("", hours*60*60), within.Start, within.End)
		all.Unknown = slices.Concat(all.Unknown, there.Busy, there.Unknown)
	}
	return Join(all), err
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
