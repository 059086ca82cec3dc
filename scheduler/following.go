package scheduler

import (
	"context"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
)

// Obstacle is a reason why a poll's event cannot be followed.
type Obstacle string

// The obstacles.
const (
	// NoAccount: nobody's account is linked to read the event with.
	NoAccount Obstacle = "no_account"
	// NotTheirs: another poll follows the event.
	NotTheirs Obstacle = "not_theirs"
)

// Following says whether the event of a poll is followed, and what a Reconcile
// would do about it.
type Following struct {
	// Followed reports whether the poll's own event has an index entry.
	Followed bool
	// Repair is what Reconcile would do; RepairNothing where it cannot.
	Repair rules.Repair
	// Obstacle is the reason why the poll's event cannot be followed; "" for none. With
	// NotTheirs, Other is the poll that follows it.
	Obstacle Obstacle
	Other    string
}

// Following reads how a poll and its event stand to each other, and writes nothing.
func (s *Service) Following(ctx context.Context, pollID string) (Following, error) {
	at, err := s.placeToRepair(ctx, pollID)
	if err != nil {
		return Following{}, pollError(pollID, "following", err)
	}
	var following Following
	err = s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		following = Following{}
		st, exists, err := loadToRepair(ctx, tx, pollID)
		if err != nil {
			return err
		}
		documents := st.Documents(exists, s.Now())
		following.Followed, following.Repair = documents.HasEntry && documents.Fits, rules.RepairFor(documents)
		if following.Repair != rules.RepairLink {
			return nil
		}
		if at.AccountID == "" {
			following.Obstacle, following.Repair = NoAccount, rules.RepairNothing
			return nil
		}
		other, _, err := poll.FindIndex(ctx, tx, at.AccountID, followedCalendar(st.Poll, at.CalendarID), st.Poll.GoogleEventID)
		if err != nil || other == nil {
			return err
		}
		following.Obstacle, following.Other, following.Repair = NotTheirs, other.PollID, rules.RepairNothing
		return nil
	})
	return following, pollError(pollID, "following", err)
}

// followedCalendar is the calendar of an event that a poll names: its own, or
// where it names none, or the primary one, the account's chosen.
func followedCalendar(p poll.Poll, chosen string) string {
	if p.GoogleCalendarID != "" && p.GoogleCalendarID != "primary" {
		return p.GoogleCalendarID
	}
	return chosen
}
