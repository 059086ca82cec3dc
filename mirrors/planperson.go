package mirrors

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"questscheduler/internal/calendars"
	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
	"questscheduler/mirrors/plan"
	"questscheduler/scheduler"
)

const (
	// planPage is how many events or mirrors a step of a person's planning reads.
	planPage = 20
	// planSteps bounds the steps of one task, and planFor its time.
	planSteps = 25
	planFor   = 20 * time.Second
	// ended is how long ago an event may have ended to be planned.
	ended = 24 * time.Hour
)

// place is how far the planning of a person's events is, as Person.PlanAfter keeps it. The
// zero place is the beginning.
type place struct {
	// Part is a part of parts, Group the group or the ending connection that it is in.
	Part  int    `json:"part"`
	Group string `json:"group,omitempty"`
	At    string `json:"at,omitempty"`
	// Failed are iCalUIDs that could not be planned so far, at most mostUnplanned.
	Failed []string `json:"failed,omitempty"`
}

// parts are what is planned, in order: what groups still show in accounts that were
// disconnected from them is deleted, events of calendars that nothing wants any more are
// forgotten, the person's own events are planned, then those of the person's groups, then
// what mirrors are left of events that the person no longer sees, and again what failed.
var parts = []func(s *Service, ctx context.Context, ownerID string, from place) (uids []string, next place, err error){
	(*Service).endingPart, (*Service).forgetPart, (*Service).ownPart, (*Service).groupsPart, (*Service).leftPart, (*Service).failedPart,
}

// failedPart is the last of parts.
var failedPart = len(parts) - 1

// planPerson carries on the planning of all events of a person. Each iCalUID is planned in
// its own transaction, and the place is stored after each page, so that a run that died is
// continued. One that fails delays no other: it is tried again after them, and keeps the
// planning pending. more reports that the task ran out of time. Another generation has a task
// of its own.
func (s *Service) planPerson(ctx context.Context, ownerID string, generation int64, cause scheduler.Cause) (more bool, err error) {
	until := s.Now().Add(planFor)
	for range planSteps {
		person, err := mirror.LoadPerson(ctx, s.Store, ownerID)
		if err != nil || !person.PlanPending || person.PlanGeneration != generation {
			return false, err
		}
		if person.PlanAfter == "" && person.PlanAgain {
			if err := s.beginAgain(ctx, person); err != nil {
				return false, err
			}
			continue
		}
		at := placeOf(person.PlanAfter)
		uids, next, err := parts[at.Part](s, ctx, ownerID, at)
		if err != nil {
			return false, fmt.Errorf("plan the events of a person: %w", err)
		}
		var failures error
		if next.Failed, failures, err = s.planUIDs(ctx, ownerID, uids, at.Failed, cause); err != nil {
			return false, fmt.Errorf("plan an event of a person: %w", err)
		}
		next = next.withFailed()
		finished, err := s.advance(ctx, person, next)
		if err != nil || finished {
			return false, err
		}
		if at.Part == failedPart && next.Failed != nil {
			return false, fmt.Errorf("plan events of a person again: %w", failures)
		}
		if s.Now().After(until) {
			break
		}
	}
	return true, nil
}

// advance stores how far the planning is, or that it is done. finished is true as well if
// another task was faster or another generation began.
func (s *Service) advance(ctx context.Context, was mirror.Person, next place) (finished bool, err error) {
	err = s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		now, err := mirror.LoadPerson(ctx, tx, was.OwnerID)
		if err != nil {
			return err
		}
		if finished = !now.PlanPending || now.PlanGeneration != was.PlanGeneration || now.PlanAfter != was.PlanAfter; finished {
			return nil
		}
		if next.Part >= failedPart && now.PlanAgain {
			return tx.Update(mirror.PersonPath(was.OwnerID), store.Set("planAfter", store.Delete))
		}
		if finished = next.Part == len(parts); finished {
			return tx.Update(mirror.PersonPath(was.OwnerID), store.Set("planPending", false), store.Set("planAfter", store.Delete))
		}
		text, err := json.Marshal(next)
		if err != nil {
			return err
		}
		return tx.Update(mirror.PersonPath(was.OwnerID), store.Set("planAfter", string(text)))
	})
	return finished, err
}

// beginAgain notes that the planning is at its beginning, so that it passes all events that
// are stored by now.
func (s *Service) beginAgain(ctx context.Context, was mirror.Person) error {
	return s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		now, err := mirror.LoadPerson(ctx, tx, was.OwnerID)
		if err != nil || now.PlanGeneration != was.PlanGeneration || now.PlanAfter != "" {
			return err
		}
		return tx.Update(mirror.PersonPath(was.OwnerID), store.Set("planAgain", false))
	})
}

// placeOf reads a stored place; anything else is the beginning.
func placeOf(text string) (at place) {
	if json.Unmarshal([]byte(text), &at) != nil || at.Part < 0 || at.Part >= len(parts) {
		return place{}
	}
	return at
}

// then is the place at the end of a page: within the part, or the beginning of the next.
func (p place) then(at string) place {
	if at == "" {
		return place{Part: p.Part + 1}
	}
	p.At = at
	return p
}

func (s *Service) ownPart(ctx context.Context, ownerID string, from place) (uids []string, next place, err error) {
	page, at, err := mirror.EndingAfter(ctx, s.Store, ownerID, s.Now().Add(-ended), planPage, from.At)
	return s.uidsToPlan(page), from.then(at), err
}

// uidsToPlan are the iCalUIDs of the events that are not left to their PlanAt, as all are that
// lie after the window: none of them has mirrors, or leftPart finds those.
func (s *Service) uidsToPlan(events []mirror.Event) []string {
	now := s.now()
	return uidsOf(slices.DeleteFunc(events, func(event mirror.Event) bool {
		at := plan.DueAt(event, now)
		return !at.IsZero() && at.Equal(event.PlanAt)
	}))
}

// groupsPart is the events of one group after the other, by id.
func (s *Service) groupsPart(ctx context.Context, ownerID string, from place) (uids []string, next place, err error) {
	connections, err := mirror.ConnectionsOf(ctx, s.Store, ownerID)
	if err != nil {
		return nil, from, err
	}
	for _, groupID := range groupsOf(connections) {
		switch {
		case groupID < from.Group:
			continue
		case groupID > from.Group:
			from.Group, from.At = groupID, ""
		}
		page, at, err := mirror.OfGroupEndingAfter(ctx, s.Store, groupID, s.Now().Add(-ended), planPage, from.At)
		if at == "" { // the next group begins behind this one
			return s.uidsToPlan(page), place{Part: from.Part, Group: groupID + "\x00"}, err
		}
		return s.uidsToPlan(page), from.then(at), err
	}
	return nil, from.then(""), nil
}

func (s *Service) leftPart(ctx context.Context, ownerID string, from place) (uids []string, next place, err error) {
	page, at, err := mirror.MirrorsEndingAfter(ctx, s.Store, ownerID, s.Now().Add(-ended), planPage, from.At)
	for _, m := range page {
		if !m.IsStray() {
			uids = append(uids, m.ICalUID)
		}
	}
	return uids, from.then(at), err
}

// forgetPart removes the canonical events of calendars that mirroring does not follow any
// more: nothing would keep them up to date. Their mirrors are planned again, without them.
func (s *Service) forgetPart(ctx context.Context, ownerID string, from place) (uids []string, next place, err error) {
	followed, err := calendars.OfOwner(ctx, s.Store, ownerID)
	if err != nil {
		return nil, from, err
	}
	for _, calendar := range followed {
		if calendar.Interests[mirror.Consumer] > 0 {
			continue
		}
		uids, err := s.forget(ctx, calendar)
		if err != nil || len(uids) > 0 {
			return uids, from, err // again from the beginning: what is removed is not found again
		}
	}
	return nil, from.then(""), nil
}

// forget removes a page of the canonical events of a calendar that is not followed, and
// returns their iCalUIDs.
func (s *Service) forget(ctx context.Context, calendar calendars.Calendar) (uids []string, err error) {
	err = s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		uids = nil
		now, _, err := calendars.LoadKey(ctx, tx, calendar.Key)
		if err != nil || now.Interests[mirror.Consumer] > 0 {
			return err
		}
		page, err := mirror.SomeOfCalendar(ctx, tx, calendar.AccountID, calendar.CalendarID, planPage)
		if err != nil {
			return err
		}
		uids = uidsOf(page)
		return removeEvents(tx, page)
	})
	return uids, err
}

func removeEvents(tx store.Tx, events []mirror.Event) error {
	for _, event := range events {
		if err := tx.Delete(mirror.EventPath(event.ID)); err != nil {
			return err
		}
	}
	return nil
}

func uidsOf(events []mirror.Event) (uids []string) {
	for _, event := range events {
		uids = append(uids, event.ICalUID)
	}
	return uids
}
