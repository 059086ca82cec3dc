package main

import (
	"errors"
	"slices"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/test/worldtest"
)

// answer is one way of Google to refuse a call; reason "" is the usual one of
// the status.
type answer struct {
	status int
	reason string
}

// The answers that every method may give, and what 403 means besides.
var (
	unwell  = []answer{{401, ""}, {429, ""}, {500, ""}, {503, ""}}
	limited = []answer{{403, "rateLimitExceeded"}, {403, "userRateLimitExceeded"}, {403, "quotaExceeded"}}
	refused = []answer{{403, "forbidden"}, {403, "insufficientPermissions"}}
	gone    = []answer{{410, "fullSyncRequired"}, {410, "updatedMinTooLongAgo"}}
	missing = []answer{{404, ""}}
	stale   = []answer{{412, ""}}
)

// refusals are what Google may answer with. Where 404 or 403 say that an event
// is gone or never to be touched they are believed, so there they would be no
// faults.
var refusals = []struct {
	method  string
	answers []answer
}{
	{"events.insert", slices.Concat(unwell, limited, refused, missing)},
	{"events.list", slices.Concat(unwell, limited, refused, missing, gone)},
	{"events.get", slices.Concat(unwell, limited, refused, missing)},
	{"events.patch", slices.Concat(unwell, limited, refused, missing, stale)},
	{"events.delete", slices.Concat(unwell, limited, refused[1:])},
	{"calendarList.list", slices.Concat(unwell, limited, refused[:1])}, // the other says that it was not granted
	{"events.watch", slices.Concat(unwell, limited, refused, missing)},
	{"channels.stop", slices.Concat(unwell, limited)}, // 404 says that it is closed
	{"oauth.token", []answer{{429, ""}, {503, ""}}},
}

// points are where a call of the program can fail: before it had any effect, or
// after, when nobody hears of that.
var points = slices.Concat(
	[]string{"before store.run", "after store.run", "before store.read", "before wake", "after wake"},
	around("events.insert", "events.get", "events.list", "events.patch", "events.delete", "events.watch", "channels.stop",
		"calendarList.list"),
	around("discord.post", "discord.edit", "discord.recent"),
)

func around(calls ...string) (points []string) {
	for _, call := range calls {
		points = append(points, "before "+call, "after "+call)
	}
	return points
}

// broken is a call that timed out, or whose connection broke, or a store that
// gave up over contention: in all of them the effect may have taken place.
var broken = fault.Wrap(fault.Unavailable, errors.New("broken"), "It did not answer.")

// faults are what can go wrong at any call.
var faults = []step{
	{weight: 4, do: func(l *life) {
		r := one(l, refusals)
		a, times := one(l, r.answers), 1+l.draws.IntN(3)
		l.say("Google: the next %d calls of %s are refused with %d %s", times, r.method, a.status, a.reason)
		l.w.Refuse(r.method, a.status, a.reason, times)
	}},
	{weight: 1, do: func(l *life) {
		a := one(l, slices.Concat(unwell[1:], limited))
		l.say("Google: a storm of %d %s", a.status, a.reason)
		l.w.Refuse("events.*|channels.*", a.status, a.reason, 3+l.draws.IntN(20))
	}},
	{weight: 3, do: func(l *life) {
		r := one(l, refusals)
		l.say("Google: the answer to the next %s is lost", r.method)
		l.w.Plant(r.method, func(f *worldtest.Fault) { f.LostAnswer, f.Times = true, 1 })
	}},
	{weight: 4, do: func(l *life) {
		point, times := one(l, points), 1+l.draws.IntN(3)
		l.say("the next %d calls fail %s", times, point)
		for range times {
			l.w.Fail(point, broken)
		}
	}},
	{weight: 4, do: func(l *life) {
		n := 1 + l.draws.IntN(60)
		l.say("the program will die at the call %d from here", n)
		l.w.CrashAt(n)
	}},
	{weight: 1, do: func(l *life) { l.say("the program is started anew"); l.w.Restart() }},
	{weight: 2, do: func(l *life) {
		l.say("the wakes that are due are doubled")
		for _, task := range l.w.Wakes.Due(l.w.Clock.Now()) {
			l.w.Wakes.Duplicate(task.ID)
		}
	}},
	{weight: 1, do: func(l *life) {
		d := time.Duration(1+l.draws.IntN(600)) * time.Second
		l.say("the wakes that are due are held up for %v", d)
		for _, task := range l.w.Wakes.Due(l.w.Clock.Now()) {
			l.w.Wakes.Delay(task.ID, l.w.Clock.Now().Add(d))
		}
	}},
	{weight: 1, do: func(l *life) { l.say("the %d wakes that wait are forgotten", l.w.Wakes.Forget()) }},
	{weight: 1, do: func(l *life) {
		if due := l.w.Wakes.Due(l.w.Clock.Now()); len(due) > 0 {
			task := one(l, due)
			l.say("the run of wake %s is lost before it did anything", task.ID)
			if run, ok := l.w.Wakes.Take(task.ID); ok {
				run.Lose()
			}
		}
	}},
}

// loses has a person take our access away: at Google, or here, where what
// follows may be cut off.
func (l *life) loses(person string) {
	if l.draws.IntN(2) == 0 {
		l.say("%s: takes our access away", person)
		l.w.Revoke(person)
		return
	}
	l.say("%s: unlinks their account", person)
	l.w.Unlink(person)
}
