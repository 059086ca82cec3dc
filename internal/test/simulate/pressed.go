package main

import (
	"fmt"

	"questscheduler/internal/test/worldtest"
	"questscheduler/scheduler"
)

// pressEvery is that of so many worlds one has people who vote on Discord.
const pressEvery = 8

// presses reports whether people vote on Discord in this world.
func (l *life) presses() bool { return l.seed%pressEvery == 5 }

// press votes by an interaction of Discord, which comes a second time as another vote: an
// interaction takes effect once, whatever became of its answer.
func (l *life) press(voter scheduler.Person, pollID string, vote scheduler.Vote) error {
	cause := worldtest.Cause
	l.pressed++
	cause.Interaction = fmt.Sprintf("press-%d", l.pressed)
	_, err := l.w.Scheduler.Cast(l.w.Context(), voter, pollID, vote, cause)
	_, again := l.w.Scheduler.Cast(l.w.Context(), voter, pollID, scheduler.Vote{NoTimesWork: true}, cause)
	if err == nil && again == nil {
		l.problems = append(l.problems, "an interaction of Discord that came again voted a second time")
	}
	return err
}
