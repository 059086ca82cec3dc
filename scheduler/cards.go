package scheduler

import (
	"context"
	"time"

	"questscheduler/internal/fault"
	"questscheduler/internal/poll"
	"questscheduler/rules"
)

// mayHaveCard tells whether a poll's card may be there or is to be: one that was
// posted stays when the poll leaves its group.
func mayHaveCard(p poll.Poll) bool { return p.GroupID != "" || p.Discord.MessageID != "" }

// CheckCard hands over that a poll's card is to show what is true, after somebody
// wrote the poll, its slots or its votes: the card is edited where it shows
// something else. occasion names what it is for, as in cardSoon. A poll that is
// gone, or has neither a group nor a card, has none to be drawn, and one that was
// over before it had a card gets none. The errors are the store's and the queue's;
// the card is not handed over then.
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
