package main

import (
	"slices"
	"time"

	"questscheduler/internal/test/worldtest"
	"questscheduler/scheduler"
)

// step is something that can happen in a world.
type step struct {
	// weight is how often it is drawn, beside the others.
	weight int
	// always: every world knows it.
	always bool
	do     func(l *life)
}

// allSteps are all that can happen. Their order is part of every history.
var allSteps = slices.Concat(commands, memberships, writes, acts, deletions, faults, outages, answers, simultaneous, races)

// passings let time pass. Steps have consequences only as time passes, so two steps
// of five are of these.
var passings = []step{
	{weight: 4, do: func(l *life) {
		d := time.Duration(1+l.draws.IntN(90)) * time.Second
		l.say("%v pass", d)
		l.w.Run(d)
	}},
	{weight: 2, do: func(l *life) { l.say("one push or task"); l.w.Step() }},
	{weight: 2, do: func(l *life) {
		if due := l.w.Wakes.Due(l.w.Clock.Now()); len(due) > 0 {
			task := due[l.draws.IntN(len(due))]
			l.say("task %s runs before its turn", task.ID)
			l.w.RunTask(task.ID)
		}
	}},
	{weight: 2, do: func(l *life) {
		l.say("a sweep")
		err := l.w.SweepPages(scheduler.Cause{Trigger: "sweep", Trace: "sweep"})
		l.answer(err)
	}},
	{weight: 1, do: func(l *life) { l.say("an hour passes"); l.w.Run(time.Hour) }},
	{weight: 2, do: func(l *life) { l.say("the timers are asked what is due"); l.answer(l.w.AskTimers()) }},
	{weight: 1, do: (*life).timers},
	{weight: 1, do: (*life).push},
	{weight: 2, do: func(l *life) {
		most := 1 + l.draws.IntN(600)
		l.say("the pushes under way are late, by up to %d seconds", most)
		l.w.DelayPushes(func() time.Duration { return time.Duration(l.draws.IntN(most)) * time.Second })
	}},
	{weight: 1, do: func(l *life) {
		d := time.Duration(1+l.draws.IntN(240)) * time.Minute
		if l.w.Clock.Now().Add(d).Before(worldtest.Start.AddDate(0, 0, 5)) { // sessions stay ahead
			l.say("%v pass in which nothing runs", d)
			l.w.Skip(d)
		}
	}},
}

// timers lets hours go by of which the timers alone know.
func (l *life) timers() {
	d := time.Duration(2+l.draws.IntN(11)) * time.Hour
	if l.w.Clock.Now().Add(d).After(worldtest.Start.AddDate(0, 0, 5)) { // sessions stay ahead
		return
	}
	l.say("%v pass by the timers", d)
	for range int(d / time.Hour) {
		l.answer(l.w.AskTimers())
		l.w.Run(time.Minute)
		l.w.Skip(time.Hour - time.Minute)
	}
}

// themes are what the worlds are about, more than anything else; nil: nothing
// more than the rest.
var themes = [][]step{nil, nil, commands, memberships, writes, acts, deletions, faults, outages, answers, simultaneous, races}

// choose draws which steps this world knows, each as often as it weighs, those of
// its theme much more often. Worlds with few steps find problems that worlds with
// all of them reach too rarely.
func (l *life) choose() (choice []step) {
	theme := one(l, themes)
	if l.crowded {
		theme = deletions
	}
	share := 1 + l.draws.IntN(4)
	for _, d := range allSteps {
		if d.always || l.draws.IntN(4) < share {
			choice = append(choice, slices.Repeat([]step{d}, d.weight)...)
		}
	}
	for _, d := range theme {
		choice = append(choice, slices.Repeat([]step{d}, 4*d.weight)...)
	}
	var pass []step
	for _, d := range passings {
		pass = append(pass, slices.Repeat([]step{d}, d.weight)...)
	}
	for i := range len(choice) * 2 / 3 {
		choice = append(choice, pass[i%len(pass)])
	}
	return choice
}

// one draws one of several.
func one[T any](l *life, of []T) T { return of[l.draws.IntN(len(of))] }
