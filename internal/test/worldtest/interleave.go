package worldtest

import (
	"iter"
	"time"
)

// Interleaving decides how concurrent operations are interleaved: a request, the
// run of a task, a push on its way, a job of the timer. An operation runs alone
// until it is about to call the store, the queue or Google, or has called it.
// Operations are numbered from 0 on, in the order in which they began.
type Interleaving struct {
	// Next picks one of the operations that can continue; there is at least one.
	Next func(ready []int) int
	// More, where set, gives another operation to begin whenever fewer than Most are
	// under way; false: there is none now.
	More func() (operation func(), ok bool)
	Most int
	// Resume, where set, continues an operation by calling on. It can install the
	// caller's own state of that operation before the call and put it away after.
	Resume func(operation int, on func())
	// Paused, where set, is called when an operation pauses at a point ("before
	// store.run"), ends (""), or waits for time to pass. It may move the clock and
	// check invariants.
	Paused func(operation int, point string)
	// Died reports whether the whole program dies of a death at a point, and not
	// this operation alone. nil: the whole program dies.
	Died func(operation int, point string) bool
}

// AtOnce runs operations concurrently until all have ended. If the whole program
// dies, no operation makes a further call, and AtOnce panics as Survives expects it.
// While all operations wait, time passes and due work is done.
func (w *World) AtOnce(interleaving Interleaving, operations ...func()) {
	w.t.Helper()
	all := &interleaver{world: w, Interleaving: interleaving}
	for _, s := range operations {
		all.begin(s)
	}
	defer all.end()
	for range mostSteps {
		all.fill()
		ready, wake := all.ready()
		switch {
		case len(ready) > 0:
			all.goOn(interleaving.Next(ready))
		case wake.IsZero():
			return
		default:
			w.advance(wake.Sub(w.Clock.Now()))
			w.RunDue()
		}
	}
	w.t.Fatalf("the concurrent operations do not end")
}

// interleaver runs the operations of one AtOnce.
type interleaver struct {
	Interleaving
	world      *World
	operations []*operation
	underWay   int
}

// operation is a coroutine of the program. It gives the baton up by halt and
// continues only when it gets the baton back: no two ever run at the same time.
type operation struct {
	next func() (halt, bool)
	stop func()
	// yield gives the baton up; false: the operation was killed since.
	yield func(halt) bool
	ended bool
	// killed: it makes no further call.
	killed bool
	// death is where the program died in it, if it did; lost are callbacks that
	// report this to those who wait for it.
	death *crashed
	lost  []func()
	// until is what it waits for.
	until time.Time
	held
}

// held is the state of the world that an operation installs while it has the baton.
type held struct {
	program  *Program
	keeping  bool
	pressing *Press
}

// halt is where an operation has paused.
type halt struct {
	point string
	until time.Time
}

func (a *interleaver) begin(do func()) {
	this := &operation{held: held{program: a.world.Program}}
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
	a.operations = append(a.operations, this)
	a.underWay++
}

// fill begins more operations while there is room.
func (a *interleaver) fill() {
	for a.More != nil && a.underWay < a.Most {
		s, ok := a.More()
		if !ok {
			return
		}
		a.begin(s)
	}
}

// ready lists the operations that can continue now; wake is when the first waiting
// one can, zero if none waits.
func (a *interleaver) ready() (ready []int, wake time.Time) {
	now := a.world.Clock.Now()
	for i, s := range a.operations {
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

// goOn gives an operation the baton and takes it back.
func (a *interleaver) goOn(i int) {
	s := a.operations[i]
	var at halt
	on := func() {
		a.world.hold(s)
		defer a.world.hold(nil)
		var more bool
		at, more = s.next()
		s.ended = !more
		if s.ended {
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
	if a.Paused != nil {
		a.Paused(i, at.point)
	}
}

// hold gives the baton to an operation; nil: back to the test.
func (w *World) hold(s *operation) {
	own := &w.test
	if w.running != nil {
		own = &w.running.held
	}
	*own = held{w.Program, w.keeping, w.pressing}
	next := w.test
	if s != nil {
		next = s.held
	}
	w.running, w.Program, w.keeping, w.pressing = s, next.program, next.keeping, next.pressing
}

// end kills what is still under way.
func (a *interleaver) end() {
	for _, s := range a.operations {
		if !s.ended {
			s.killed, s.ended = true, true
			a.world.hold(s)
			s.stop()
			a.world.hold(nil)
		}
	}
}

// halt gives up the baton of the operation that has it, if one does, at a point or
// until a time.
func (w *World) halt(at halt) {
	if s := w.running; s != nil && !s.yield(at) {
		w.die(at.point)
	}
}

// die is the death of the program, or of the operation that has the baton.
func (w *World) die(point string) {
	if s := w.running; s != nil {
		s.killed = true
	} else {
		w.ports.dead = &crashed{point}
	}
	panic(crashed{point})
}

// refuseKilled keeps an operation, or a program, that died from making a call on its way
// out.
func (w *World) refuseKilled(call string) {
	s := w.running
	switch {
	case s != nil && s.killed:
		panic(crashed{"before " + call})
	case s == nil && w.ports.dead != nil:
		panic(*w.ports.dead)
	}
}

// RunWorkers is Run where the queue has several workers, so that tasks are
// under way at once.
func (w *World) RunWorkers(d time.Duration, workers int, interleaving Interleaving) {
	w.t.Helper()
	interleaving.Most = workers
	interleaving.More = func() (func(), bool) {
		due := w.Wakes.Due(w.Clock.Now())
		if len(due) == 0 {
			return nil, false
		}
		run := w.take(due[0].ID)
		return func() { w.carryOut(run) }, true
	}
	w.run(d, func() {
		for w.pushDue() || len(w.Wakes.Due(w.Clock.Now())) > 0 {
			w.AtOnce(interleaving)
		}
	})
}
