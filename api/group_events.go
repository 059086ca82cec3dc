package api

import (
	"context"
	"errors"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"questscheduler/fault"
	"questscheduler/groupevents"
	"questscheduler/internal/ids"
	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
)

// groupEventRoutes are the routes of the events that a group shares.
func (s *server) groupEventRoutes() {
	route(s, "POST /v1/groups/{id}/events", "create-group-event", groupMembers,
		"Make an event that shows in every account connected to the group; at most 200 a day and 1,000 in all of one author",
		s.createGroupEvent, created, keyed)
	route(s, "GET /v1/groups/{id}/events", "list-group-events", groupMembers,
		"The group's events, newest first, without their descriptions", s.listGroupEvents)
	route(s, "GET /v1/groups/{id}/events/{ref}", "get-group-event", groupMembers, "An event of the group", s.getGroupEvent)
	route(s, "PATCH /v1/groups/{id}/events/{ref}", "update-group-event", groupEventAuthors,
		"Change an event in every connected account, once it has settled; absent fields stay. Its author may, and the "+
			"group's creator", s.updateGroupEvent)
	route(s, "DELETE /v1/groups/{id}/events/{ref}", "delete-group-event", groupEventAuthors,
		"Delete an event from every connected account. Its author may, and the group's creator", s.deleteGroupEvent)
}

type groupEventAnswer struct {
	ID          string         `json:"id"`
	Ref         string         `json:"ref" doc:"The short reference, such as EVT-01JBZQ8F."`
	Title       string         `json:"title"`
	Start       string         `json:"start" doc:"A day, or a time with its offset."`
	End         string         `json:"end" doc:"As start; a day is exclusive."`
	AllDay      bool           `json:"all_day"`
	Timezone    *string        `json:"timezone"`
	Location    string         `json:"location"`
	Description *string        `json:"description,omitempty" doc:"Absent in lists."`
	Status      string         `json:"status" enum:"confirmed,cancelled" doc:"cancelled: it was just deleted, and goes from the accounts."`
	AuthorID    string         `json:"author_id"`
	Version     int64          `json:"version" doc:"Grows with each change."`
	CreatedAt   time.Time      `json:"created_at"`
	UpdatedAt   time.Time      `json:"updated_at"`
	Mirrors     []mirrorAnswer `json:"mirrors" doc:"The caller's own: where the event shows in their connected accounts."`
}

func answerListedEvent(e groupevents.View) groupEventAnswer {
	return groupEventAnswer{
		ID: e.ID, Ref: groupevents.Ref(e.ID), Title: e.Title, Start: groupevents.Text(e.Start), End: groupevents.Text(e.End),
		AllDay: e.Start.AllDay(), Timezone: optional(e.Start.Zone), Location: e.Location, Status: "confirmed", AuthorID: e.OwnerID,
		Version: e.Version, CreatedAt: e.CreatedAt, UpdatedAt: e.UpdatedAt, Mirrors: each(e.Mirrors, answerMirror),
	}
}

func answerGroupEvent(view groupevents.View) groupEventAnswer {
	answer := answerListedEvent(view)
	answer.Description, answer.Status = &view.Description, view.Status
	return answer
}

type groupEventBody struct {
	Title       string `json:"title" minLength:"1" maxLength:"200"`
	Start       string `json:"start" maxLength:"40" doc:"A day such as 2026-03-10, or a time with an offset such as 2026-03-10T19:00:00+01:00."`
	End         string `json:"end" maxLength:"40" doc:"As start; a day is the one after the last."`
	Timezone    string `json:"timezone,omitempty" maxLength:"64" doc:"The IANA zone in which the times are shown, such as Europe/Berlin; not for days."`
	Location    string `json:"location,omitempty" maxLength:"500"`
	Description string `json:"description,omitempty" maxLength:"8000"`
}

type createGroupEvent struct {
	ID   string `path:"id" doc:"The group's id."`
	Body groupEventBody
}

func (s *server) createGroupEvent(ctx context.Context, by caller, in *createGroupEvent) (groupEventAnswer, error) {
	return once(ctx, s, by, command[groupEventAnswer]{
		route: "POST /v1/groups/" + in.ID + "/events", body: in.Body,
		do: func(ctx context.Context, t try) (groupEventAnswer, error) {
			view, err := s.GroupEvents.Create(
				ctx, by.person, in.ID, groupevents.Create{ID: t.eventID(), Input: groupevents.Input(in.Body)}, by.cause,
			)
			return answerGroupEvent(view), err
		},
		read: func(ctx context.Context, t try) (groupEventAnswer, error) {
			view, err := s.GroupEvents.Get(ctx, by.person, groupevents.Reference{GroupID: in.ID, ID: t.eventID()})
			return answerGroupEvent(view), err
		},
	})
}

// eventID is the id of the event that a try makes, the same for each try; "" without a key.
func (t try) eventID() string {
	if t.id == "" {
		return ""
	}
	return "evt_" + ids.ULIDOf(t.since, t.id)
}

type listGroupEvents struct {
	ID string `path:"id" doc:"The group's id."`
	Paging
}

type groupEventList struct {
	page
	Events []groupEventAnswer `json:"events"`
}

func (s *server) listGroupEvents(ctx context.Context, by caller, in *listGroupEvents) (groupEventList, error) {
	place := listing{name: "events of group " + in.ID, collection: "canonicalEvents"}
	events, is, err := listed(place, in.Paging, answerListedEvent,
		func(part store.Paging, take func(groupevents.View) (bool, error)) (*store.Cursor, error) {
			return s.GroupEvents.List(ctx, by.person, in.ID, part, take)
		})
	return groupEventList{page: is, Events: events}, err
}

// GroupEventRef names an event of a group, in the paths of its routes; for embedding.
type GroupEventRef struct {
	ID    string `path:"id" doc:"The group's id."`
	Ref   string `path:"ref" doc:"The event's id, its first eight characters, its EVT- form, latest, or title with the parameter of that name. Several matches are 409 with the candidates."`
	Title string `query:"title" maxLength:"200" doc:"Part of the title of one of the fifty latest events; only with the reference title."`
}

func (r GroupEventRef) reference() (groupevents.Reference, error) {
	return groupevents.ParseReference(r.ID, r.Ref, r.Title)
}

// checkTitle refuses a title that does not belong to the reference in the path.
func checkTitle(ctx huma.Context) (huma.Context, error) {
	if _, err := groupevents.ParseReference(ctx.Param("id"), ctx.Param("ref"), ctx.Query("title")); fault.Is(err, fault.Invalid) {
		return nil, err
	}
	return ctx, nil
}

func (s *server) getGroupEvent(ctx context.Context, by caller, in *GroupEventRef) (groupEventAnswer, error) {
	ref, err := in.reference()
	if err != nil {
		return groupEventAnswer{}, err
	}
	view, err := s.GroupEvents.Get(ctx, by.person, ref)
	return answerGroupEvent(view), withCandidates(err)
}

type updateGroupEvent struct {
	GroupEventRef
	Body updateGroupEventBody
}

type updateGroupEventBody struct {
	Title       *string `json:"title,omitempty" minLength:"1" maxLength:"200"`
	Start       *string `json:"start,omitempty" maxLength:"40" doc:"As in the request that made the event."`
	End         *string `json:"end,omitempty" maxLength:"40"`
	Timezone    *string `json:"timezone,omitempty" maxLength:"64" doc:"Empty: none."`
	Location    *string `json:"location,omitempty" maxLength:"500"`
	Description *string `json:"description,omitempty" maxLength:"8000"`
}

func (s *server) updateGroupEvent(ctx context.Context, by caller, in *updateGroupEvent) (groupEventAnswer, error) {
	ref, err := in.reference()
	if err != nil {
		return groupEventAnswer{}, err
	}
	view, err := s.GroupEvents.Update(ctx, by.person, ref, groupevents.Edit(in.Body), by.cause)
	return answerGroupEvent(view), withCandidates(err)
}

func (s *server) deleteGroupEvent(ctx context.Context, by caller, in *GroupEventRef) (groupEventAnswer, error) {
	ref, err := in.reference()
	if err != nil {
		return groupEventAnswer{}, err
	}
	view, err := s.GroupEvents.Delete(ctx, by.person, ref, by.cause)
	return answerGroupEvent(view), withCandidates(err)
}

// candidate is one of several events that a reference matches.
type candidate struct {
	ID    string `json:"id"`
	Ref   string `json:"ref"`
	Title string `json:"title"`
	Start string `json:"start"`
}

// withCandidates has the answer to an ambiguous reference name the events that match.
func withCandidates(err error) error {
	ambiguous, ok := errors.AsType[*groupevents.Ambiguous](err)
	if !ok {
		return err
	}
	f := asFailure(err)
	f.Problem.Detail.Candidates = each(ambiguous.Candidates, func(e mirror.Event) candidate {
		return candidate{ID: e.ID, Ref: groupevents.Ref(e.ID), Title: e.Title, Start: groupevents.Text(e.Start)}
	})
	return f
}
