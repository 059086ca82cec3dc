package api

import (
	"cmp"
	"context"
	"time"

	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
	"questscheduler/mirrors"
	"questscheduler/scheduler"
)

// Events is implemented by mirrors.Events. What is not the person's is NotFound.
type Events interface {
	// List passes the events of a range to take, by start, until it returns false.
	List(
		ctx context.Context, ownerID string, in mirrors.Range, part store.Paging, take func(mirrors.Shown) (bool, error),
	) (*store.Cursor, error)
	Get(ctx context.Context, ownerID, id string) (mirrors.Shown, error)
	// Create makes an event in one of the person's calendars. request names the request,
	// so that the same one again finds the first event.
	Create(ctx context.Context, ownerID, request string, event mirrors.NewEvent, cause scheduler.Cause) (mirrors.Shown, error)
	Change(ctx context.Context, ownerID, id string, change mirrors.Change, cause scheduler.Cause) (mirrors.Shown, error)
	// Delete removes an event; demand is mirrors.Change.Demand.
	Delete(ctx context.Context, ownerID, id string, demand func(mirrors.Shown) error, cause scheduler.Cause) error
	// Journal passes the journal of an event to take, newest first, until it returns false.
	Journal(ctx context.Context, ownerID, id string, part store.Paging, take func(mirror.JournalEntry) (bool, error)) (*store.Cursor, error)
}

func (s *server) eventRoutes() {
	route(s, "GET /v1/events", "list-events", persons,
		"The events of the caller's calendars that mirroring follows, as one list by start, with the mirrors of each", s.listEvents)
	route(s, "POST /v1/events", "create-event", persons,
		"Make an event in one of the caller's accounts", s.createEvent, created, keyed)
	taggedRoute(s, "GET /v1/events/{id}", "get-event", mirroringOwner,
		"An event with its mirrors; a series as one event, or one occurrence of it",
		s.getEvent, ifNoneMatch)
	taggedRoute(s, "PATCH /v1/events/{id}", "update-event", mirroringOwner,
		"Change an event, or one occurrence of a series, in its calendar; absent fields stay, and its mirrors follow", s.updateEvent, ifMatch)
	route(s, "DELETE /v1/events/{id}", "delete-event", mirroringOwner,
		"Delete an event, or one occurrence of a series, from its calendar, with its mirrors; the event of a poll is cancelled "+
			"by its poll", s.deleteEvent, ifMatch)
	route(s, "GET /v1/events/{id}/journal", "event-journal", mirroringOwner,
		"Who made, changed or deleted an event, and what became of its mirrors, newest first; also of a deleted event", s.eventJournal)
}

type listEvents struct {
	Start     time.Time `query:"start" required:"true" doc:"The range's start, inclusive."`
	End       time.Time `query:"end" required:"true" doc:"The range's end, exclusive; at most 366 days after start."`
	AccountID accountID `query:"account_id" doc:"Only events of this account."`
	Status    string    `query:"status" enum:"confirmed,tentative,cancelled" doc:"Only events of this status; absent: all but cancelled ones."`
	Limit     int       `query:"limit" minimum:"1" maximum:"500" default:"100" doc:"The maximum number of events; a page also ends before its events exceed 1 MiB."`
	Cursor    string    `query:"cursor" maxLength:"4096" doc:"Where to continue: meta.next_cursor of the previous page."`
}

type eventList struct {
	page
	Events []eventAnswer `json:"events"`
}

type eventAnswer struct {
	ID               string         `json:"canonical_event_id"`
	OccurrenceID     *string        `json:"occurrence_id" doc:"The address of an occurrence of a series, under which it is read, changed and deleted alone: the series' id and the start by its rule in UTC; null for others."`
	OriginAccountID  *string        `json:"origin_account_id" doc:"Null for an event of a group."`
	OriginCalendarID *string        `json:"origin_calendar_id"`
	Title            string         `json:"title"`
	Description      string         `json:"description"`
	Location         string         `json:"location"`
	Start            time.Time      `json:"start_ts" doc:"Of the occurrence; of an all-day event midnight UTC of its first day."`
	End              time.Time      `json:"end_ts" doc:"Exclusive; of an all-day event midnight UTC after its last day."`
	TimeZone         *string        `json:"timezone"`
	AllDay           bool           `json:"all_day"`
	Status           string         `json:"status" enum:"confirmed,tentative,cancelled"`
	Visibility       string         `json:"visibility"`
	Transparency     string         `json:"transparency"`
	Declined         bool           `json:"declined" doc:"The caller declined the invitation."`
	Recurrence       []string       `json:"recurrence" doc:"The rules of a series; in lists, each occurrence is an item of its own, unless the rules cannot be expanded."`
	Source           string         `json:"source" enum:"provider,api,poll,group"`
	PollID           *string        `json:"poll_id"`
	GroupID          *string        `json:"group_id"`
	Version          int64          `json:"version"`
	Mirrors          []mirrorAnswer `json:"mirrors"`
}

type mirrorAnswer struct {
	TargetAccountID string     `json:"target_account_id"`
	State           string     `json:"state" enum:"PENDING,ACTIVE,DELETING,SUPPRESSED,COVERED,CONTESTED,ERROR"`
	LastWrite       *time.Time `json:"last_write_ts"`
	Error           *string    `json:"error,omitempty" doc:"Why it cannot be written."`
}

func answerMirror(m mirror.Mirror) mirrorAnswer {
	return mirrorAnswer{
		TargetAccountID: m.TargetAccountID, State: string(m.State), LastWrite: instant(m.LastWrite), Error: optional(m.LastError),
	}
}

func answerEvent(shown mirrors.Shown) eventAnswer {
	e := shown.Event
	return eventAnswer{
		ID: e.ID, OccurrenceID: optional(shown.OccurrenceID), OriginAccountID: optional(e.AccountID), OriginCalendarID: optional(e.CalendarID),
		Title: e.Title, Description: e.Description, Location: e.Location,
		Start: shown.Begins.UTC(), End: shown.Ends.UTC(), TimeZone: optional(e.Start.Zone), AllDay: e.Start.AllDay(),
		Status: e.Status, Visibility: e.Visibility, Transparency: e.Transparency, Declined: e.Declined,
		Recurrence: append([]string{}, e.Recurrence...), Source: string(e.Source),
		PollID: optional(e.PollID), GroupID: optional(e.GroupID), Version: e.Version,
		Mirrors: each(shown.Mirrors, answerMirror),
	}
}

func (s *server) listEvents(ctx context.Context, by caller, in *listEvents) (eventList, error) {
	within := mirrors.Range{Start: in.Start, End: in.End, AccountID: string(in.AccountID), Status: in.Status}
	place := listing{name: "events of " + by.person.ID + within.String(), collection: "canonicalEvents"}
	asked := Paging{Limit: in.Limit, Cursor: in.Cursor}
	events, is, err := listed(place, asked, answerEvent,
		func(part store.Paging, take func(mirrors.Shown) (bool, error)) (*store.Cursor, error) {
			return s.Events.List(ctx, by.person.ID, within, part, take)
		})
	return eventList{page: is, Events: events}, err
}

type onEvent struct {
	ID string `path:"id" doc:"The event's id, evt_…, or the address of an occurrence of a series, evt_…_20261210T190000Z."`
}

func (s *server) getEvent(ctx context.Context, by caller, in *onEvent) (eventAnswer, error) {
	shown, err := s.Events.Get(ctx, by.person.ID, in.ID)
	return answerEvent(shown), err
}

type createEventBody struct {
	AccountID    documentID `json:"account_id" doc:"A linked account of the caller."`
	CalendarID   calendarID `json:"calendar_id,omitempty" doc:"Absent: the account's primary calendar."`
	Title        string     `json:"title" minLength:"1" maxLength:"1000"`
	Description  string     `json:"description,omitempty" maxLength:"8000"`
	Location     string     `json:"location,omitempty" maxLength:"1000"`
	Start        time.Time  `json:"start_ts"`
	End          time.Time  `json:"end_ts" doc:"After start_ts."`
	TimeZone     string     `json:"timezone,omitempty" maxLength:"64" doc:"An IANA zone, in which a series keeps its wall time; absent: UTC."`
	AllDay       bool       `json:"all_day,omitempty" doc:"Takes whole days: the date of a midnight UTC, of other times the day in timezone; the end is exclusive."`
	Recurrence   []string   `json:"recurrence,omitempty" maxItems:"50" doc:"RRULE, RDATE and EXDATE lines of RFC 5545."`
	Transparency string     `json:"transparency,omitempty" enum:"opaque,transparent" default:"opaque"`
	Visibility   string     `json:"visibility,omitempty" enum:"default,private" default:"default"`
}

func (s *server) createEvent(ctx context.Context, by caller, in *withBody[createEventBody]) (eventAnswer, error) {
	b := in.Body
	asked := mirrors.NewEvent{
		AccountID: string(b.AccountID), CalendarID: string(b.CalendarID), Title: b.Title, Description: b.Description, Location: b.Location,
		Start: b.Start, End: b.End, TimeZone: b.TimeZone, AllDay: b.AllDay, Recurrence: b.Recurrence,
		Transparency: b.Transparency, Visibility: b.Visibility,
	}
	create := func(ctx context.Context, t try) (eventAnswer, error) {
		shown, err := s.Events.Create(ctx, by.person.ID, cmp.Or(t.id, requestOf(ctx).id), asked, by.cause)
		return answerEvent(shown), err
	}
	return once(ctx, s, by, command[eventAnswer]{route: "POST /v1/events", body: in.Body, do: create, read: create})
}

type updateEvent struct {
	ID   string `path:"id" doc:"The event's id, evt_…, or the address of an occurrence of a series, evt_…_20261210T190000Z."`
	Body updateEventBody
}

type updateEventBody struct {
	Title       *string    `json:"title,omitempty" minLength:"1" maxLength:"1000"`
	Description *string    `json:"description,omitempty" maxLength:"8000"`
	Location    *string    `json:"location,omitempty" maxLength:"1000"`
	Start       *time.Time `json:"start_ts,omitempty" doc:"Together with end_ts; of a series that of its first occurrence, on the same day."`
	End         *time.Time `json:"end_ts,omitempty" doc:"Together with start_ts."`
	TimeZone    *string    `json:"timezone,omitempty" maxLength:"64"`
	AllDay      *bool      `json:"all_day,omitempty" doc:"Together with start_ts and end_ts, of which it takes the days."`
}

func (s *server) updateEvent(ctx context.Context, by caller, in *updateEvent) (eventAnswer, error) {
	b := in.Body
	shown, err := s.Events.Change(ctx, by.person.ID, in.ID, mirrors.Change{
		Title: b.Title, Description: b.Description, Location: b.Location, Start: b.Start, End: b.End, TimeZone: b.TimeZone, AllDay: b.AllDay,
		Demand: unchangedEvent(tagsOf(ctx)),
	}, by.cause)
	return answerEvent(shown), err
}

type deleteEventAnswer struct {
	Deleted bool `json:"deleted" doc:"true: it is gone from its calendar; its mirrors follow."`
}

func (s *server) deleteEvent(ctx context.Context, by caller, in *onEvent) (deleteEventAnswer, error) {
	return deleteEventAnswer{Deleted: true}, s.Events.Delete(ctx, by.person.ID, in.ID, unchangedEvent(tagsOf(ctx)), by.cause)
}

type listEventJournal struct {
	Paging
	ID string `path:"id" doc:"The event's id, evt_…, or the address of an occurrence of a series, evt_…_20261210T190000Z."`
}

func (s *server) eventJournal(ctx context.Context, by caller, in *listEventJournal) (journalList, error) {
	place := listing{name: "journal of " + in.ID, collection: "mirrorJournal", within: "canonicalEvents"}
	entries, is, err := listed(place, in.Paging, answerMirrorEntry,
		func(part store.Paging, take func(mirror.JournalEntry) (bool, error)) (*store.Cursor, error) {
			return s.Events.Journal(ctx, by.person.ID, in.ID, part, take)
		})
	return journalList{page: is, Entries: entries}, err
}
