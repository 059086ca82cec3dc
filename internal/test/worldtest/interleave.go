package worldtest

import (
	"iter"
	"time"
)

// Weaving decides how strands are woven that are under way at once: a request,
// the run of a task, a push on its way, a job of the timer. A strand goes on
// alone until it is about to make a call of the store, the queue or Google, or
// has made it. Strands are named by the order in which they began, from 0 on.
type Weaving struct {
	// Next says which of those that can go on does; there is one at least.
	Next func(ready []int) int
	// More, where set, gives another strand to begin whenever fewer than Most are
	// under way; false: there is none now.
	More func() (strand func(), ok bool)
	Most int
	// Resume, where set, lets a strand go on by calling on: what its caller
	// keeps for each strand, it can put in its place before and away after.
	Resume func(strand int, on func())
	// Stood, where set, is called when a strand stands at a point ("before
	// store.run"), "" at its end, or waits for time to pass. The clock may be
	// moved then, and invariants be checked.
	Stood func(strand int, point string)
	// Died says of a death at a point whether the whole program dies of it, and
	// not this strand alone. nil: it does.
	Died func(strand int, point string) bool
}

// AtOnce has strands be under way at once until each came to its end. Where the
// whole program dies, no strand makes a further call, and the death is the
// caller's, as Survives catches it. Where all of them wait, time passes, and
// what is due meanwhile is done.
func (w *World) AtOnce(weaving Weaving, strands ...func()) {
	w.t.Helper()
	all := &weave{world: w, Weaving: weaving}
	for _, s := range strands {
		all.begin(s)
	}
	defer all.end()
	for range mostSteps {
		all.fill()
		ready, wake := all.ready()
		switch {
		case len(ready) > 0:
			all.goOn(weaving.Next(ready))
		case wake.IsZero():
			return
		default:
			w.advance(wake.Sub(w.Clock.Now()))
			w.RunDue()
		}
	}
	w.t.Fatalf("what is under way at once comes to no end")
}

// weave is a weaving under way.
type weave struct {
	Weaving
	world    *World
	strands  []*strand
	underWay int
}

// strand is a coroutine of the program. It gives the baton up by halt, and only
// goes on when it is given back: no two ever run at the same time.
type strand struct {
	next func() (halt, bool)
	stop func()
	// yield gives the baton up; false: the strand was killed meanwhile.
	yield func(halt) bool
	ended bool
	// killed: it makes no further call.
	killed bool
	// death is where the program died over it, if it did, and lost is what then
	// becomes known to those who wait for it.
	death *crashed
	lost  []func()
	// until is what it waits for.
	until time.Time
	held
}

// held is what a strand puts in its place while it has the baton.
type held struct {
	program *Program
	keeping bool
}

// halt is where a strand stands.
type halt struct {
	point string
	until time.Time
}

func (a *weave) begin(do func()) {
	this := &strand{held: held{program: a.world.Program}}
	this.next, this.stop = iter.Pull(func(yield func(halt) bool) {
		this.yield = yield
		defer func() {
			switch death := recover().(type) {
			case nil:
			case crashed:
				this.death = &death
			default:
				panic(death)
			}
		}()
		do()
	})
	a.strands = append(a.strands, this)
	a.underWay++
}

// fill begins more strands while there is room.
func (a *weave) fill() {
	for a.More != nil && a.underWay < a.Most {
		s, ok := a.More()
		if !ok {
			return
		}
		a.begin(s)
	}
}

// ready are the strands that can go on now, and wake is when the first of those
// can that wait; zero: none does.
func (a *weave) ready() (ready []int, wake time.Time) {
	now := a.world.Clock.Now()
	for i, s := range a.strands {
		switch {
		case s.ended:
		case !s.until.After(now):
			ready = append(ready, i)
		case wake.IsZero() || s.until.Before(wake):
			wake = s.until
		}
	}
	return ready, wake
}

// goOn gives a strand the baton and takes it back.
func (a *weave) goOn(i int) {
	s := a.strands[i]
	var at halt
	on := func() {
		a.world.hold(s)
		defer a.world.hold(nil)
		var more bool
		at, more = s.next()
		if s.ended = !more; s.ended {
			a.underWay--
		}
	}
	if a.Resume != nil {
		a.Resume(i, on)
	} else {
		on()
	}
	s.until = at.until
	if s.death != nil {
		if a.Died == nil || a.Died(i, s.death.point) {
			panic(*s.death)
		}
		for _, tell := range s.lost {
			tell()
		}
	}
	if a.Stood != nil {
		a.Stood(i, at.point)
	}
}

// hold gives the baton to a strand; nil: back to the test.
func (w *World) hold(s *strand) {
	own := &w.test
	if w.running != nil {
		own = &w.running.held
	}
	*own = held{w.Program, w.keeping}
	next := w.test
	if s != nil {
		next = s.held
	}
	w.running, w.Program, w.keeping = s, next.program, next.keeping
}

// end kills what is still under way.
func (a *weave) end() {
	for _, s := range a.strands {
		if !s.ended {
			s.killed, s.ended = true, true
			a.world.hold(s)
			s.stop()
			a.world.hold(nil)
		}
	}
}

// halt gives up the baton of the strand that has it, if one does, at a point or
// until a time.
func (w *World) halt(at halt) {
	if s := w.running; s != nil && !s.yield(at) {
		w.die(at.point)
	}
}

// die is the death of the program, or of the strand that has the baton.
func (w *World) die(point string) {
	if s := w.running; s != nil {
		s.killed = true
	}
	panic(crashed{point})
}

// refuseKilled keeps a strand that died from making a call on its way out.
func (w *World) refuseKilled(call string) {
	if s := w.running; s != nil && s.killed {
		panic(crashed{"before " + call})
	}
}

// RunWorkers is Run where the queue has several workers, so that tasks are
// under way at once.
func (w *World) RunWorkers(d time.Duration, workers int, weaving Weaving) {
	w.t.Helper()
	weaving.Most = workers
	weaving.More = func() (func(), bool) {
		due := w.Queue.Due(w.Clock.Now())
		if len(due) == 0 {
			return nil, false
		}
		run := w.take(due[0].ID)
		return func() { w.carryOut(run) }, true
	}
	w.run(d, func() {
		for w.pushDue() || len(w.Queue.Due(w.Clock.Now())) > 0 {
			w.AtOnce(weaving)
		}
	})
}
