package availability

import (
	"context"
	"maps"
	"slices"

	"questscheduler/internal/mirror"
)

// listing reads lists of events.
type listing struct {
	*Service
	within Interval
	// owners are those of the accounts.
	owners map[string]string
	found  events
}

const (
	// rounds is how often what small lists leave is given to the larger ones, which are read
	// again for that.
	rounds = 3
	// ways is in how many parts lists are read that are too many together.
	ways = 8
)

// read reads lists: together if all events may be kept, else each with an equal share, so
// that one list's many events cut no other one.
func (l *listing) read(ctx context.Context, lists []place) error {
	cut := map[place]batch{}
	for range rounds {
		before := len(lists)
		clear(cut)
		if err := l.share(ctx, lists, l.found.left, cut); err != nil {
			return err
		}
		lists = slices.DeleteFunc(lists, func(list place) bool { _, isCut := cut[list]; return !isCut })
		if len(lists) == 0 || len(lists) == before {
			break
		}
	}
	for list, one := range cut {
		l.found.cut[list] = true
		l.keep(one)
	}
	return nil
}

// batch are events of lists, by place.
type batch struct {
	at    map[place][]mirror.Event
	count int
	// whole: there are no others.
	whole bool
}

// keep adds events to those that were found.
func (l *listing) keep(b batch) {
	maps.Copy(l.found.at, b.at)
	l.found.left -= b.count
}

// share reads lists, with an equal share of the room for each unless they fit in together.
// What is cut is not kept yet.
func (l *listing) share(ctx context.Context, lists []place, room int, cut map[place]batch) error {
	if len(lists) == 0 {
		return nil
	}
	found, err := l.together(ctx, lists, room)
	switch {
	case err != nil:
		return err
	case found.whole:
		l.keep(found)
		return nil
	case len(lists) == 1:
		cut[lists[0]] = found
		return nil
	}
	for part := range slices.Chunk(lists, (len(lists)+ways-1)/ways) {
		if err := l.share(ctx, part, room*len(part)/len(lists), cut); err != nil {
			return err
		}
	}
	return nil
}

// together reads lists until there is no room for another event.
func (l *listing) together(ctx context.Context, lists []place, room int) (batch, error) {
	found := batch{at: map[place][]mirror.Event{}, whole: true}
	add := func(at place, event mirror.Event) bool {
		if found.count == room {
			found.whole = false
			return false
		}
		found.at[at] = append(found.at[at], event)
		found.count++
		return true
	}
	var accounts, groups []string
	for _, list := range lists {
		if list.accountID != "" {
			accounts = append(accounts, list.accountID)
		} else {
			groups = append(groups, list.groupID)
		}
	}
	for event, err := range mirror.Blocking(ctx, l.Store, accounts, l.within.Start, l.within.End) {
		if err != nil {
			return found, err
		}
		isTheirs := event.OwnerID == l.owners[event.AccountID]
		if isTheirs && !add(place{accountID: event.AccountID, calendarID: event.CalendarID}, event) {
			return found, nil
		}
	}
	for event, err := range mirror.BlockingOfGroups(ctx, l.Store, groups, l.within.Start, l.within.End) {
		if err != nil {
			return found, err
		}
		event.CalendarID, event.Declined = "", false // another person's answer
		if !add(place{groupID: event.GroupID}, event) {
			return found, nil
		}
	}
	return found, nil
}
