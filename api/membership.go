package api

import (
	"context"
)

// membershipRoutes are the routes by which people join a poll and leave it. Somebody
// who left or declined may not read the poll any more, so it is not the answer.
func (s *server) membershipRoutes() {
	route(s, "POST /v1/polls/{id}/join", "join-poll", pollJoiners,
		"Join a poll by an invitation or by its link", byID(s.Scheduler.Join))
	route(s, "POST /v1/polls/{id}/leave", "leave-poll", pollLeavers,
		"Leave a poll; the caller's vote is deleted", s.leave)
	route(s, "POST /v1/polls/{id}/accept-invite", "accept-invite", pollJoiners,
		"Accept an invitation to the caller's e-mail address", byID(s.Scheduler.AcceptInvite))
	route(s, "POST /v1/polls/{id}/decline-invite", "decline-invite", invitees, "Decline an invitation", s.declineInvite)
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

// declineInvite first checks that the person may read the poll: afterwards, a person
// who declined cannot be distinguished from one who was never invited.
func (s *server) declineInvite(ctx context.Context, by caller, in *onPoll) (declineAnswer, error) {
	if _, err := s.Scheduler.View(ctx, by.person, in.ID); err != nil {
		return declineAnswer{}, err
	}
	return declineAnswer{Declined: true}, s.Scheduler.DeclineInvite(ctx, by.person, in.ID, by.cause)
}
