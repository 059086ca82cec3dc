package api

import (
	"context"
	"time"

	"questscheduler/scheduler"
)

func (s *server) editRoutes() {
	taggedRoute(s, "PATCH /v1/polls/{id}", "update-poll", pollCreator,
		"Change a poll; absent fields stay. Slots can change only while it is not finalised", s.updatePoll, ifMatch, counted)
	route(s, "DELETE /v1/polls/{id}", "delete-poll", pollCreator,
		"Remove a poll with its votes and its journal", s.deletePoll)
}

type updatePollBody struct {
	Title            *string    `json:"title,omitempty" minLength:"1" maxLength:"200"`
	Description      *string    `json:"description,omitempty" maxLength:"8000"`
	Timezone         *string    `json:"timezone,omitempty" maxLength:"64" doc:"An IANA name, such as Europe/Berlin; empty for none."`
	ParticipantIDs   []personID `json:"participant_ids,omitempty" maxItems:"500" doc:"All participants; the creator is always one. Newly named people as for a new poll."`
	PendingInvites   []email    `json:"pending_invites,omitempty" maxItems:"500" doc:"Everybody who is invited."`
	AllowLinkSharing *bool      `json:"allow_link_sharing,omitempty" doc:"Any signed-in user who has the link may read the poll."`
	Slots            []slotEdit `json:"slots,omitempty" minItems:"1" maxItems:"200" doc:"All slots of the poll. A slot that is absent is removed, with the votes for it."`
}

type slotEdit struct {
	ID    documentID `json:"id,omitempty" doc:"The id of a slot to keep, or to move if its times differ; absent for a new slot."`
	Start time.Time  `json:"start"`
	End   time.Time  `json:"end"`
}

func (s *server) updatePoll(ctx context.Context, by caller, in *onPollWith[updatePollBody]) (pollAnswer, error) {
	body := in.Body
	ask := scheduler.Edit{
		Title: body.Title, Description: body.Description, Timezone: body.Timezone, AllowLinkSharing: body.AllowLinkSharing,
		ParticipantIDs: given(texts(body.ParticipantIDs)), PendingInvites: given(texts(body.PendingInvites)),
		Demand: unchanged(tagsOf(ctx)),
	}
	if body.Slots != nil {
		ask.Slots = given(each(body.Slots, func(slot slotEdit) scheduler.SlotEdit {
			return scheduler.SlotEdit{ID: string(slot.ID), Times: scheduler.Times{Start: slot.Start, End: slot.End}}
		}))
	}
	return answered(s.Scheduler.Edit(ctx, by.person, in.ID, ask, by.cause))
}

// given tells a list that was given, be it empty, from one that was left out.
func given[T any](list []T) *[]T {
	if list == nil {
		return nil
	}
	return &list
}

type deletePoll struct {
	ID          string `path:"id" doc:"The poll's id."`
	DeleteEvent bool   `query:"delete_event" default:"true" doc:"Delete the event from the calendar; otherwise it is released."`
}

type deleteAnswer struct {
	Deleted bool `json:"deleted"`
}

func (s *server) deletePoll(ctx context.Context, by caller, in *deletePoll) (deleteAnswer, error) {
	err := s.Scheduler.Delete(ctx, by.person, in.ID, !in.DeleteEvent, by.cause)
	return deleteAnswer{Deleted: true}, err
}
