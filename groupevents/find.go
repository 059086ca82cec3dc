package groupevents

import (
	"context"
	"slices"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
	"questscheduler/scheduler"
)

// Queries are the package's queries, for opening a store.
var Queries = []*store.Query{
	workDue, keptIntoAccount, keptOfGroup, allKept, eventsOfGroupByID, allConnections, eventsEndedBefore,
	keptEndedBefore, eventsOfPoll, pollsOfGroup,
}

// eventsOfGroupByID is in the order of ids: ULIDs, so by time, oldest first.
var eventsOfGroupByID = store.Select("canonical events of a group by id", "canonicalEvents", "", store.Where("groupId", store.Equal))

// mostWithPrefix bounds the events read for a short reference. Its eight characters cover
// about a second, in which a group's people make few.
const mostWithPrefix = 50

// belongs reports whether an event is one of a group's own, and not deleted.
func belongs(e mirror.Event, groupID string) bool {
	return e.GroupID == groupID && e.Source == mirror.SourceGroup && e.Status != statusCancelled
}

// find reads the event that a reference names. A part of a title is searched in the latest
// events, other references in all. NotFound, or *Ambiguous.
func find(ctx context.Context, reader store.Reader, groupID string, ref Reference) (mirror.Event, error) {
	switch {
	case ref.ID != "":
		return load(ctx, reader, groupID, ref.ID)
	case ref.Prefix != "":
		return findByPrefix(ctx, reader, groupID, ref)
	}
	held, err := loadState(ctx, reader, groupID)
	if err != nil {
		return mirror.Event{}, err
	}
	match, err := one(ref.Among(held.Recent))
	if err != nil {
		return mirror.Event{}, err
	}
	return load(ctx, reader, groupID, match.ID)
}

func load(ctx context.Context, reader store.Reader, groupID, eventID string) (mirror.Event, error) {
	event, err := mirror.LoadEvent(ctx, reader, eventID)
	if fault.Is(err, fault.NotFound) || err == nil && !belongs(event, groupID) {
		return mirror.Event{}, errNoEvent()
	}
	return event, err
}

func findByPrefix(ctx context.Context, reader store.Reader, groupID string, ref Reference) (mirror.Event, error) {
	asked := eventsOfGroupByID.With(groupID).First(mostWithPrefix).From(&store.Cursor{Path: mirror.EventPath(ref.Prefix)})
	page, _, err := store.Page(ctx, reader, asked, mirror.DecodeEvent)
	if err != nil {
		return mirror.Event{}, err
	}
	byID := map[string]mirror.Event{}
	var all []Summary
	for _, event := range page {
		if belongs(event, groupID) {
			byID[event.ID] = event
			all = append(all, summarise(event))
		}
	}
	slices.SortFunc(all, newestFirst)
	match, err := one(ref.Among(all))
	return byID[match.ID], err
}

// Listed is an event of a list as one member sees it.
type Listed struct {
	Summary
	// Mirrors are the member's own.
	Mirrors []mirror.Mirror
}

// ListedOf is an event as a list shows it.
func ListedOf(view View) Listed { return Listed{summarise(view.Event), view.Mirrors} }

// List gives a group's events to take, newest first from behind after, until take took limit
// of them or refuses one. The latest recentEvents are one read. next is the place behind the
// last one taken; nil at the end.
func (s *Service) List(
	ctx context.Context, person scheduler.Person, groupID string, limit int, after *store.Cursor, take func(Listed) (taken bool, err error),
) (next *store.Cursor, err error) {
	if _, err := member(ctx, s.Store, person.ID, groupID); err != nil {
		return nil, err
	}
	events, more, err := s.page(ctx, groupID, limit, after)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, event := range events {
		ids = append(ids, event.ID)
	}
	mirrors, err := s.mirrorsOf(ctx, person.ID, groupID, ids)
	if err != nil {
		return nil, err
	}
	next = after
	for _, event := range events {
		if taken, err := take(Listed{event, mirrors[event.ID]}); err != nil || !taken {
			return next, err
		}
		next = placeOf(event)
	}
	if !more {
		return nil, nil
	}
	return next, nil
}

func placeOf(s Summary) *store.Cursor {
	return &store.Cursor{Values: []any{s.CreatedAt}, Path: mirror.EventPath(s.ID)}
}

// page lists at most limit events behind a place, first those available.
func (s *Service) page(ctx context.Context, groupID string, limit int, after *store.Cursor) (events []Summary, more bool, err error) {
	held, err := loadState(ctx, s.Store, groupID)
	if err != nil {
		return nil, false, err
	}
	for _, event := range held.Recent {
		if !behind(event, after) {
			continue
		}
		if len(events) == limit {
			return events, true, nil
		}
		events = append(events, event)
	}
	if !held.Older {
		return events, false, nil
	}
	if len(events) > 0 {
		after = placeOf(events[len(events)-1])
	}
	for len(events) < limit {
		read, next, err := mirror.OfGroup(ctx, s.Store, groupID, limit, after)
		if err != nil {
			return nil, false, err
		}
		for _, event := range read {
			if !belongs(event, groupID) {
				continue
			}
			if len(events) == limit {
				return events, true, nil
			}
			events = append(events, summarise(event))
		}
		if next == nil {
			return events, false, nil
		}
		after = next
	}
	return events, true, nil
}

// behind reports whether an event stands behind a place in a list; nil is the beginning.
func behind(s Summary, after *store.Cursor) bool {
	if after == nil {
		return true
	}
	at, isTime := after.Values[0].(time.Time)
	return isTime && newestFirst(Summary{CreatedAt: at, ID: after.Path.ID()}, s) < 0 && after.Path.ID() != s.ID
}
