package mirror

import (
	"context"
	"iter"
	"slices"
	"time"

	"questscheduler/internal/store"
)

const (
	events      = "canonicalEvents"
	mirrors     = "mirrors"
	policies    = "mirrorPolicies"
	people      = "mirrorPeople"
	connections = "groupConnections"
)

var (
	eventByOrigin  = store.Select("canonical event of an origin", events, "", store.Where("originKey", store.Equal))
	eventsByOrigin = store.Select("canonical events of some origins", events, "", store.Where("originKey", store.In))
	eventsOfUIDs   = store.Select("canonical events of a person with some iCalUIDs", events, "",
		store.Where("ownerId", store.Equal), store.Where("icalUid", store.In))
	groupEventsOfUID = store.Select("canonical events of groups with one iCalUID", events, "",
		store.Where("icalUid", store.Equal), store.Where("groupId", store.In))
	eventsOfCalendar = store.Select("canonical events of a calendar", events, "", store.Where("accountId", store.Equal),
		store.Where("calendarId", store.Equal))
	eventsOfAccount = store.Select("canonical events of an account", events, "", store.Where("accountId", store.Equal))
	eventsEnding    = store.Select("canonical events of a person by end", events, "until",
		store.Where("ownerId", store.Equal), store.Where("until", store.Greater))
	eventsBeginning = store.Select("canonical events of a person that begin at a time", events, "",
		store.Where("ownerId", store.Equal), store.Where("from", store.Equal))
	eventsToPlan = store.Select("canonical events that time changes", events, "planAt", store.Where("planAt", store.LessOrEqual))

	mirrorsOfUIDs = store.Select("mirrors of a person with some iCalUIDs", mirrors, "", store.Where("ownerId", store.Equal),
		store.Where("icalUid", store.In))
	mirrorsOfEvent  = store.Select("mirrors of a canonical event", mirrors, "", store.Where("canonicalId", store.Equal))
	mirrorsOfEvents = store.Select("mirrors of a person's canonical events", mirrors, "",
		store.Where("ownerId", store.Equal), store.Where("canonicalId", store.In))
	mirrorsInCalendar = store.Select("mirrors in a calendar", mirrors, "", store.Where("targetAccountId", store.Equal),
		store.Where("targetCalendarId", store.Equal))
	mirrorsDue     = store.Select("mirrors by due", mirrors, "due", store.Where("due", store.LessOrEqual))
	mirrorsInState = store.Select("mirrors in some states", mirrors, "", store.Where("state", store.In))
	mirrorsOfOwner = store.Select("mirrors of a person in some states", mirrors, "", store.Where("ownerId", store.Equal),
		store.Where("state", store.In))
	mirrorsIntoState = store.Select("mirrors into an account in some states", mirrors, "",
		store.Where("targetAccountId", store.Equal), store.Where("state", store.In))
	mirrorsTo = store.Select("mirrors into an account", mirrors, "", store.Where("targetAccountId", store.Equal))

	policiesOfOwner = store.Select("policies of a person", policies, "", store.Where("ownerId", store.Equal))
	mirrorsEnding   = store.Select("mirrors of a person by end", mirrors, "ends", store.Where("ownerId", store.Equal),
		store.Where("ends", store.Greater))
	groupEventsEnding = store.Select("canonical events of a group by end", events, "until",
		store.Where("groupId", store.Equal), store.Where("until", store.Greater))
	peopleToPlan = store.Select("people whose events must be planned", people, "planDue", store.Where("planDue", store.LessOrEqual))

	journalOf = &store.Query{
		Name: "journal of a canonical event, newest first", Collection: journals,
		Order: []store.Order{{Path: store.Field("at"), Descending: true}},
	}
	journalsOfOwner = &store.Query{
		Name: "journals of a person's canonical events and mirrors, newest first", Collection: journals, Group: true,
		Filters: []store.Filter{store.Where("ownerId", store.Equal)}, Order: []store.Order{{Path: store.Field("at"), Descending: true}},
	}
	entriesBefore = &store.Query{
		Name: "journal entries of canonical events from before a time", Collection: journals, Group: true,
		Filters: []store.Filter{store.Where("at", store.Less)}, Order: []store.Order{{Path: store.Field("at")}},
	}
)

// Queries are the package's queries, for opening a store.
var Queries = slices.Concat(ofPeople.queries(), ofAccounts.queries(), ofGroups.queries(), []*store.Query{
	connectionsOfPeople, mirrorsOfConnection, keptOfConnection,
	eventByOrigin, eventsByOrigin, eventsOfUIDs, groupEventsOfUID, eventsOfCalendar, eventsOfAccount,
	eventsEnding, eventsBeginning, eventsToPlan,
	mirrorsOfUIDs, mirrorsOfEvent, mirrorsOfEvents, mirrorsInCalendar, mirrorsByEvent, keptByEvent, mirrorsDue, mirrorsInState,
	mirrorsOfOwner, mirrorsIntoState, mirrorsTo,
	policiesOfOwner, peopleToPlan, connectionsOfGroup, connectionsOfOwner, connectionsOfAccount, journalOf, journalsOfOwner,
	entriesBefore, mirrorsEnding, groupEventsEnding,
})

// OfOrigin reads the canonical event of an origin; ok is false if there is none.
func OfOrigin(ctx context.Context, reader store.Reader, accountID, calendarID, eventID string) (event Event, ok bool, err error) {
	found, _, err := store.Page(ctx, reader, eventByOrigin.With(OriginKey(accountID, calendarID, eventID)).First(1), DecodeEvent)
	if err != nil || len(found) == 0 {
		return Event{}, false, err
	}
	return found[0], true, nil
}

// OfOrigins reads the canonical events of some events of a calendar, by their ids there, with
// one query for each 30.
func OfOrigins(ctx context.Context, reader store.Reader, accountID, calendarID string, eventIDs []string) (map[string]Event, error) {
	known := map[string]Event{}
	for some := range slices.Chunk(eventIDs, maxIn) {
		keys := make([]string, len(some))
		for i, eventID := range some {
			keys[i] = OriginKey(accountID, calendarID, eventID)
		}
		found, _, err := store.Page(ctx, reader, eventsByOrigin.With(keys), DecodeEvent)
		if err != nil {
			return nil, err
		}
		for _, event := range found {
			known[event.EventID] = event
		}
	}
	return known, nil
}

// OfUIDs lists the canonical events of a person with some iCalUIDs, with one query for each 30:
// of each the copies of a meeting in their calendars, a series and its exceptions.
func OfUIDs(ctx context.Context, reader store.Reader, ownerID string, icalUIDs []string) (all []Event, err error) {
	for some := range slices.Chunk(icalUIDs, maxIn) {
		found, _, err := store.Page(ctx, reader, eventsOfUIDs.With(ownerID, some), DecodeEvent)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// BeginningAt lists at most limit canonical events of a person whose From is a time.
func BeginningAt(ctx context.Context, reader store.Reader, ownerID string, from time.Time, limit int) ([]Event, error) {
	found, _, err := store.Page(ctx, reader, eventsBeginning.With(ownerID, from).First(limit), DecodeEvent)
	return found, err
}

// maxIn is how many values an In filter takes.
const maxIn = 30

// OfGroupsUID lists the events of some groups with one iCalUID, of all owners.
func OfGroupsUID(ctx context.Context, reader store.Reader, groupIDs []string, icalUID string) (all []Event, err error) {
	for len(groupIDs) > 0 {
		some := groupIDs[:min(maxIn, len(groupIDs))]
		groupIDs = groupIDs[len(some):]
		found, _, err := store.Page(ctx, reader, groupEventsOfUID.With(icalUID, some), DecodeEvent)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// OfCalendar yields the canonical events of a calendar, by id.
func OfCalendar(ctx context.Context, reader store.Reader, accountID, calendarID string) iter.Seq2[Event, error] {
	return store.All(ctx, reader, eventsOfCalendar.With(accountID, calendarID), DecodeEvent)
}

// SomeOfCalendar lists a page of the canonical events of a calendar, by id. next is nil at the end.
func SomeOfCalendar(
	ctx context.Context, reader store.Reader, accountID, calendarID string, part store.Paging,
) (found []Event, next *store.Cursor, err error) {
	return store.Page(ctx, reader, eventsOfCalendar.With(accountID, calendarID).Paged(part), DecodeEvent)
}

// SomeOfAccount lists a page of the canonical events of an account, by id. next is nil at the end.
func SomeOfAccount(
	ctx context.Context, reader store.Reader, accountID string, part store.Paging,
) (found []Event, next *store.Cursor, err error) {
	return store.Page(ctx, reader, eventsOfAccount.With(accountID).Paged(part), DecodeEvent)
}

// OfAccount yields the canonical events of an account, by id.
func OfAccount(ctx context.Context, reader store.Reader, accountID string) iter.Seq2[Event, error] {
	return store.All(ctx, reader, eventsOfAccount.With(accountID), DecodeEvent)
}

// Ending asks for at most Limit of what ends after a time, soonest first, behind At ("": the
// first).
type Ending struct {
	After time.Time
	Limit int
	At    string
}

// EndingAfter lists canonical events of a person. next is the At to continue with; "" at the
// end.
func EndingAfter(ctx context.Context, reader store.Reader, ownerID string, asked Ending) (page []Event, next string, err error) {
	return endingPage(ctx, reader, eventsEnding.With(ownerID, asked.After), asked, DecodeEvent)
}

// OfGroupEndingAfter is EndingAfter for the events of a group.
func OfGroupEndingAfter(ctx context.Context, reader store.Reader, groupID string, asked Ending) (page []Event, next string, err error) {
	return endingPage(ctx, reader, groupEventsEnding.With(groupID, asked.After), asked, DecodeEvent)
}

// MirrorsEndingAfter is EndingAfter for the mirrors of a person.
func MirrorsEndingAfter(ctx context.Context, reader store.Reader, ownerID string, asked Ending) (page []Mirror, next string, err error) {
	return endingPage(ctx, reader, mirrorsEnding.With(ownerID, asked.After), asked, Decode)
}

func endingPage[T any](
	ctx context.Context, reader store.Reader, query store.Bound, asked Ending, decode func(store.Document) T,
) (page []T, next string, err error) {
	after := store.DecodeCursor(asked.At, query.Query.Collection)
	page, behind, err := store.Page(ctx, reader, query.Paged(store.Paging{Limit: asked.Limit, After: after}), decode)
	if err == nil {
		next, err = store.EncodeCursor(behind)
	}
	return page, next, err
}

// ToPlan yields canonical events whose PlanAt has come, those due longest first.
func ToPlan(ctx context.Context, reader store.Reader, now time.Time) iter.Seq2[store.Document, error] {
	return store.All(ctx, reader, eventsToPlan.With(now), asStored)
}

// MirrorsOfUIDs lists a person's mirrors with some iCalUIDs, with one query for each 30.
func MirrorsOfUIDs(ctx context.Context, reader store.Reader, ownerID string, icalUIDs []string) (all []Mirror, err error) {
	for some := range slices.Chunk(icalUIDs, maxIn) {
		found, _, err := store.Page(ctx, reader, mirrorsOfUIDs.With(ownerID, some), Decode)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// OfEvent lists the mirrors of a canonical event, for a group's event those of all people.
func OfEvent(ctx context.Context, reader store.Reader, canonicalID string) ([]Mirror, error) {
	found, _, err := store.Page(ctx, reader, mirrorsOfEvent.With(canonicalID), Decode)
	return found, err
}

// SomeOfEvent lists at most limit mirrors of a canonical event.
func SomeOfEvent(ctx context.Context, reader store.Reader, canonicalID string, limit int) ([]Mirror, error) {
	found, _, err := store.Page(ctx, reader, mirrorsOfEvent.With(canonicalID).First(limit), Decode)
	return found, err
}

// OfEvents lists a person's mirrors of canonical events, by one query for each 30.
func OfEvents(ctx context.Context, reader store.Reader, ownerID string, canonicalIDs []string) (all []Mirror, err error) {
	for some := range slices.Chunk(canonicalIDs, maxIn) {
		found, _, err := store.Page(ctx, reader, mirrorsOfEvents.With(ownerID, some), Decode)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// InCalendar yields the mirrors whose target is a calendar, by id.
func InCalendar(ctx context.Context, reader store.Reader, accountID, calendarID string) iter.Seq2[Mirror, error] {
	return store.All(ctx, reader, mirrorsInCalendar.With(accountID, calendarID), Decode)
}

// Due yields mirrors that are due at now, those due longest first.
func Due(ctx context.Context, reader store.Reader, now time.Time) iter.Seq2[store.Document, error] {
	return DueBehind(ctx, reader, now, nil)
}

// DueBehind is Due behind a cursor of due time and path; nil: from the first.
func DueBehind(ctx context.Context, reader store.Reader, now time.Time, behind *store.Cursor) iter.Seq2[store.Document, error] {
	return store.All(ctx, reader, mirrorsDue.With(now).From(behind), asStored)
}

// InState lists at most limit mirrors in some states, for counting. ownerID "" is everybody.
func InState(ctx context.Context, reader store.Reader, ownerID string, limit int, states ...State) ([]Mirror, error) {
	asked := mirrorsInState.With(texts(states))
	if ownerID != "" {
		asked = mirrorsOfOwner.With(ownerID, texts(states))
	}
	found, _, err := store.Page(ctx, reader, asked.First(limit), Decode)
	return found, err
}

// IntoAccountInState lists at most limit mirrors into an account in some states, for
// counting.
func IntoAccountInState(ctx context.Context, reader store.Reader, accountID string, limit int, states ...State) ([]Mirror, error) {
	found, _, err := store.Page(ctx, reader, mirrorsIntoState.With(accountID, texts(states)).First(limit), Decode)
	return found, err
}

// OldestDue is when the mirror was due that is due longest; zero if none is.
func OldestDue(ctx context.Context, reader store.Reader, now time.Time) (time.Time, error) {
	found, _, err := store.Page(ctx, reader, mirrorsDue.With(now).First(1), Decode)
	if err != nil || len(found) == 0 {
		return time.Time{}, err
	}
	return found[0].Due, nil
}

func texts(states []State) (all []string) {
	for _, state := range states {
		all = append(all, string(state))
	}
	return all
}

// IntoAccount yields the mirrors whose target is an account, by id.
func IntoAccount(ctx context.Context, reader store.Reader, accountID string) iter.Seq2[Mirror, error] {
	return store.All(ctx, reader, mirrorsTo.With(accountID), Decode)
}

// PoliciesOf lists a person's policies, by id.
func PoliciesOf(ctx context.Context, reader store.Reader, ownerID string) ([]Policy, error) {
	found, _, err := store.Page(ctx, reader, policiesOfOwner.With(ownerID), DecodePolicy)
	return found, err
}

// PeopleToPlan yields the documents of people whose PlanDue has come, those due longest first.
func PeopleToPlan(ctx context.Context, reader store.Reader, now time.Time) iter.Seq2[store.Document, error] {
	return store.All(ctx, reader, peopleToPlan.With(now), asStored)
}

func asStored(doc store.Document) store.Document { return doc }

// CountPeopleToPlan counts the people whose events must be planned, now or later, up to limit.
func CountPeopleToPlan(ctx context.Context, reader store.Reader, limit int) (int, error) {
	found, _, err := store.Page(ctx, reader, peopleToPlan.With(endless).First(limit), asStored)
	return len(found), err
}

// LoadJournal lists at most limit entries of a canonical event's journal behind a cursor,
// newest first.
func LoadJournal(ctx context.Context, reader store.Reader, eventID string, part store.Paging) ([]JournalEntry, *store.Cursor, error) {
	return store.Page(ctx, reader, journalOf.With().Below(EventPath(eventID)).Paged(part), DecodeEntry)
}

// WalkJournal passes the entries of a canonical event's journal behind a cursor to take, newest
// first, as store.Walk does.
func WalkJournal(
	ctx context.Context, reader store.Reader, eventID string, part store.Paging,
	take func(JournalEntry) (taken bool, err error),
) (next *store.Cursor, err error) {
	return store.Walk(ctx, reader, journalOf.With().Below(EventPath(eventID)).Paged(part), DecodeEntry, take)
}

// Journals is the query for all entries of a person's canonical events and mirrors, newest
// first.
func Journals(ownerID string) store.Bound { return journalsOfOwner.With(ownerID) }

// Journal yields the journal of a canonical event, newest first.
func Journal(ctx context.Context, reader store.Reader, eventID string) iter.Seq2[JournalEntry, error] {
	return store.All(ctx, reader, journalOf.With().Below(EventPath(eventID)), DecodeEntry)
}

// RemoveOldEntries removes at most limit journal entries from before a time, and returns how
// many.
func RemoveOldEntries(ctx context.Context, documents store.Store, before time.Time, limit int) (removed int, err error) {
	return store.DeletePage(ctx, documents, entriesBefore.With(before).First(limit), nil)
}
