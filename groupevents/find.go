package groupevents

import (
	"context"
	"slices"

	"questscheduler/fault"
	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
	"questscheduler/scheduler"
)

// Queries are the package's queries, for opening a store.
var Queries = []*store.Query{
	workDue, keptIntoAccount, keptOfGroup, allKept, eventsOfGroup, eventsOfGroupByID, allConnections, eventsEndedBefore,
	keptEndedBefore, eventsOfPoll,
}

var (
	eventsOfGroup = &store.Query{
		Name: "events of a group, newest first", Collection: "canonicalEvents",
		Filters: []store.Filter{store.Where("groupId", store.Equal), store.Where("source", store.Equal), store.Where("status", store.Equal)},
		Order:   []store.Order{{Path: store.Field("createdAt"), Descending: true}},
	}
	// eventsOfGroupByID is in the order of ids: ULIDs, so by time, oldest first.
	eventsOfGroupByID = store.Select("canonical events of a group by id", "canonicalEvents", "", store.Where("groupId", store.Equal))
)

// mostNamed is how many of a group's latest events are searched for a part of a title.
const mostNamed = 50

// mostWithPrefix bounds the events read for a short reference. Its eight characters cover
// about a second, in which a group's people make few.
const mostWithPrefix = 50

// belongs reports whether an event is one of a group's own, and not deleted.
func belongs(e mirror.Event, groupID string) bool {
	return e.GroupID == groupID && e.Source == mirror.SourceGroup && e.Status != statusCancelled
}

// find reads the event that a reference names. A part of a title is searched in the latest
// events, other references in all. NotFound, or *Ambiguous.
func find(ctx context.Context, reader store.Reader, ref Reference) (mirror.Event, error) {
	switch {
	case ref.ID != "":
		return load(ctx, reader, ref.GroupID, ref.ID)
	case ref.Prefix != "":
		return findByPrefix(ctx, reader, ref)
	}
	asked := eventsOfGroup.With(ref.GroupID, string(mirror.SourceGroup), statusConfirmed).First(mostNamed)
	latest, _, err := store.Page(ctx, reader, asked, mirror.DecodeEvent)
	if err != nil {
		return mirror.Event{}, err
	}
	return one(ref.Among(latest))
}

func load(ctx context.Context, reader store.Reader, groupID, eventID string) (mirror.Event, error) {
	event, err := mirror.LoadEvent(ctx, reader, eventID)
	if fault.Is(err, fault.NotFound) || err == nil && !belongs(event, groupID) {
		return mirror.Event{}, errNoEvent()
	}
	return event, err
}

func findByPrefix(ctx context.Context, reader store.Reader, ref Reference) (mirror.Event, error) {
	asked := eventsOfGroupByID.With(ref.GroupID).First(mostWithPrefix).From(&store.Cursor{Path: mirror.EventPath(ref.Prefix)})
	page, _, err := store.Page(ctx, reader, asked, mirror.DecodeEvent)
	if err != nil {
		return mirror.Event{}, err
	}
	page = slices.DeleteFunc(page, func(e mirror.Event) bool { return !belongs(e, ref.GroupID) })
	slices.SortFunc(page, func(a, b mirror.Event) int { return b.CreatedAt.Compare(a.CreatedAt) })
	return one(ref.Among(page))
}

// List gives a group's events to take, newest first from behind after, until take took limit
// of them or refuses one. next is the place behind the last one taken; nil at the end.
func (s *Service) List(
	ctx context.Context, person scheduler.Person, groupID string, part store.Paging, take func(View) (taken bool, err error),
) (next *store.Cursor, err error) {
	if _, err := member(ctx, s.Store, person.ID, groupID); err != nil {
		return nil, err
	}
	asked := eventsOfGroup.With(groupID, string(mirror.SourceGroup), statusConfirmed).Paged(part)
	events, end, err := store.Page(ctx, s.Store, asked, mirror.DecodeEvent)
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
	next = part.After
	for _, event := range events {
		if taken, err := take(View{event, mirrors[event.ID]}); err != nil || !taken {
			return next, err
		}
		next = &store.Cursor{Values: []any{event.CreatedAt}, Path: mirror.EventPath(event.ID)}
	}
	return end, nil
}
