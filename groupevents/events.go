package groupevents

import (
	"context"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/mirror"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/scheduler"
)

// The statuses of a group's event.
const (
	statusConfirmed = "confirmed"
	statusCancelled = "cancelled" // deleted: kept until its mirrors are gone
)

// View is an event of a group as one member sees it.
type View struct {
	mirror.Event
	// Mirrors are the member's own, by account id.
	Mirrors []mirror.Mirror
}

// Create is the input for a new event.
type Create struct {
	// ID is the event's, "evt_" and a ULID; "" makes a new one. Asking again for one that the
	// person made gives the event as it is by now.
	ID string
	Input
}

// Create makes an event of a group, by a member. Invalid names the wrong field. Conflict: an
// event of the id was made and deleted, or there are MaxPresent of the person's (CodePresent).
// RateLimited: the person made MaxPerDay today (CodePerDay).
func (s *Service) Create(ctx context.Context, person scheduler.Person, groupID string, ask Create, cause scheduler.Cause) (View, error) {
	if err := s.Writes(); err != nil {
		return View{}, err
	}
	now := store.Instant(s.Now())
	fresh := mirror.Event{
		ID: ask.ID, OwnerID: person.ID, GroupID: groupID, Source: mirror.SourceGroup, Status: statusConfirmed,
		Visibility: "default", Transparency: "opaque", Kind: "default", Version: 1, Updated: now, CreatedAt: now, UpdatedAt: now,
	}
	if fresh.ID == "" {
		fresh.ID = s.NewID("evt")
	}
	fresh.ICalUID = fresh.ID
	wrong := ask.fill(&fresh)
	fresh.PlanAt, fresh.PlanTrace = now, cause.Trace
	var event mirror.Event
	err := s.change(ctx, groupID, cause, func(ctx context.Context, tx store.Tx) error {
		if _, err := member(ctx, tx, person.ID, groupID); err != nil {
			return err
		}
		if wrong != nil {
			return wrong
		}
		before, err := tx.Get(ctx, mirror.EventPath(fresh.ID))
		if err != nil {
			return err
		}
		if before.Exists() {
			event = mirror.DecodeEvent(before)
			return madeAgain(event, fresh)
		}
		state, err := loadState(ctx, tx, groupID)
		if err != nil {
			return err
		}
		state, err = state.counting(person.ID, now)
		if err != nil {
			return err
		}
		event = fresh
		if err := tx.Create(mirror.EventPath(event.ID), mirror.EncodeEvent(event)); err != nil {
			return err
		}
		return state.write(tx)
	})
	if err != nil {
		return View{}, err
	}
	s.Plans.PlanEventSoon(ctx, event)
	return s.changed(ctx, person.ID, event, cause)
}

// madeAgain refuses an id that is another event's, or that of an event deleted since.
func madeAgain(event, fresh mirror.Event) error {
	if event.OwnerID != fresh.OwnerID || event.GroupID != fresh.GroupID || event.Status == statusCancelled {
		return fault.New(fault.Conflict, "This event was made and deleted. Send the request with a new Idempotency-Key to make another one.")
	}
	return nil
}

// changed is an event after its change: one whose PlanAt has come is planned at once for the
// person who changed it, so that the answer shows their mirrors.
func (s *Service) changed(ctx context.Context, personID string, event mirror.Event, cause scheduler.Cause) (View, error) {
	if event.PlanAt.After(s.Now()) {
		return s.view(ctx, personID, event)
	}
	if err := s.Plans.PlanUID(ctx, personID, event.ICalUID, cause); err != nil {
		s.Log.WarnContext(ctx, "a group's event is planned later", "event", event.ID, "group", event.GroupID, "trace", cause.Trace, "error", err)
	}
	return s.view(ctx, personID, event)
}

// Get finds an event of a group for a member.
func (s *Service) Get(ctx context.Context, person scheduler.Person, ref Reference) (View, error) {
	if _, err := member(ctx, s.Store, person.ID, ref.GroupID); err != nil {
		return View{}, err
	}
	event, err := find(ctx, s.Store, ref)
	if err != nil {
		return View{}, err
	}
	return s.view(ctx, person.ID, event)
}

// Update changes an event; its author may, and the group's creator. A change to what it is
// already writes nothing. The copies follow once the event has settled (Settle).
func (s *Service) Update(
	ctx context.Context, person scheduler.Person, ref Reference, ask Edit, cause scheduler.Cause,
) (View, error) {
	now := store.Instant(s.Now())
	event, err := s.edit(ctx, person, ref, cause, func(e *mirror.Event) error {
		e.PlanAt = s.settled(*e, now)
		return ask.applyTo(inputOf(*e)).fill(e)
	})
	if err != nil {
		return View{}, err
	}
	return s.changed(ctx, person.ID, event, cause)
}

// Delete deletes an event with its mirrors; its author may, and the group's creator.
func (s *Service) Delete(ctx context.Context, person scheduler.Person, ref Reference, cause scheduler.Cause) (View, error) {
	now := store.Instant(s.Now())
	event, err := s.edit(ctx, person, ref, cause, func(e *mirror.Event) error {
		e.Status, e.PlanAt = statusCancelled, now
		if e.Until.After(now) { // it is on record for Keep from now, not from its end
			e.Until, e.From = now, earlier(e.From, now)
		}
		return nil
	})
	if err != nil {
		return View{}, err
	}
	return s.changed(ctx, person.ID, event, cause)
}

// settled is when a changed event is planned: Settle after the first change since it was
// planned last. So any number of changes costs each account one write in that time, and none
// if they were taken back.
func (s *Service) settled(was mirror.Event, now time.Time) time.Time {
	latest := store.Instant(now.Add(s.Settle))
	if was.PlanAt.After(now) && was.PlanAt.Before(latest) {
		return was.PlanAt
	}
	return latest
}

// edit writes what change does to an event that the person may change, its PlanAt included, and
// has it planned then. Where it rests already, that was done.
func (s *Service) edit(
	ctx context.Context, person scheduler.Person, ref Reference, cause scheduler.Cause, change func(*mirror.Event) error,
) (event mirror.Event, err error) {
	if err := s.Writes(); err != nil {
		return mirror.Event{}, err
	}
	now, planAt := store.Instant(s.Now()), time.Time{}
	err = s.change(ctx, ref.GroupID, cause, func(ctx context.Context, tx store.Tx) error {
		group, err := member(ctx, tx, person.ID, ref.GroupID)
		if err != nil {
			return err
		}
		before, err := find(ctx, tx, ref)
		if err != nil {
			return err
		}
		if before.OwnerID != person.ID && group.CreatorID != person.ID {
			return fault.New(fault.Forbidden, "Only the author of this event and the creator of the group may change it. Ask one of them.")
		}
		event, planAt = before, before.PlanAt
		if err := change(&event); err != nil {
			return err
		}
		if sameText(before, event) {
			event = before
			return nil
		}
		event.Version, event.Updated, event.UpdatedAt, event.PlanTrace = before.Version+1, now, now, cause.Trace
		if !group.Has(before.OwnerID) { // who left may read what is theirs in the store, and no later text
			event.OwnerID = person.ID
		}
		if err := recount(ctx, tx, before, event); err != nil {
			return err
		}
		return tx.Set(mirror.EventPath(event.ID), mirror.EncodeEvent(event))
	})
	if err == nil && !event.PlanAt.Equal(planAt) {
		s.Plans.PlanEventSoon(ctx, event)
	}
	return event, err
}

// recount counts an event no more that was deleted, and one of another author for that one.
func recount(ctx context.Context, tx store.Tx, before, event mirror.Event) error {
	deleted := event.Status == statusCancelled
	if !deleted && event.OwnerID == before.OwnerID {
		return nil
	}
	state, err := loadState(ctx, tx, event.GroupID)
	if err != nil {
		return err
	}
	state = state.discounting(before)
	if !deleted {
		state = state.takingOver(event.OwnerID, event.UpdatedAt)
	}
	return state.write(tx)
}

// view adds a member's own mirrors: those in the accounts that they connected.
func (s *Service) view(ctx context.Context, personID string, event mirror.Event) (View, error) {
	mirrors, err := s.mirrorsOf(ctx, personID, event.GroupID, []string{event.ID})
	return View{Event: event, Mirrors: mirrors[event.ID]}, err
}

// mirrorsOf reads a person's own mirrors of some events of a group, by event.
func (s *Service) mirrorsOf(ctx context.Context, personID, groupID string, eventIDs []string) (map[string][]mirror.Mirror, error) {
	connections, err := mirror.ConnectionsOf(ctx, s.Store, personID)
	if err != nil {
		return nil, err
	}
	var paths []store.Path
	for _, connection := range connections {
		if connection.GroupID != groupID {
			continue
		}
		for _, id := range eventIDs {
			paths = append(paths, mirror.Path(mirror.IDOf(id, connection.AccountID)))
		}
	}
	found := map[string][]mirror.Mirror{}
	if len(paths) == 0 {
		return found, nil
	}
	docs, err := s.Store.GetAll(ctx, paths)
	for _, doc := range docs {
		if m := mirror.Decode(doc); doc.Exists() && m.OwnerID == personID {
			found[m.CanonicalID] = append(found[m.CanonicalID], m)
		}
	}
	return found, err
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// ShareSessions reports whether a group shares the sessions of its polls.
func (s *Service) ShareSessions(ctx context.Context, group poll.Group) (bool, error) {
	state, err := loadState(ctx, s.Store, group.ID)
	return state.ShareSessions, err
}
