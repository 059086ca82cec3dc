package worldtest

import (
	"fmt"

	"questscheduler/poll"
	"questscheduler/rules"
)

// Standing is what a journal must give back of a poll.
type Standing struct {
	Status        rules.Status
	State         rules.State
	Error         rules.ErrorCode
	WinningSlotID string
	Rescheduled   bool
	Baseline      rules.Fingerprint
	Applied       rules.Fingerprint
}

func standing(p poll.Poll) Standing {
	s := Standing{
		Status: p.Status, State: p.Sync.State, WinningSlotID: p.WinningSlotID,
		Rescheduled: p.Sync.Rescheduled != nil, Baseline: p.Sync.Baseline, Applied: p.Sync.Applied,
	}
	if p.Sync.Error != nil {
		s.Error = p.Sync.Error.Code
	}
	return s
}

var seenNames = map[string]rules.Seen{
	"present": rules.Present, "gone": rules.Gone, "series": rules.Series, "unreadable": rules.Unreadable,
}

// Replay goes through a poll's journal, oldest first: each decision is decided
// again from what the journal says that the calendar said, and must come out
// the same. The error names the first entry that does not.
func Replay(entries []poll.Entry) (Standing, error) {
	at := Standing{Status: rules.Open}
	var seenUpdated poll.Entry
	for i, entry := range entries {
		if entry.Before != at.Applied {
			return at, fmt.Errorf("entry %d (%s%s) begins at %v, and the one before ended at %v", i, entry.Command, entry.Decision, entry.Before, at.Applied)
		}
		if entry.Command == "" && entry.Seen != "" {
			p := rules.Poll{
				Status: at.Status, State: at.State, Error: at.Error, Link: linkOf(entry), Baseline: at.Baseline,
				Applied: at.Applied, AppliedUpdated: seenUpdated.Updated, Rescheduled: at.Rescheduled, Winning: at.Applied,
			}
			seen := rules.Observation{
				Link: linkOf(entry), Seen: seenNames[entry.Seen], Fingerprint: entry.Fingerprint, Updated: entry.Updated, AccountLive: true,
			}
			decided := rules.Decide(p, seen, entry.At)
			if decided.Action != entry.Decision || decided.Row != entry.Reason || decided.State != entry.State || decided.Error != entry.Error {
				return at, fmt.Errorf("entry %d says %s (%s) → %s %s, decided again it is %s (%s) → %s %s", i,
					entry.Decision, entry.Reason, entry.State, entry.Error, decided.Action, decided.Row, decided.State, decided.Error)
			}
		}
		if entry.Command != "" || entry.Seen != "" {
			seenUpdated = entry
		}
		at = Standing{
			Status: entry.Status, State: entry.State, Error: entry.Error, WinningSlotID: entry.WinningSlotID,
			Rescheduled: entry.Rescheduled, Baseline: entry.Baseline, Applied: entry.After,
		}
	}
	return at, nil
}

func linkOf(entry poll.Entry) rules.Link {
	return rules.Link{Account: entry.AccountID, Calendar: entry.CalendarID, Event: entry.EventID, Generation: entry.Generation}
}
