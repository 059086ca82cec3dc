package api

import (
	"context"

	"questscheduler/scheduler"
)

// lifecycleRoutes are the routes by which a poll's creator reverts decisions, and
// decides on changes in the calendar.
func (s *server) lifecycleRoutes() {
	route(s, "POST /v1/polls/{id}/reopen", "reopen-poll", pollCreator, "Open a poll again for votes", s.reopen, counted)
	route(s, "POST /v1/polls/{id}/archive", "archive-poll", pollCreator,
		"Archive a poll; its event stays, and changes of it have no effect until the poll is unarchived", byID(s.Scheduler.Archive), counted)
	route(s, "POST /v1/polls/{id}/unarchive", "unarchive-poll", pollCreator,
		"Unarchive a poll with its earlier status", byID(s.Scheduler.Unarchive), counted)
	route(s, "POST /v1/polls/{id}/restore-original-time", "restore-original-time", pollCreator,
		"Move the event back to the agreed time", byID(s.Scheduler.RestoreOriginal), counted)
	route(s, "POST /v1/polls/{id}/accept-new-time", "accept-new-time", pollCreator,
		"Accept the new time in the calendar", s.acceptNewTime, counted)
}

// byID handles a call on a poll that takes nothing but its id.
func byID(do func(context.Context, scheduler.Person, string, scheduler.Cause) (scheduler.View, error)) handler[onPoll, pollAnswer] {
	return func(ctx context.Context, by caller, in *onPoll) (pollAnswer, error) {
		return answered(do(ctx, by.person, in.ID, by.cause))
	}
}

type reopenPoll struct {
	ID   string          `path:"id" doc:"The poll's id."`
	Body *reopenPollBody `doc:"Optional."`
}

type reopenPollBody struct {
	DeleteEvent *bool `json:"delete_event,omitempty" default:"false" doc:"Delete the event from the calendar; otherwise it is released."`
}

func (s *server) reopen(ctx context.Context, by caller, in *reopenPoll) (pollAnswer, error) {
	deleteEvent := in.Body != nil && valueOr(in.Body.DeleteEvent, false)
	return answered(s.Scheduler.Reopen(ctx, by.person, in.ID, deleteEvent, by.cause))
}

type acceptNewTimeBody struct {
	Fingerprint string `json:"fingerprint" minLength:"1" maxLength:"200" doc:"The poll's sync.fingerprint that was shown to the person; 409 if it has changed since."`
}

func (s *server) acceptNewTime(ctx context.Context, by caller, in *onPollWith[acceptNewTimeBody]) (pollAnswer, error) {
	return answered(s.Scheduler.AcceptNew(ctx, by.person, in.ID, in.Body.Fingerprint, by.cause))
}
