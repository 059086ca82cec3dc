package api

import (
	"context"
	"net/http"
)

// lifecycleRoutes are the routes by which a poll's creator takes back what was
// decided, and decides on what the calendar did.
func (s *server) lifecycleRoutes() {
	const tag = "polls"
	route(s, operation{
		id: "reopen-poll", method: http.MethodPost, path: "/v1/polls/{id}/reopen", tag: tag,
		audience: pollCreator, names: namesPoll, summary: "Open a poll again for votes",
	}, s.reopen)
	route(s, operation{
		id: "archive-poll", method: http.MethodPost, path: "/v1/polls/{id}/archive", tag: tag,
		audience: pollCreator, names: namesPoll, summary: "Put a poll away; its event stays, and decides nothing meanwhile",
	}, s.archive)
	route(s, operation{
		id: "unarchive-poll", method: http.MethodPost, path: "/v1/polls/{id}/unarchive", tag: tag,
		audience: pollCreator, names: namesPoll, summary: "Bring a poll back as what it was",
	}, s.unarchive)
	route(s, operation{
		id: "restore-original-time", method: http.MethodPost, path: "/v1/polls/{id}/restore-original-time", tag: tag,
		audience: pollCreator, names: namesPoll, summary: "Move the event back to the time that was agreed",
	}, s.restoreOriginalTime)
	route(s, operation{
		id: "accept-new-time", method: http.MethodPost, path: "/v1/polls/{id}/accept-new-time", tag: tag,
		audience: pollCreator, names: namesPoll, summary: "Agree to the time that the calendar has",
	}, s.acceptNewTime)
}

type reopenPoll struct {
	ID   string          `path:"id" doc:"The poll's id."`
	Body *reopenPollBody `doc:"May be left out."`
}

type reopenPollBody struct {
	DeleteEvent *bool `json:"delete_event,omitempty" default:"false" doc:"Take the event out of the calendar; otherwise it is released."`
}

func (s *server) reopen(ctx context.Context, by caller, in *reopenPoll) (pollAnswer, error) {
	deleteEvent := in.Body != nil && unlessSaid(in.Body.DeleteEvent, false)
	return counted(s, by, in.ID, func() (pollAnswer, error) {
		view, err := s.Scheduler.Reopen(ctx, by.person, in.ID, deleteEvent, by.cause)
		return answerPoll(view), err
	})
}

func (s *server) archive(ctx context.Context, by caller, in *onPoll) (pollAnswer, error) {
	return counted(s, by, in.ID, func() (pollAnswer, error) {
		view, err := s.Scheduler.Archive(ctx, by.person, in.ID, by.cause)
		return answerPoll(view), err
	})
}

func (s *server) unarchive(ctx context.Context, by caller, in *onPoll) (pollAnswer, error) {
	return counted(s, by, in.ID, func() (pollAnswer, error) {
		view, err := s.Scheduler.Unarchive(ctx, by.person, in.ID, by.cause)
		return answerPoll(view), err
	})
}

func (s *server) restoreOriginalTime(ctx context.Context, by caller, in *onPoll) (pollAnswer, error) {
	return counted(s, by, in.ID, func() (pollAnswer, error) {
		view, err := s.Scheduler.RestoreOriginal(ctx, by.person, in.ID, by.cause)
		return answerPoll(view), err
	})
}

type acceptNewTime struct {
	ID   string `path:"id" doc:"The poll's id."`
	Body acceptNewTimeBody
}

type acceptNewTimeBody struct {
	Fingerprint string `json:"fingerprint" minLength:"1" maxLength:"200" doc:"The poll's sync.fingerprint as the person saw it; where another stands by now, the answer is 409."`
}

func (s *server) acceptNewTime(ctx context.Context, by caller, in *acceptNewTime) (pollAnswer, error) {
	return counted(s, by, in.ID, func() (pollAnswer, error) {
		view, err := s.Scheduler.AcceptNew(ctx, by.person, in.ID, in.Body.Fingerprint, by.cause)
		return answerPoll(view), err
	})
}
