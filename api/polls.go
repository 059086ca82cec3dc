package api

import (
	"context"
	"slices"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/scheduler"
)

func (s *server) pollRoutes() {
	route(s, "POST /v1/polls", "create-poll", persons, "Make a poll", s.createPoll, created, vouched, keyed)
	route(s, "GET /v1/polls", "list-polls", persons,
		"The caller's polls, newest first; with slots and votes if include names them", s.listPolls)
	taggedRoute(s, "GET /v1/polls/{id}", "get-poll", pollReaders, "A poll", s.readPoll, ifNoneMatch)
	route(s, "PUT /v1/polls/{id}/votes/me", "vote", pollVoters,
		"Vote, replacing an earlier vote, while the poll is open", s.vote)
	route(s, "POST /v1/polls/{id}/finalize", "finalize-poll", pollCreator,
		"Choose a slot, and insert the calendar event that the poll follows from then on", s.finalise, keyed)
	route(s, "POST /v1/polls/{id}/cancel", "cancel-poll", pollCreator, "Cancel a poll", s.cancel, counted)
	route(s, "POST /v1/polls/{id}/sync", "sync-poll", pollCreator,
		"Sync the calendar now, and return the poll as it is then", byID(s.Scheduler.Sync))
	route(s, "GET /v1/polls/{id}/journal", "list-journal", pollCreator,
		"The decisions about a poll and their reasons, newest first", s.listJournal)
}

// onPoll is the input of routes that take nothing but a poll's id.
type onPoll struct {
	ID string `path:"id" doc:"The poll's id."`
}

type onPollWith[B any] struct {
	ID   string `path:"id" doc:"The poll's id."`
	Body B
}

type withBody[B any] struct{ Body B }

func (s *server) readPoll(ctx context.Context, by caller, in *onPoll) (pollAnswer, error) {
	return answered(s.Scheduler.View(ctx, by.person, in.ID))
}

type createPollBody struct {
	Title            string      `json:"title" minLength:"1" maxLength:"200"`
	Description      string      `json:"description,omitempty" maxLength:"8000"`
	Timezone         string      `json:"timezone,omitempty" maxLength:"64" doc:"An IANA name, such as Europe/Berlin."`
	Slots            []slotInput `json:"slots" minItems:"1" maxItems:"200"`
	ParticipantIDs   []personID  `json:"participant_ids,omitempty" maxItems:"500" doc:"The creator is always a participant. Others are only named until they vote or join; 400 for people who answered none of the last 3 polls that named them and share no group with the creator."`
	PendingInvites   []email     `json:"pending_invites,omitempty" maxItems:"500"`
	GroupID          documentID  `json:"group_id,omitempty" doc:"A group that the caller belongs to."`
	AllowLinkSharing bool        `json:"allow_link_sharing,omitempty" doc:"Any signed-in user who has the link may read the poll."`
}

type slotInput struct {
	Start time.Time `json:"start"`
	End   time.Time `json:"end"`
}

func (s *server) createPoll(ctx context.Context, by caller, in *withBody[createPollBody]) (pollAnswer, error) {
	ask := scheduler.Create{
		Title: in.Body.Title, Description: in.Body.Description, Timezone: in.Body.Timezone,
		ParticipantIDs: texts(in.Body.ParticipantIDs), PendingInvites: texts(in.Body.PendingInvites),
		GroupID: string(in.Body.GroupID), AllowLinkSharing: in.Body.AllowLinkSharing,
		Slots: each(in.Body.Slots, func(slot slotInput) scheduler.Times { return scheduler.Times(slot) }),
	}
	return once(ctx, s, by, command[pollAnswer]{
		route: "POST /v1/polls", body: in.Body,
		read: func(ctx context.Context, t try) (pollAnswer, error) {
			return answered(s.Scheduler.View(ctx, by.person, t.id))
		},
		do: func(ctx context.Context, t try) (pollAnswer, error) {
			ask.ID, ask.Again = t.id, t.again
			return answered(s.Scheduler.Create(ctx, by.person, ask, by.cause))
		},
	})
}

type listPolls struct {
	Paging
	Role    string   `query:"role" enum:"creator,participant" default:"participant" doc:"Polls that the caller takes part in, their own among them, or created."`
	Status  string   `query:"status" enum:"OPEN,FINALIZED,CANCELLED,ARCHIVED" doc:"Only these; absent: all."`
	Include []string `query:"include" maxItems:"2" enum:"slots,votes" doc:"Slots, votes or both (slots,votes) to include in each poll; pages then have fewer polls."`
}

type pollList struct {
	page
	Polls []listedPoll `json:"polls"`
}

func (s *server) listPolls(ctx context.Context, by caller, in *listPolls) (pollList, error) {
	place := listing{name: "polls " + in.Role + " " + in.Status, collection: "schedulers"}
	asked := poll.List{UserID: by.person.ID, Participant: in.Role == "participant", Status: in.Status, Limit: in.Limit}
	parts := scheduler.Parts{Slots: slices.Contains(in.Include, "slots"), Votes: slices.Contains(in.Include, "votes")}
	answer := func(view scheduler.View) listedPoll { return answerListed(view, parts) }
	polls, is, err := listed(place, in.Paging, answer,
		func(part store.Paging, take func(scheduler.View) (bool, error)) (*store.Cursor, error) {
			asked.After = part.After
			return s.Scheduler.List(ctx, by.person, asked, parts, take)
		})
	return pollList{page: is, Polls: polls}, err
}

type voteBody struct {
	Votes       map[string]choice `json:"votes" doc:"By slot id; an absent slot does not fit."`
	NoTimesWork bool              `json:"no_times_work,omitempty" doc:"None of the slots fits; then votes is empty."`
}

func (s *server) vote(ctx context.Context, by caller, in *onPollWith[voteBody]) (pollAnswer, error) {
	ask := scheduler.Vote{Choices: make(map[string]string, len(in.Body.Votes)), NoTimesWork: in.Body.NoTimesWork}
	for slot, chosen := range in.Body.Votes {
		ask.Choices[slot] = string(chosen)
	}
	return answered(s.Scheduler.Vote(ctx, by.person, in.ID, ask, by.cause))
}

type cancelPoll struct {
	ID   string          `path:"id" doc:"The poll's id."`
	Body *cancelPollBody `doc:"Optional."`
}

type cancelPollBody struct {
	DeleteEvent *bool `json:"delete_event,omitempty" default:"true" doc:"Delete the event from the calendar; otherwise it is released."`
}

func (s *server) cancel(ctx context.Context, by caller, in *cancelPoll) (pollAnswer, error) {
	keep := in.Body != nil && !valueOr(in.Body.DeleteEvent, true)
	return answered(s.Scheduler.Cancel(ctx, by.person, in.ID, keep, by.cause))
}

// valueOr is the default of an optional field.
func valueOr[T any](given *T, otherwise T) T {
	if given == nil {
		return otherwise
	}
	return *given
}
