package scheduler

import (
	"context"
	"time"

	"questscheduler/internal/fault"
	"questscheduler/internal/poll"
	"questscheduler/rules"
)

// mayHaveCard reports whether a poll has a card or gets one. A posted card stays when the poll
// leaves its group.
func mayHaveCard(p poll.Poll) bool { return p.GroupID != "" || p.Discord.MessageID != "" }

// CheckCard enqueues an update of a poll's card after somebody wrote the poll, its slots or
// its votes. occasion names the cause, as in updateCardSoon. It does nothing for a poll that is
// gone, has neither group nor card, or was over before it had a card. Errors are the store's
// and the queue's.
func (s *Service) CheckCard(ctx context.Context, pollID, occasion string, cause Cause) error {
	p, err := poll.Load(ctx, s.Store, pollID)
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return pollError(pollID, "check card", err)
	}
	takesPlace := p.Status == rules.Open || p.Status == rules.Finalized
	if !mayHaveCard(p) || p.Discord.MessageID == "" && !takesPlace {
		return nil
	}
	return s.handOverTask(ctx, poll.AnnounceKind, p.ID+"/card/"+occasion, Work{ID: p.ID, Trace: cause.Trace}, time.Time{})
}
