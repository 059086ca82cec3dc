package callables

import (
	"context"
	"time"

	"questscheduler/availability"
	"questscheduler/rules"
)

// Availability is implemented by availability.Service.
type Availability interface {
	Own(ctx context.Context, userID string, from, to time.Time, accountIDs []string) (availability.Answer, error)
}

// window is a busy window in the shape that the web app keeps on people's public
// documents. The sources and the priority are of the app's own polls: null for a
// calendar's.
type window struct {
	Start          string  `json:"startUtc"`
	End            string  `json:"endUtc"`
	SourcePoll     *string `json:"sourceSchedulerId"`
	SourceSlot     *string `json:"sourceWinningSlotId"`
	PriorityMillis *int64  `json:"priorityAtMs"`
}

// busyWindows returns when the caller is busy by their linked accounts, and when that is
// unknown, which is not free.
func (s *server) busyWindows(ctx context.Context, in call) (any, error) {
	args := arguments{fields: in.data}
	from, to := args.instant("start"), args.instant("end")
	if args.err != nil {
		return nil, args.err
	}
	answer, err := s.Availability.Own(ctx, in.person.ID, from, to, nil)
	if err != nil {
		return nil, err
	}
	return map[string]any{"busyWindows": windows(answer.Busy), "unknownWindows": windows(answer.Unknown)}, nil
}

func windows(intervals []availability.Interval) []window {
	all := make([]window, len(intervals))
	for i, interval := range intervals {
		all[i] = window{Start: rules.Instant(interval.Start), End: rules.Instant(interval.End)}
	}
	return all
}

// instant is a required time.
func (a *arguments) instant(name string) time.Time {
	at, err := time.Parse(time.RFC3339, a.text(name, 64))
	if err != nil {
		a.refuse("%s has to be a time such as 2026-02-02T10:00:00Z.", name)
	}
	return at
}
