package api

import (
	"context"
	"time"

	"questscheduler/scheduler"
)

func (s *server) editRoutes() {
	pollRoute(s, "PATCH /v1/polls/{id}", "update-poll", pollCreator,
		"Change a poll; what is left out stays. Slots only while it is not finalised", s.updatePoll, ifMatch, counted)
	route(s, "DELETE /v1/polls/{id}", "delete-poll", pollCreator,
		"Remove a poll with its votes and its journal", s.deletePoll)
}

type updatePollBody struct {
	Title            *string    `json:"title,omitempty" minLength:"1" maxLength:"200"`
	Description      *string    `json:"description,omitempty" maxLength:"8000"`
	Timezone         *string    `json:"timezone,omitempty" maxLength:"64" doc:"An IANA name, such as Europe/Berlin; empty for none."`
	ParticipantIDs   []personID `json:"participant_ids,omitempty" maxItems:"500" doc:"All that are to take part; the creator does anyway."`
	PendingInvites   []email    `json:"pending_invites,omitempty" maxItems:"500" doc:"All that are to be invited."`
	AllowLinkSharing *bool      `json:"allow_link_sharing,omitempty" doc:"Any signed-in user who has the link may read the poll."`
	Slots            []slotEdit `json:"slots,omitempty" minItems:"1" maxItems:"200" doc:"All that the poll is to have. One that is not named is removed, with the votes for it."`
}

type slotEdit struct {
	ID    documentID `json:"id,omitempty" doc:"Of a slot that is kept, and moved where its times are others; left out for a new one."`
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
	DeleteEvent bool   `query:"delete_event" default:"true" doc:"Take the event out of the calendar; otherwise it is released."`
}

type deleteAnswer struct {
	Deleted bool `json:"deleted"`
}

func (s *server) deletePoll(ctx context.Context, by caller, in *deletePoll) (deleteAnswer, error) {
	err := s.Scheduler.Delete(ctx, by.person, in.ID, !in.DeleteEvent, by.cause)
	return deleteAnswer{Deleted: true}, err
}
