package main

import (
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/test/worldtest"
	"questscheduler/scheduler"
)

// races are steps whose concurrent operations all concern one event: independently
// drawn operations rarely collide.
var races = []step{
	{weight: 3, do: func(l *life) { l.race() }},
	{weight: 1, do: func(l *life) { l.meddle() }},
	{weight: 1, do: func(l *life) { l.overtake() }},
	{weight: 3, do: func(l *life) { l.interrupt() }},
	{weight: 1, do: (*life).snatch},
}

// snatch has the owner of a poll restore its original time, and the event change
// between the read and the patch.
func (l *life) snatch() {
	p, ok := l.raced()
	if !ok || p.Sync.Rescheduled == nil {
		return
	}
	by := worldtest.Person(p.CreatorID)
	l.w.On("after events.get", l.withOwnDraws(func() { l.shift(p) }))
	l.say("%s: restores the original time of poll %s, and during that:", by.ID, p.ID)
	_, err := l.w.Scheduler.RestoreOriginal(l.w.Context(), by, p.ID, worldtest.Cause)
	l.answer(err)
}

// interrupt has a poll announced and, during that, its owner finalise it again, which
// Google refuses: the current link gets a new generation.
func (l *life) interrupt() {
	p, ok := l.raced()
	if !ok {
		return
	}
	l.shift(p)
	l.w.Run(5 * time.Second)
	now := l.w.Clock.Now()
	id, wait := "", time.Duration(0)
	for _, task := range l.w.Wakes.Due(now.Add(10 * time.Minute)) {
		if task.Kind == poll.AnnounceKind && task.Entry == p.ID {
			id, wait = task.ID, task.Due.Sub(now)
		}
	}
	if id == "" {
		return
	}
	point := "before store.run"
	if l.w.Discord != nil && l.draws.IntN(2) == 0 {
		point = one(l, []string{"before discord.post", "after discord.post"})
	} else {
		for range l.draws.IntN(6) { // so many calls of the store go before
			l.w.On(point, func() {})
		}
	}
	l.w.On(point, l.withOwnDraws(func() {
		l.w.Refuse("events.insert", http.StatusForbidden, "forbidden", 1)
		by := worldtest.Person(p.CreatorID)
		l.say("%s: finalises again, and Google refuses", by.ID)
		_, err := l.w.Scheduler.Finalise(l.w.Context(), by, p.ID, worldtest.Ask{SlotID: p.WinningSlotID, CreateEvent: true}, worldtest.Cause)
		l.answer(err)
	}))
	l.w.Skip(wait)
	l.say("task %s runs: %s, and during that:", id, poll.AnnounceKind)
	l.w.RunTask(id)
	if l.draws.IntN(2) == 0 {
		l.shift(p)
	}
}

// overtake has the owner of a poll issue a command after a sync run has read the
// event and before it applies what it read.
func (l *life) overtake() {
	p, ok := l.raced()
	if !ok {
		return
	}
	by := worldtest.Person(p.CreatorID)
	l.shift(p)
	l.w.On("after events.list", l.withOwnDraws(func() { l.demand(by, p) }))
	l.sync(by, p)
}

// withOwnDraws wraps what happens during a step in draws of its own, which do not
// change the draws of the step.
func (l *life) withOwnDraws(do func()) func() {
	inner := rand.New(rand.NewPCG(l.draws.Uint64(), l.draws.Uint64()))
	return func() {
		l.draws, inner = inner, l.draws
		defer func() { l.draws, inner = inner, l.draws }()
		do()
	}
}

// meddle finalises a poll, and has things happen to the event that was made for
// it before the poll follows it.
func (l *life) meddle() {
	k := one(l, l.polls)
	p, err := poll.Load(l.w.Context(), l.w.Documents, k.id)
	if err != nil { // deleted
		return
	}
	l.w.On("after events.insert", l.withOwnDraws(func() {
		if l.draws.IntN(2) == 0 {
			l.say("Google: the sync tokens expire")
			l.must(l.w.Google.ExpireSyncTokens())
		}
		l.shift(p)
		l.w.Run(time.Duration(l.draws.IntN(20)) * time.Second)
	}))
	by := worldtest.Person(k.owner)
	l.say("%s: finalises poll %d again, and during that:", by.ID, l.number(k))
	_, err = l.w.Scheduler.Finalise(l.w.Context(), by, p.ID, worldtest.Ask{SlotID: one(l, k.slots), CreateEvent: true}, worldtest.Cause)
	l.answer(err)
}

// race has the owner of a poll that follows an event issue a command while the event
// moves and is synced.
func (l *life) race() {
	p, ok := l.raced()
	if !ok {
		return
	}
	l.say("at once about event %s", p.GoogleEventID)
	w := l.interleaver()
	defer w.describe()
	if l.draws.IntN(2) == 0 {
		l.say("Google: the sync tokens expire")
		l.must(l.w.Google.ExpireSyncTokens())
	}
	by := worldtest.Person(p.CreatorID)
	var do []func()
	for k, operation := range []func(){
		func() { l.demand(by, p) }, func() { l.shift(p) },
		func() { l.sync(by, p) }, func() { l.disturb(p); l.sync(by, p) },
	} {
		seed := [2]uint64{l.draws.Uint64(), l.draws.Uint64()}
		if l.leavesOut(1 + k) {
			continue
		}
		w.operations = append(w.operations, newOperation(1+k, seed))
		do = append(do, operation)
	}
	interleaving := w.interleaving()
	interleaving.Most, interleaving.More = mostOperations+1, l.more
	l.w.AtOnce(interleaving, do...)
}

// raced is a poll whose event the race is about, one that was moved rather than
// one that was not.
func (l *life) raced() (poll.Poll, bool) {
	var linked, moved []poll.Poll
	for _, p := range l.w.Polls() {
		if !p.Linked() {
			continue
		}
		linked = append(linked, p)
		if p.Sync.Rescheduled != nil {
			moved = append(moved, p)
		}
	}
	switch {
	case len(moved) > 0:
		return one(l, moved), true
	case len(linked) > 0:
		return one(l, linked), true
	default:
		return poll.Poll{}, false
	}
}

// demand is what the owner of a poll asks for that follows an event.
func (l *life) demand(by scheduler.Person, p poll.Poll) {
	ctx := l.w.Context()
	var err error
	switch l.draws.IntN(6) {
	case 0:
		l.say("%s: accepts the new time", by.ID)
		_, err = l.w.Scheduler.AcceptNew(ctx, by, p.ID, p.Sync.Applied.String(), worldtest.Cause)
	case 1:
		l.say("%s: cancels", by.ID)
		_, err = l.w.Scheduler.Cancel(ctx, by, p.ID, false, worldtest.Cause)
	case 2, 3:
		l.say("%s: finalises again", by.ID)
		_, err = l.w.Scheduler.Finalise(ctx, by, p.ID, worldtest.Ask{SlotID: p.WinningSlotID, CreateEvent: true}, worldtest.Cause)
	default:
		l.say("%s: restores the original time", by.ID)
		_, err = l.w.Scheduler.RestoreOriginal(ctx, by, p.ID, worldtest.Cause)
	}
	l.answer(err)
}

// shift moves or deletes an event of a poll in its calendar, be it one that the
// poll does not follow yet.
func (l *life) shift(p poll.Poll) {
	calendar := p.CreatorID
	if p.GoogleCalendarID == worldtest.ClubCalendar {
		calendar = worldtest.Club
	}
	var there []event
	for _, e := range l.w.Events(calendar) {
		if e.Marks.Private["questschedulerPoll"] == p.ID && e.Organizer.Self {
			there = append(there, event{e, calendar})
		}
	}
	if len(there) == 0 {
		l.say("%s: nothing is there to be moved", calendar)
		return
	}
	e := one(l, there)
	if l.draws.IntN(2) == 0 { // the one that was made last
		e = slices.MaxFunc(there, func(a, b event) int { return a.Updated.Compare(b.Updated) })
	}
	if l.draws.IntN(3) == 0 {
		l.say("%s: %v is deleted", calendar, e)
		l.w.DeleteEvent(calendar, e.ID)
		return
	}
	l.move(e, one(l, moves))
}

// disturb draws what else happens in the calendar: a change of the event, or now and
// then Google does not find events that are there.
func (l *life) disturb(p poll.Poll) {
	if l.draws.IntN(3) > 0 {
		l.shift(p)
		return
	}
	n := 1 + l.draws.IntN(3)
	l.say("Google: the next %d events that are asked for are not found", n)
	l.w.Refuse("events.get", http.StatusNotFound, "", n)
}

func (l *life) sync(by scheduler.Person, p poll.Poll) {
	l.say("%s: asks to sync it", by.ID)
	_, err := l.w.Scheduler.Sync(l.w.Context(), by, p.ID, worldtest.Cause)
	l.answer(err)
}

func newOperation(number int, seed [2]uint64) *operation {
	return &operation{number: number, draws: rand.New(rand.NewPCG(seed[0], seed[1]))}
}
