package api

import (
	"context"
	"fmt"
	"math"
	"time"

	"questscheduler/fault"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// defaultPollCommands is the bound if Options.Commands sets none.
const defaultPollCommands = 60

// Commands bounds the commands of each person on each poll per hour, in this
// process: finalise (by the web app's call too), cancel, reopen, archive, unarchive,
// restore, accept and edit. Reads, syncs, votes, deleting a poll and the server's
// own work do not count. It is safe for concurrent use.
type Commands struct {
	now   func() time.Time
	polls *limiter // by poll and person
	// people is used for what does not fit into polls: a person's polls then share
	// one bound, and other people are not affected.
	people *limiter
}

// NewCommands allows perHour commands (at least 1) of a person on a poll in each
// hour, half of them at once.
func NewCommands(perHour int, now func() time.Time) *Commands {
	pace := rules.PerHour(perHour)
	pace.Skew = 0 // one process has one clock
	return &Commands{now: now, polls: pacedLimiter(pace), people: pacedLimiter(pace)}
}

// Count counts a command before its first transaction. undo takes it back, once, if
// nothing new began. RateLimited, with the time to wait: the bound is reached, and
// nothing was counted.
func (c *Commands) Count(personID, pollID string) (undo func(), err error) {
	now, limiter, client := c.now(), c.polls, pollID+"/"+personID
	wait, full := limiter.tryTake(client, now)
	if full {
		limiter, client = c.people, personID
		wait = limiter.take(client, now)
	}
	if wait > 0 {
		return nil, &fault.Error{
			Kind: fault.RateLimited, Own: true, RetryAfter: wait,
			Message: fmt.Sprintf("This poll had too many commands within the hour. Try again in %d minutes.", int(math.Ceil(wait.Minutes()))),
		}
	}
	return func() { limiter.giveBack(client) }, nil
}

// countedFinalise carries out a finalisation, of which asked makes the command. It
// counts one that begins something new, also if the drain finishes it, and one that
// fails. A repeated answer, and a retry of one that still runs or was cut off, are
// recognised by the record of their key or by the pending intent; they do not count
// and are never refused.
func (s *server) countedFinalise(
	ctx context.Context, by caller, pollID string, ask scheduler.Finalise, asked func(scheduler.Finalise) command[pollAnswer],
) (pollAnswer, error) {
	undo, refusal := s.Commands.Count(by.person.ID, pollID)
	if refusal != nil {
		again, err := s.keyKnown(ctx, by, asked(ask))
		if err == nil && !again {
			again, err = s.Scheduler.InProgress(ctx, by.person, pollID, ask)
		}
		switch {
		case err != nil && !scheduler.Refused(err):
			return pollAnswer{}, err
		case err != nil || !again:
			return pollAnswer{}, refusal
		}
		ask.Begin = func() error { return refusal }
		return once(ctx, s, by, asked(ask))
	}
	ran, began := false, false
	ask.Begin = func() error {
		began = true
		return nil
	}
	carried := asked(ask)
	do := carried.do
	carried.do = func(ctx context.Context, t try) (pollAnswer, error) {
		ran = true
		return do(ctx, t)
	}
	answer, err := once(ctx, s, by, carried)
	if !ran || !began && s.Scheduler.Repeats(ctx, by.person, pollID, ask, err) {
		undo()
	}
	return answer, err
}
