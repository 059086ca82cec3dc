package api

import (
	"context"
)

// membershipRoutes are the routes by which people join a poll and leave it. Somebody
// who left or declined may not read the poll any more, so it is not the answer.
func (s *server) membershipRoutes() {
	route(s, "POST /v1/polls/{id}/join", "join-poll", pollJoiners,
		"Take part in a poll that one is invited to, or that may be joined by its link", byID(s.Scheduler.Join))
	route(s, "POST /v1/polls/{id}/leave", "leave-poll", pollLeavers,
		"End one's part in a poll; one's vote goes too", s.leave)
	route(s, "POST /v1/polls/{id}/accept-invite", "accept-invite", pollJoiners,
		"Take part as invited by one's e-mail address", byID(s.Scheduler.AcceptInvite))
	route(s, "POST /v1/polls/{id}/decline-invite", "decline-invite", invitees, "Take one's invitation away", s.declineInvite)
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
