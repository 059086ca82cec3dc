package api

import (
	"context"
	"net/http"
)

// membershipRoutes are the routes by which people come to a poll and go. Who
// leaves or declines may not be able to read it any more, so the answer is not
// the poll.
func (s *server) membershipRoutes() {
	const tag = "polls"
	route(s, operation{
		id: "join-poll", method: http.MethodPost, path: "/v1/polls/{id}/join", tag: tag,
		audience: pollJoiners, names: namesPoll, summary: "Take part in a poll that one is invited to, or that may be joined by its link",
	}, s.join)
	route(s, operation{
		id: "leave-poll", method: http.MethodPost, path: "/v1/polls/{id}/leave", tag: tag,
		audience: pollLeavers, names: namesPoll, summary: "End one's part in a poll; one's vote goes too",
	}, s.leave)
	route(s, operation{
		id: "accept-invite", method: http.MethodPost, path: "/v1/polls/{id}/accept-invite", tag: tag,
		audience: pollJoiners, names: namesPoll, summary: "Take part as invited by one's e-mail address",
	}, s.acceptInvite)
	route(s, operation{
		id: "decline-invite", method: http.MethodPost, path: "/v1/polls/{id}/decline-invite", tag: tag,
		audience: invitees, names: namesPoll, summary: "Take one's invitation away",
	}, s.declineInvite)
}

func (s *server) join(ctx context.Context, by caller, in *onPoll) (pollAnswer, error) {
	view, err := s.Scheduler.Join(ctx, by.person, in.ID, by.cause)
	return answerPoll(view), err
}

func (s *server) acceptInvite(ctx context.Context, by caller, in *onPoll) (pollAnswer, error) {
	view, err := s.Scheduler.AcceptInvite(ctx, by.person, in.ID, by.cause)
	return answerPoll(view), err
}

type leaveAnswer struct {
	Left bool `json:"left"`
}

func (s *server) leave(ctx context.Context, by caller, in *onPoll) (leaveAnswer, error) {
	return leaveAnswer{Left: true}, s.Scheduler.Leave(ctx, by.person, in.ID, by.cause)
}

type declineAnswer struct {
	Declined bool `json:"declined"`
}

// declineInvite looks first whether the person may see the poll: afterwards it
// is the same for who declined and for who was never invited.
func (s *server) declineInvite(ctx context.Context, by caller, in *onPoll) (declineAnswer, error) {
	if _, err := s.Scheduler.View(ctx, by.person, in.ID); err != nil {
		return declineAnswer{}, err
	}
	return declineAnswer{Declined: true}, s.Scheduler.DeclineInvite(ctx, by.person, in.ID, by.cause)
}
