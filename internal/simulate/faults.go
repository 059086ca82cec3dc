package main

import (
	"errors"
	"time"

	"questscheduler/calendarsync"
	"questscheduler/fault"
	"questscheduler/internal/worldtest"
	"questscheduler/poll"
	"questscheduler/store"
)

// refusals are what Google may answer with. Where 404 or 403 say that an event
// was deleted before or is never to be touched they are believed, so there they
// would be no faults.
var refusals = []struct {
	method   string
	statuses []int
}{
	{"events.insert", []int{401, 403, 404, 429, 503}}, {"events.list", []int{401, 403, 404, 410, 429, 500}},
	{"events.get", []int{401, 403, 404, 429, 503}}, {"events.patch", []int{401, 412, 429, 503}},
	{"events.delete", []int{401, 429, 503}}, {"events.watch", []int{401, 403, 404, 429, 503}},
	{"channels.stop", []int{429, 503}}, {"oauth.token", []int{429, 503}},
}

var (
	broken = fault.Wrap(fault.Unavailable, errors.New("broken"), "It did not answer.")
	points = []string{"before store.run", "after store.run", "before store.read", "before queue.enqueue", "after queue.enqueue"}
)

// faults are what can go wrong.
var faults = []deed{
	{weight: 4, do: func(l *life) {
		r := one(l, refusals)
		status, times := one(l, r.statuses), 1+l.draws.IntN(3)
		l.say("Google: the next %d calls of %s are refused with %d", times, r.method, status)
		l.w.Refuse(r.method, status, "", times)
	}},
	{weight: 3, do: func(l *life) {
		r := one(l, refusals)
		l.say("Google: the answer to the next %s is lost", r.method)
		l.w.Plant(r.method, func(f *worldtest.Fault) { f.LostAnswer, f.Times = true, 1 })
	}},
	{weight: 1, do: func(l *life) { l.say("Google: the sync tokens expire"); l.must(l.w.Google.ExpireSyncTokens()) }},
	{weight: 2, do: func(l *life) { l.say("Google: the pushes under way are lost"); l.w.LosePushes() }},
	{weight: 1, do: func(l *life) {
		l.say("Google: the next push is sent three times")
		l.w.Plant("push", func(f *worldtest.Fault) { f.Duplicate, f.Times = 2, 1 })
	}},
	{weight: 1, do: func(l *life) { l.forge() }},
	{weight: 3, do: func(l *life) {
		point := one(l, points)
		l.say("the next call fails %s", point)
		l.w.Fail(point, broken)
	}},
	{weight: 4, do: func(l *life) {
		n := 1 + l.draws.IntN(60)
		l.say("the program will die at the call %d from here", n)
		l.w.CrashAt(n)
	}},
	{weight: 1, do: func(l *life) { l.say("the program is started anew"); l.w.Restart() }},
	{weight: 2, do: func(l *life) {
		l.say("the tasks that are due are doubled")
		for _, task := range l.w.Queue.Due(l.w.Clock.Now()) {
			l.w.Queue.Duplicate(task.ID)
		}
	}},
	{weight: 1, do: func(l *life) {
		d := time.Duration(1+l.draws.IntN(600)) * time.Second
		l.say("the tasks that are due are held up for %v", d)
		for _, task := range l.w.Queue.Due(l.w.Clock.Now()) {
			l.w.Queue.Delay(task.ID, l.w.Clock.Now().Add(d))
		}
	}},
	{weight: 1, do: func(l *life) {
		if due := l.w.Queue.Due(l.w.Clock.Now()); len(due) > 0 {
			task := one(l, due)
			l.say("the run of task %s is lost before it did anything", task.ID)
			if run, ok := l.w.Queue.Take(task.ID); ok {
				run.Lose()
			}
		}
	}},
	{weight: 1, do: func(l *life) {
		person := one(l, []string{"gm", "ana"})
		l.say("%s: takes our access away", person)
		l.w.Revoke(person)
	}},
	{weight: 2, do: func(l *life) {
		person := one(l, []string{"gm", "ana"})
		l.say("%s: links their account again", person)
		l.w.Link(person)
	}},
	{weight: 1, do: func(l *life) {
		i := l.draws.IntN(len(l.polls))
		l.say("the web app: the vote of ana in poll %d vanishes", i+1)
		l.w.Remove(poll.VotePath(l.polls[i].id, "ana"))
	}},
}

// forge sends every channel a push with every secret there ever was: at most
// one of them is good, and comes once too often.
func (l *life) forge() {
	l.say("somebody sends pushes, forged and genuine ones")
	for _, watch := range l.w.Watches() {
		for _, secret := range append(l.w.Secrets(), "guessed") {
			err := l.w.Watcher.Push(l.w.Context(), calendarsync.Push{
				ChannelID: watch.Path.ID(), Token: secret, ResourceID: store.Fields(watch.Data).String("resourceId"), State: "exists", Trace: "forged",
			})
			if secret == "guessed" && err == nil {
				l.Errorf("a push with a guessed token was taken")
			}
		}
	}
}
