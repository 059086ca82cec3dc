package scheduler

import (
	"context"
	"slices"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
)

// mayHaveCard reports whether a poll has a card or gets one. A posted card stays when the poll
// leaves its group.
func mayHaveCard(p poll.Poll) bool { return p.GroupID != "" || p.Discord.MessageID != "" }

func takesPlace(p poll.Poll) bool { return p.Status == rules.Open || p.Status == rules.Finalized }

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
	if !mayHaveCard(p) || p.Discord.MessageID == "" && !takesPlace(p) {
		return nil
	}
	err = s.Store.Run(ctx, func(_ context.Context, tx store.Tx) error { return s.recordCard(tx, p, cause) })
	if err == nil {
		s.updateCardSoon(ctx, p)
	}
	return pollError(pollID, "check card", err)
}

// cardsOfGroupPage is how many of a group's polls a page of CheckCards reads.
const cardsOfGroupPage = 50

// CheckCards is CheckCard for the polls of a group that has been given a channel. It does one page,
// from at ("": the beginning), and gives where to continue ("": the end). A page may be repeated.
// Where the group is gone, or has no channel, all cards stay as they are.
func (s *Service) CheckCards(ctx context.Context, groupID, at string, cause Cause) (next string, err error) {
	group, err := poll.LoadGroup(ctx, s.Store, groupID)
	if err == nil && group != nil && group.Discord.ChannelID != "" {
		next, err = s.checkCards(ctx, *group, at, cause)
	}
	return next, groupError(groupID, "check cards", err)
}

// checkCards checks the cards that are elsewhere than in the group's channel, are missing, or showed
// a problem. Sessions that are over, open polls without a time ahead, and polls that do not take place
// need none there.
func (s *Service) checkCards(ctx context.Context, group poll.Group, at string, cause Cause) (next string, err error) {
	polls, next, err := poll.PageOfGroup(ctx, s.Store, group.ID, at, cardsOfGroupPage)
	if err != nil {
		return "", err
	}
	polls = slices.DeleteFunc(polls, func(p poll.Poll) bool { return !takesPlace(p) || p.Discord.ShownIn(group.Discord.ChannelID) })
	winning, err := poll.WinningSlots(ctx, s.Store, polls)
	if err != nil {
		return "", err
	}
	for _, p := range polls {
		slot, known := winning[p.ID]
		over := known && !slot.Fingerprint().EndTime().After(s.Now())
		if p.Status == rules.Open { // a group may have years of polls that were never finalised
			ahead, err := poll.HasSlotsFrom(ctx, s.Store, p.ID, s.Now().Add(-24*time.Hour))
			if err != nil {
				return "", err
			}
			over = !ahead
		}
		if over {
			continue
		}
		if err := s.CheckCard(ctx, p.ID, cause); err != nil {
			return "", err
		}
	}
	return next, nil
}
