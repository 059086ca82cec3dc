package availability

import (
	"context"
	"slices"

	"questscheduler/internal/mirror"
)

// place is a calendar as one account reaches it, or a group. An account without a calendar, and
// a group, are lists of events, which are read as a whole or cut.
type place struct{ accountID, calendarID, groupID string }

// events are what may occupy people in a range, with the exceptions of their series.
type events struct {
	at map[place][]mirror.Event
	// groups are those that each account is connected to.
	groups map[string][]place
	// cut are the lists of which only some events are kept.
	cut map[place]bool
	// left is how many more may be kept.
	left int
}

// own are the events that occupy an account's owner in its primary calendar, and those of
// its groups.
func (e *events) own(r *reading) []mirror.Event {
	own := slices.Clone(e.at[place{accountID: r.account.ID, calendarID: r.account.Primary()}])
	for _, group := range e.groups[r.account.ID] {
		own = append(own, e.at[group]...)
	}
	return own
}

// count is how many events own lists.
func (e *events) count(r *reading) int {
	count := len(e.at[place{accountID: r.account.ID, calendarID: r.account.Primary()}])
	for _, group := range e.groups[r.account.ID] {
		count += len(e.at[group])
	}
	return count
}

// isCut reports that own lacks events.
func (e *events) isCut(r *reading) bool {
	return e.cut[place{accountID: r.account.ID}] || slices.ContainsFunc(e.groups[r.account.ID], func(group place) bool { return e.cut[group] })
}

// eventsOf reads the events of the people of whom an account is synced: those of all their
// accounts, since one may reach another's calendar, and once those of each group that a
// synced account is connected to.
func (s *Service) eventsOf(ctx context.Context, readings []*reading, within Interval) (events, error) {
	var people []string
	synced := map[string]bool{}
	for _, r := range readings {
		if r.Source == FromEvents {
			people, synced[r.account.ID] = append(people, r.account.OwnerID), true
		}
	}
	slices.Sort(people)
	people = slices.Compact(people)
	all := listing{Service: s, within: within, owners: map[string]string{}}
	all.found = events{at: map[place][]mirror.Event{}, groups: map[string][]place{}, cut: map[place]bool{}, left: mostIntervals}
	var lists []place
	for _, r := range readings {
		if _, ok := slices.BinarySearch(people, r.account.OwnerID); ok {
			lists, all.owners[r.account.ID] = append(lists, place{accountID: r.account.ID}), r.account.OwnerID
		}
	}
	connections, err := mirror.ConnectionsOfPeople(ctx, s.Store, people)
	if err != nil {
		return all.found, err
	}
	listed := map[place]bool{}
	for _, c := range connections {
		group := place{groupID: c.GroupID}
		if !synced[c.AccountID] {
			continue
		}
		all.found.groups[c.AccountID] = append(all.found.groups[c.AccountID], group)
		if !listed[group] {
			lists, listed[group] = append(lists, group), true
		}
	}
	return all.found, all.read(ctx, lists)
}
