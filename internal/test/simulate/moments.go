package main

import (
	"math/rand/v2"
	"slices"
	"time"

	"questscheduler/internal/test/worldtest"
)

// heldUp is how long a call that something happens during stands at most: longer than its client
// waits, since Google may take up what nobody waits for any more.
const heldUp = 20

// moment is a call of mirroring during which something happens. causes are what people do to have
// the program make it.
type moment struct {
	call   string
	causes []func(l *life)
}

var moments = []moment{
	{"events.insert", []func(l *life){(*life).newMeeting, (*life).dropMirror}},
	{"events.patch", []func(l *life){(*life).moveMeeting}},
	{"events.delete", []func(l *life){(*life).dropMeeting, (*life).changeEdges}},
}

// during are what may happen during a call.
var during = []func(l *life){
	(*life).stopMirroring, (*life).changeEdges, (*life).dropMeeting, (*life).moveMeeting, (*life).dropMirror,
}

// stopMirroring has the person mirror nothing any more, until they change their mind.
func (l *life) stopMirroring() {
	l.say("%s: mirrors nothing any more", worldtest.Mirrorer)
	l.answer(l.w.SetEdges(nil))
}

// changeDuring has somebody do something while the program writes a mirror, before the write has its
// effect or after. The program goes on with that by another run, and the first one may never hear of
// its write.
func (l *life) changeDuring() {
	of, at := among(l, moments), among(l, []string{"before ", "after "})
	l.w.On(at+of.call, l.withOwnMirrorDraws(func() {
		l.say("%s%s:", at, of.call)
		unnamed := l.w.UnnamedMirrors()
		among(l, during)(l)
		l.w.Run(time.Duration(l.mirrored.draws.IntN(heldUp)) * time.Second)
		if dies := l.mirrored.draws.IntN(3) == 0; at == "before " {
			l.w.On("after "+of.call, func() { l.afterwards(of.call, dies, unnamed) })
		}
	}))
	if l.mirrored.draws.IntN(2) == 0 {
		l.w.Run(3 * time.Minute) // what there is by then is older than any call
	}
	among(l, of.causes)(l)
	l.w.Run(time.Duration(1+l.mirrored.draws.IntN(40)) * time.Second)
}

// afterwards checks that a write which something happened during made no mirror that no document
// names, beside those of before and those that somebody brought back, and may have the program die
// of it. Where clocks differ, one may be forgotten too early.
func (l *life) afterwards(call string, dies bool, before []string) {
	for _, id := range l.w.UnnamedMirrors() {
		isBrought := slices.ContainsFunc(l.mirrored.brought, func(b broughtBack) bool { return b.id == id })
		if !l.skewed && !isBrought && !slices.Contains(before, id) {
			l.Errorf("event %s was made for a mirror that was forgotten since", id)
		}
	}
	if dies {
		l.say("the program will die before the next call")
		l.w.CrashAt(1)
		return
	}
	l.w.Fail("after "+call, broken)
}

// withOwnMirrorDraws is withOwnDraws for the stream of mirroring.
func (l *life) withOwnMirrorDraws(do func()) func() {
	m := &l.mirrored
	inner := rand.New(rand.NewPCG(m.draws.Uint64(), m.draws.Uint64()))
	return func() {
		m.draws, inner = inner, m.draws
		defer func() { m.draws, inner = inner, m.draws }()
		do()
	}
}

// bringBack has somebody bring back the event of a mirror that was deleted, by anybody, and the
// mirrors be reconciled, during which it may be dragged to last year: what ended long ago is deleted
// by nobody but them. What the program leaves they delete again, at the latest in the end: it may be
// where nothing is mirrored.
func (l *life) bringBack() {
	name := among(l, l.mirrored.names)
	deleted := l.w.DeletedMirrors(name)
	if len(deleted) == 0 {
		return
	}
	id := among(l, deleted)
	l.touch(name)
	l.say("%s: brings back the mirror %s", name, id)
	if !l.w.UndeleteEvent(name, id) {
		return
	}
	l.mirrored.brought = append(l.mirrored.brought, broughtBack{name, id})
	dragged := false
	l.w.On(among(l, []string{"after events.list", "before events.delete"}), func() {
		if e := l.w.EventOf(name, id); e.Live() && len(e.Recurrence) == 0 {
			l.say("%s: drags %s to last year", name, id)
			l.w.MoveEvent(name, id, lastYear)
			dragged = true
		}
	})
	l.say("the mirrors are reconciled, and during that:")
	l.answer(l.w.ReconcileMirrors())
	if dragged && !l.w.EventOf(name, id).Live() {
		l.Errorf("event %s was deleted, which somebody had dragged to last year", id)
	}
	if !dragged {
		l.deleteMeeting(name, id)
	}
}

// broughtBack is the event of a mirror that somebody brought back, in the calendar of an account.
type broughtBack struct{ name, id string }

// deleteBrought has people delete what they brought back and the program has no mirror for.
func (l *life) deleteBrought() {
	unnamed := l.w.UnnamedMirrors()
	for _, b := range l.mirrored.brought {
		if slices.Contains(unnamed, b.id) {
			l.deleteMeeting(b.name, b.id)
		}
	}
}
