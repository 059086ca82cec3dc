package mirrors

import (
	"context"
	"slices"
	"strings"

	"questscheduler/internal/accounts"
	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
	"questscheduler/mirrors/plan"
)

// situation is what decides about a person's mirrors of one iCalUID, with the person's
// document.
type situation struct {
	plan.Situation
	person mirror.Person
	// former are groups of the person's connections that the person left, whose events were
	// taken out.
	former []string
}

// situation reads what decides about a person's mirrors of one iCalUID.
func (s *Service) situation(ctx context.Context, reader store.Reader, ownerID, icalUID string) (situation, error) {
	all, err := s.situations(ctx, reader, ownerID, []string{icalUID}, nil)
	if err != nil {
		return situation{}, err
	}
	return all[0], nil
}

// situations reads what decides about a person's mirrors of some iCalUIDs, for each of which it
// returns one: canonical events, those of the groups to which the person connected an account,
// policies, accounts and the mirrors there are. events are the person's with these iCalUIDs, where
// the caller has read them; nil has them read.
func (s *Service) situations(
	ctx context.Context, reader store.Reader, ownerID string, icalUIDs []string, events []mirror.Event,
) ([]situation, error) {
	common, err := s.situationOf(ctx, reader, ownerID)
	if err != nil {
		return nil, err
	}
	if events == nil {
		events, err = mirror.OfUIDs(ctx, reader, ownerID, icalUIDs)
		if err != nil {
			return nil, err
		}
	}
	shown, err := mirror.MirrorsOfUIDs(ctx, reader, ownerID, icalUIDs)
	if err != nil {
		return nil, err
	}
	all := make([]situation, len(icalUIDs))
	for i, icalUID := range icalUIDs {
		of := &all[i]
		*of = common
		of.Connections = slices.Clone(common.Connections)
		of.Events = slices.DeleteFunc(slices.Clone(events), func(e mirror.Event) bool { return e.ICalUID != icalUID })
		of.Mirrors = slices.DeleteFunc(slices.Clone(shown), func(m mirror.Mirror) bool { return m.ICalUID != icalUID })
		groups, err := mirror.OfGroupsUID(ctx, reader, groupsOf(of.Connections), icalUID)
		if err != nil {
			return nil, err
		}
		for _, event := range groups {
			of.put(event)
		}
		if err := of.loadEarlier(ctx, reader); err != nil {
			return nil, err
		}
		if err := of.leaveFormerGroups(ctx, reader); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// situationOf reads the part of a person's situations that no iCalUID is needed for.
func (s *Service) situationOf(ctx context.Context, reader store.Reader, ownerID string) (of situation, err error) {
	of = situation{Situation: plan.Situation{Owner: ownerID, Now: s.now(), MostExceptions: s.MostExceptions}}
	of.person, err = mirror.LoadPerson(ctx, reader, ownerID)
	if err != nil {
		return of, err
	}
	policies, err := mirror.PoliciesOf(ctx, reader, ownerID)
	if err != nil {
		return of, err
	}
	for _, policy := range policies {
		of.Edges = append(of.Edges, policy.Edges...)
	}
	of.Connections, err = mirror.ConnectionsOf(ctx, reader, ownerID)
	if err != nil {
		return of, err
	}
	linked, err := accounts.OfOwner(ctx, reader, ownerID)
	of.Accounts = situated(linked, of.person)
	return of, err
}

// follows reports whether an event is of a calendar of the person.
func (of *situation) follows(e mirror.Event) bool { return e.OwnerID == of.Owner && e.AccountID != "" }

// put adds an event, or replaces the one with its id.
func (of *situation) put(event mirror.Event) {
	i := slices.IndexFunc(of.Events, func(other mirror.Event) bool { return other.ID == event.ID })
	if i < 0 {
		of.Events = append(of.Events, event)
		return
	}
	of.Events[i] = event
}

// seriesOf is the series of an exception; known is false if it is not among the events.
func (of *situation) seriesOf(event mirror.Event) (series mirror.Event, known bool) {
	i := slices.IndexFunc(of.Events, func(other mirror.Event) bool { return isSeriesOf(other, event) })
	if i < 0 {
		return mirror.Event{}, false
	}
	return of.Events[i], true
}

// wentWithSeries reports whether an event is an exception that is cancelled, as its series is: no
// calendar shows it any more.
func (of *situation) wentWithSeries(id string) bool {
	i := slices.IndexFunc(of.Events, func(e mirror.Event) bool { return e.ID == id })
	if i < 0 || of.Events[i].Status != cancelled || of.Events[i].SeriesID == "" {
		return false
	}
	series, known := of.seriesOf(of.Events[i])
	return !known || series.Status == cancelled
}

// putMirror adds a mirror, or replaces the one with its id.
func (of *situation) putMirror(m mirror.Mirror) {
	i := slices.IndexFunc(of.Mirrors, func(other mirror.Mirror) bool { return other.ID == m.ID })
	if i < 0 {
		of.Mirrors = append(of.Mirrors, m)
		return
	}
	of.Mirrors[i] = m
}

// dropMirror removes a mirror.
func (of *situation) dropMirror(id string) {
	of.Mirrors = slices.DeleteFunc(of.Mirrors, func(m mirror.Mirror) bool { return m.ID == id })
}

// situated are a person's linked accounts as plans know them.
func situated(linked []accounts.Account, person mirror.Person) map[string]plan.Account {
	all := map[string]plan.Account{}
	for _, account := range linked {
		if account.Status == accounts.Unlinked {
			continue
		}
		all[account.ID] = plan.Account{
			Usable: account.Usable() == nil, PrimaryID: primaryOf(account), Overlay: person.Overlays[account.ID],
		}
	}
	return all
}

// primaryOf is the real id of an account's primary calendar; "" if it is unknown.
func primaryOf(account accounts.Account) string {
	if id := account.Primary(); id != "primary" {
		return id
	}
	return ""
}

// isAddressOf reports whether a calendar's id is the address of an account, by which Google
// also knows its primary calendar, in whatever case.
func isAddressOf(account accounts.Account, calendarID string) bool {
	return calendarID != "" && strings.EqualFold(calendarID, account.Email)
}

func groupsOf(connections []mirror.Connection) (ids []string) {
	for _, connection := range connections {
		ids = append(ids, connection.GroupID)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// isOverlay reports whether a calendar is one of the person's overlay calendars, by whichever
// account it is reached.
func isOverlay(person mirror.Person, calendarID string) bool {
	for _, overlay := range person.Overlays {
		if overlay.CalendarID == calendarID && calendarID != "" {
			return true
		}
	}
	return false
}
