package scheduler

import (
	"context"

	"questscheduler/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
)

// mayHaveCard reports whether a poll has a card or gets one. A posted card stays when the poll
// leaves its group.
func mayHaveCard(p poll.Poll) bool { return p.GroupID != "" || p.Discord.MessageID != "" }

// CheckCard records that a poll's card has to be compared with the poll, after somebody wrote the
// poll, its slots or its votes, and has it done soon. It does nothing for a poll that is
// gone, has neither group nor card, or was over before it had a card. Errors are the store's.
func (s *Service) CheckCard(ctx context.Context, pollID string, cause Cause) error {
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
	err = s.Store.Run(ctx, func(_ context.Context, tx store.Tx) error { return s.recordCard(tx, p, cause) })
	if err == nil {
		s.updateCardSoon(ctx, p)
	}
	return pollError(pollID, "check card", err)
}
