package availability

import (
	"context"
	"slices"

	"questscheduler/internal/calendars"
	"questscheduler/internal/poll"
)

// sharedPlaces are where else the primary calendar of an account was read: as the other
// accounts of its owner reach it.
func (a *answering) sharedPlaces(r *reading) (places []place) {
	if r.Source != FromNothing {
		return nil // its own source knows them
	}
	for _, other := range a.readings {
		at := place{accountID: other.account.ID, calendarID: r.account.Primary()}
		if other != r && other.account.OwnerID == r.account.OwnerID && len(a.found.at[at]) > 0 {
			places = append(places, at)
		}
	}
	return places
}

// sharedWith reads the stored calendars of all shared places that are current.
func (s *Service) sharedWith(ctx context.Context, a *answering) (map[place]calendars.Calendar, error) {
	var places []place
	var keys []string
	for _, r := range a.readings {
		for _, at := range a.sharedPlaces(r) {
			places, keys = append(places, at), append(keys, poll.CalendarKey(at.accountID, at.calendarID))
		}
	}
	if len(keys) == 0 {
		return nil, nil
	}
	stored, err := calendars.LoadKeys(ctx, s.Store, keys)
	if err != nil {
		return nil, err
	}
	shared := map[place]calendars.Calendar{}
	for i, calendar := range stored {
		if s.current(calendar) {
			shared[places[i]] = calendar
		}
	}
	return shared, nil
}

// fromShared adds to an account of which nothing is known when its primary calendar is busy
// as another account of its owner reaches it. Other times stay unknown, also those that the
// bound leaves no room for.
func (a *answering) fromShared(r *reading, left *bound) error {
	for _, at := range a.sharedPlaces(r) {
		zone, known := zoneOf(a.shared[at].TimeZone)
		if !known {
			continue
		}
		times, full, err := busyWithin(assemble(a.own.others(a.found.at[at])), zone, a.within, left)
		if err != nil {
			return err
		}
		r.times.Busy = Merge(slices.Concat(r.times.Busy, times.Busy))
		if full {
			break
		}
	}
	return nil
}
