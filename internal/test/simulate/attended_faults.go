package main

import (
	"math/rand/v2"
	"time"

	"questscheduler/internal/test/worldtest"
)

// attendedFaults are what goes wrong of second addresses.
var attendedFaults = []step{
	{weight: 4, do: func(l *life) { l.gathering(l.actDuringACall) }},
	{weight: 3, do: (*life).attendAtOnce},
	{weight: 4, do: func(l *life) {
		method := drawn(l, []string{"events.get", "events.patch", "events.patch"})
		switch l.attended.draws.IntN(3) {
		case 0:
			l.say("Google: the answer to the next %s is lost", method)
			l.w.Plant(method, func(f *worldtest.Fault) { f.LostAnswer, f.Times = true, 1 })
		case 1:
			status, times := drawn(l, []int{429, 500, 503, 412}), 1+l.attended.draws.IntN(3)
			if status == 412 {
				method = "events.patch"
			}
			l.say("Google: the next %d calls of %s are refused with %d", times, method, status)
			l.w.Refuse(method, status, "", times)
		default:
			point := drawn(l, []string{"before ", "after "}) + drawn(l, []string{method, "sheet.read", "store.run", "wake"})
			l.say("the next call fails %s", point)
			l.w.Fail(point, broken)
		}
	}},
	{weight: 3, do: func(l *life) {
		n := 1 + l.attended.draws.IntN(60)
		l.say("the program will die at the call %d from here", n)
		l.w.CrashAt(n)
	}},
	{weight: 2, do: func(l *life) {
		point := drawn(l, []string{"before ", "after "}) + drawn(l, []string{"events.patch", "events.patch", "events.get", "sheet.read"})
		l.say("the program will die %s", point)
		l.w.Crash(point)
	}},
	{weight: 1, do: func(l *life) { l.say("Google: the sync tokens expire"); l.must(l.w.Google.ExpireSyncTokens()) }},
	{weight: 2, do: func(l *life) { l.say("Google: the pushes under way are lost"); l.w.LosePushes() }},
	{weight: 2, do: func(l *life) {
		name := drawn(l, worldtest.Primaries)
		if l.attended.delegated {
			l.say("the administrator ends the delegation")
			l.w.EndDelegation(true)
			return
		}
		if l.chance(2) {
			l.say("%s: takes our access away", name)
			l.w.Revoke(name)
			return
		}
		l.say("%s: unlinks their account", name)
		l.w.Unlink(name)
	}},
	{weight: 3, do: func(l *life) {
		l.say("the colleagues give access again")
		l.w.LinkColleagues()
	}},
}

// attendAtOnce runs tasks, loads, drains and what people do concurrently.
func (l *life) attendAtOnce() {
	n := 2 + l.attended.draws.IntN(3)
	l.say("%d things of second addresses at once", n)
	w := l.interleaver()
	defer w.describe()
	if l.chance(4) {
		at := 1 + l.attended.draws.IntN(15*n)
		l.say("the program will die at the call %d from here", at)
		l.w.CrashAt(at)
	}
	var do []func()
	for k := range n {
		kind, draws := l.attended.draws.IntN(8), rand.New(rand.NewPCG(l.attended.draws.Uint64(), l.attended.draws.Uint64()))
		w.operations = append(w.operations, &operation{number: 1 + k, draws: draws})
		do = append(do, func() { l.use(); l.attendConcurrently(kind) })
	}
	interleaving := w.interleaving()
	interleaving.Most, interleaving.More = n, l.more
	l.w.AtOnce(interleaving, do...)
}

func (l *life) attendConcurrently(kind int) {
	switch kind {
	case 0:
		l.reload("")
	case 1:
		l.say("a drain of second addresses")
		l.w.DrainOutbox()
	case 2:
		l.push()
	case 3, 4:
		l.w.DuringCalls(func() { l.gathering(l.invite) })
	default:
		l.task(time.Duration(l.draws.IntN(2)) * time.Minute)
	}
}

// actDuringACall has somebody change an event while the program is about to.
func (l *life) actDuringACall(g worldtest.Gathering) {
	point := drawn(l, []string{"before events.patch", "before events.patch", "after events.get"})
	act := drawn(l, []string{"invites uwe", "removes a guest", "accepts", "declines"})
	l.say("somebody %s at %v %s", act, g, point)
	draw, email := l.attended.draws.IntN(100), l.spelled("uwe@else.example")
	l.w.On(point, func() {
		l.w.DuringCalls(func() {
			now := l.w.GatheringOf(g.OrganizerName(), g.ID)
			switch {
			case !now.Live():
			case act == "invites uwe":
				l.w.Invite(g.OrganizerName(), g.ID, worldtest.Guest{"email": email})
			case len(now.Guests) == 0:
			case act == "removes a guest":
				l.w.Uninvite(g.OrganizerName(), g.ID, now.Guests[draw%len(now.Guests)].Address())
			default:
				guest := now.Guests[draw%len(now.Guests)]
				if l.shows(now)(guest) {
					l.w.Respond(nameOf(guest.Address()), g.ID, map[string]string{"accepts": "accepted", "declines": "declined"}[act])
				}
			}
		})
	})
}
