package mirrors

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"questscheduler/internal/calendars"
	"questscheduler/internal/mirror"
	"questscheduler/internal/outbox"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/mirrors/plan"
	"questscheduler/scheduler"
)

const (
	// planPage is how many events or mirrors a step of a person's planning reads.
	planPage = 20
	// planSteps bounds the steps of one run, and planFor its time.
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

// PlanWork is the kind of the outbox that plans all events of a person.
func (s *Service) PlanWork() outbox.Kind {
	return outbox.Kind{
		Name: PlanKind, Does: "people to plan", Path: mirror.PersonPath, Due: mirror.PeopleToPlan,
		Codec: planning, Handle: s.planPerson, Workers: 10,
	}
}

// planning maps the planning of a person's document.
var planning = outbox.Codec{
	Decode: func(doc store.Document) outbox.State {
		f := store.Fields(doc.Data)
		return outbox.State{
			Due: f.Time("planDue"), Ref: strconv.FormatInt(f.Int("planGeneration"), 10), Attempts: f.Int("planFailures"),
			FailedSince: f.Time("planFailedSince"), Error: f.String("planError"), Trace: f.String("planTrace"),
		}
	},
	Encode: func(s outbox.State) []store.Update {
		return []store.Update{
			store.Set("planDue", store.NullIfZero(s.Due)), store.Set("planFailures", s.Attempts),
			store.Set("planFailedSince", store.NullIfZero(s.FailedSince)), store.Set("planError", store.NullIfEmpty(s.Error)),
		}
	},
}

// planPerson carries on the planning of all events of a person, page by page. The place is stored
// after each page that had any, so that a run that died is continued. An iCalUID that fails delays
// no other: it is tried again after them, and keeps the planning pending.
func (s *Service) planPerson(ctx context.Context, item outbox.Item) outbox.Result {
	person, cause := mirror.DecodePerson(item.Document), scheduler.Cause{Trigger: PlanKind, Trace: item.State.Trace}
	at, until := placeOf(person.PlanAfter), s.Now().Add(planFor)
	for step := 1; ; step++ {
		uids, next, err := parts[at.Part](s, ctx, person.OwnerID, at)
		if err != nil {
			return outbox.Failed(fmt.Errorf("plan the events of a person: %w", err))
		}
		var failures error
		next.Failed, failures, err = s.planUIDs(ctx, person.OwnerID, uids, at.Failed, cause)
		if err != nil {
			return outbox.Failed(fmt.Errorf("plan an event of a person: %w", err))
		}
		was := at
		at = next.withFailed()
		switch {
		case at.Part == len(parts):
			return outbox.Done().Writing(store.Set("planAfter", store.Delete))
		case was.Part == failedPart:
			return outbox.Failed(fmt.Errorf("plan events of a person again: %w", failures)).Writing(at.stored())
		}
		switch {
		case step == planSteps || !s.Now().Before(until):
			return outbox.Again(s.Now()).Writing(at.stored())
		case len(uids) == 0:
			continue
		}
		if same, err := s.Outbox.Keep(ctx, item, at.stored()); err != nil || !same {
			return unstored(err)
		}
	}
}

// unstored is the result of a run whose progress was not stored: for a failure, or since the
// planning is for another generation by now, which is not settled by this one.
func unstored(err error) outbox.Result {
	if err != nil {
		return outbox.Failed(fmt.Errorf("store how far a planning is: %w", err))
	}
	return outbox.Done()
}

// stored is the update that stores a place.
func (p place) stored() store.Update {
	text, err := json.Marshal(p)
	if err != nil {
		panic("mirrors: marshal a place: " + err.Error()) // texts and an integer always marshal
	}
	return store.Set("planAfter", string(text))
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

func (s *Service) ending(from place) mirror.Ending {
	return mirror.Ending{After: s.Now().Add(-ended), Limit: planPage, At: from.At}
}

func (s *Service) ownPart(ctx context.Context, ownerID string, from place) (uids []string, next place, err error) {
	page, at, err := mirror.EndingAfter(ctx, s.Store, ownerID, s.ending(from))
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
		page, at, err := mirror.OfGroupEndingAfter(ctx, s.Store, groupID, s.ending(from))
		if at == "" { // the next group begins behind this one
			return s.uidsToPlan(page), place{Part: from.Part, Group: groupID + "\x00"}, err
		}
		return s.uidsToPlan(page), from.then(at), err
	}
	return nil, from.then(""), nil
}

// leftPart leaves out the mirrors of events that ownPart planned.
func (s *Service) leftPart(ctx context.Context, ownerID string, from place) (uids []string, next place, err error) {
	page, at, err := mirror.MirrorsEndingAfter(ctx, s.Store, ownerID, s.ending(from))
	if err != nil {
		return nil, from, err
	}
	page = slices.DeleteFunc(page, mirror.Mirror.IsStray)
	var ids []string
	for _, m := range page {
		ids = append(ids, m.CanonicalID)
	}
	slices.Sort(ids)
	events, err := mirror.LoadEvents(ctx, s.Store, slices.Compact(ids))
	if err != nil {
		return nil, from, err
	}
	planned := s.uidsToPlan(slices.DeleteFunc(events, func(e mirror.Event) bool {
		return e.OwnerID != ownerID || !e.Until.After(s.ending(from).After)
	}))
	for _, m := range page {
		if !slices.Contains(planned, m.ICalUID) {
			uids = append(uids, m.ICalUID)
		}
	}
	return uids, from.then(at), nil
}

// forgetPart removes the canonical events of calendars that mirroring does not follow any
// more: nothing would keep them up to date. Their mirrors are planned again, without them.
// Sessions that a group shares stay, and work of the group compares them with their polls, which
// keep them up to date from then on.
func (s *Service) forgetPart(ctx context.Context, ownerID string, from place) (uids []string, next place, err error) {
	followed, err := calendars.OfOwner(ctx, s.Store, ownerID)
	if err != nil {
		return nil, from, err
	}
	slices.SortFunc(followed, func(a, b calendars.Calendar) int { return cmp.Compare(a.Key, b.Key) })
	for _, calendar := range followed {
		switch {
		case calendar.Interests[mirror.Consumer] > 0 || calendar.Key < from.Group:
			continue
		case calendar.Key > from.Group:
			from.Group, from.At = calendar.Key, ""
		}
		uids, at, err := s.forget(ctx, calendar, from.At)
		if at == "" { // the next calendar begins behind this one
			return uids, place{Part: from.Part, Group: calendar.Key + "\x00"}, err
		}
		return uids, from.then(at), err
	}
	return nil, from.then(""), nil
}

// forget removes the events to be forgotten of a page of a calendar that is not followed, and returns
// their iCalUIDs and where the next page begins; "": nowhere.
func (s *Service) forget(ctx context.Context, calendar calendars.Calendar, after string) (uids []string, next string, err error) {
	err = s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		uids, next = nil, ""
		now, _, err := calendars.LoadKey(ctx, tx, calendar.Key)
		if err != nil || now.Interests[mirror.Consumer] > 0 {
			return err
		}
		part := store.Paging{Limit: planPage}
		if after != "" {
			part.After = &store.Cursor{Path: mirror.EventPath(after)}
		}
		page, behind, err := mirror.SomeOfCalendar(ctx, tx, calendar.AccountID, calendar.CalendarID, part)
		if err != nil {
			return err
		}
		if behind != nil {
			next = behind.Path.ID()
		}
		var forgotten []mirror.Event
		for _, event := range page {
			if event.GroupID == "" || event.PollID == "" {
				forgotten = append(forgotten, event)
				continue
			}
			work := poll.SessionWorkUpdates(event.PollID, event.GroupID, s.NewID(), event.PlanTrace, s.now())
			if err := tx.Merge(poll.GroupWorkPath(poll.SessionWorkID(event.PollID)), work...); err != nil {
				return err
			}
		}
		uids = uidsOf(forgotten)
		return removeEvents(tx, forgotten)
	})
	return uids, next, err
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
