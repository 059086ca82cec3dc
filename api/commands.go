package api

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"sync"
	"time"

	"questscheduler/internal/fault"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// defaultPollCommands is what holds where Options.Commands sets none.
const defaultPollCommands = 60

// Commands bounds the commands of each person on each poll in an hour, in this
// process: finalise, cancel, reopen, archive, unarchive, restore, accept and edit,
// and the web app's call that finalises. Reads, syncs, votes, deleting the poll,
// the app's call that deletes its event before that, and what the server does on its
// own do not count. It may be used concurrently.
type Commands struct {
	now   func() time.Time
	mu    sync.Mutex
	polls *limiter // by person and poll
	// people stand in for polls when there are more than a limiter tells apart: the
	// polls of one person then share one bound, and nobody else's are concerned.
	people *limiter
}

// NewCommands allows perHour commands (at least 1) of a person on a poll in each
// hour: half of them at once.
func NewCommands(perHour int, now func() time.Time) *Commands {
	paced := func() *limiter {
		pace := rules.PerHour(perHour)
		return &limiter{every: pace.Every, burst: pace.Burst, due: map[string]time.Time{}}
	}
	return &Commands{now: now, polls: paced(), people: paced()}
}

// Count counts a command before its first transaction. undo takes it back, once,
// where it turns out that nothing new began. RateLimited, with the time to wait:
// the bound is reached, and nothing was counted.
func (c *Commands) Count(personID, pollID string) (undo func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	of, who := c.polls, pollID+"/"+personID
	if !of.fits(who, now) {
		of, who = c.people, personID
	}
	if wait := of.take(who, now); wait > 0 {
		return nil, &fault.Error{
			Kind: fault.RateLimited, RetryAfter: wait,
			Message: fmt.Sprintf("This poll had too many commands within the hour. Try again in %d minutes.", int(math.Ceil(wait.Minutes()))),
		}
	}
	return func() { of.giveBack(who) }, nil
}

// count is Commands.Count as this package answers it.
func (s *server) count(by caller, pollID string) (undo func(), err error) {
	undo, err = s.Commands.Count(by.person.ID, pollID)
	if err != nil {
		return nil, errTooMany(err)
	}
	return undo, nil
}

func errTooMany(err error) *failure {
	f := asFailure(err)
	f.Problem.Code, f.status = codeRateLimited, http.StatusTooManyRequests
	return f
}

// counted carries out a command that counts.
func counted[T any](s *server, by caller, pollID string, do func() (T, error)) (T, error) {
	if _, err := s.count(by, pollID); err != nil {
		var none T
		return none, err
	}
	return do()
}

// countedFinalise carries out a finalisation, which asked makes a command of. It
// counts what begins something new, also where the drain finishes that, and what
// fails. The replay of an answer, and a retry of one that still runs or was cut off,
// count nothing and are never refused: they are told by the record of their key, or
// by the intent under way.
func (s *server) countedFinalise(ctx context.Context, by caller, pollID string, ask scheduler.Finalise, asked func(scheduler.Finalise) command) (pollAnswer, error) {
	undo, refusal := s.count(by, pollID)
	if refusal != nil {
		again, err := s.asksAgain(ctx, by, pollID, ask, asked(ask))
		switch {
		case err != nil && !scheduler.Refused(err):
			return pollAnswer{}, err
		case err != nil || !again:
			return pollAnswer{}, refusal
		}
		ask.Begin = func() error { return refusal }
		return s.once(ctx, by, asked(ask))
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
	answer, err := s.once(ctx, by, carried)
	if !ran || !began && s.Scheduler.Repeats(ctx, by.person, pollID, ask, err) {
		undo()
	}
	return answer, err
}

// asksAgain tells whether a finalisation was asked for before. It only reads.
func (s *server) asksAgain(ctx context.Context, by caller, pollID string, ask scheduler.Finalise, asked command) (bool, error) {
	if key, _ := ctx.Value(idempotencyKey{}).(string); key != "" {
		known, err := s.keyKnown(ctx, by, asked, key)
		if err != nil || known {
			return known, err
		}
	}
	return s.Scheduler.UnderWay(ctx, by.person, pollID, ask)
}
