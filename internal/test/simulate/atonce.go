package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"questscheduler/internal/test/worldtest"
	"questscheduler/scheduler"
)

// mostOperations bounds the concurrent operations of a step.
const mostOperations = 4

// simultaneous are steps of several concurrent operations.
var simultaneous = []step{
	{weight: 8, always: true, do: func(l *life) { l.severalAtOnce() }},
	{weight: 3, do: func(l *life) {
		workers, d := 2+l.draws.IntN(3), time.Duration(1+l.draws.IntN(90))*time.Second
		l.say("%v pass with %d workers at once", d, workers)
		w := l.interleaver()
		defer w.describe()
		l.w.RunWorkers(d, workers, w.interleaving())
	}},
}

// concurrent are the steps that may be operations of such a step: what people ask
// for and do in their calendars, tasks, pushes, and the timer's jobs.
var concurrent = slices.Concat(commands, commands, memberships, writes, acts, deletions, []step{
	{weight: 40, do: func(l *life) { l.task(time.Duration(l.draws.IntN(2)) * time.Minute) }},
	{weight: 15, do: (*life).push},
	{weight: 8, do: func(l *life) {
		l.say("a sweep")
		err := l.w.SweepPages(scheduler.Cause{Trigger: "sweep", Trace: "sweep"})
		l.answer(err)
	}},
	{weight: 12, do: func(l *life) {
		l.say("a drain")
		_, err := l.w.Outbox.Drain(l.w.Context())
		l.answer(err)
	}},
	{weight: 3, do: func(l *life) {
		l.loses(one(l, l.owners))
	}},
	{weight: 5, do: func(l *life) {
		person := one(l, l.owners)
		l.say("%s: links their account again", person)
		l.w.Link(person)
	}},
})

// severalAtOnce runs two to four concurrent operations, at times the same one twice.
// Each has draws of its own, so that leaving one out changes the others only through
// the state of the world.
func (l *life) severalAtOnce() {
	n := 2 + l.draws.IntN(mostOperations-1)
	l.say("%d things at once", n)
	w := l.interleaver()
	defer w.describe()
	if l.draws.IntN(4) == 0 {
		at := 1 + l.draws.IntN(20*n)
		l.say("the program will die at the call %d from here", at)
		l.w.CrashAt(at)
	}
	var do []func()
	var seed [2]uint64
	for k := range n {
		if fresh := [2]uint64{l.draws.Uint64(), l.draws.Uint64()}; k == 0 || l.draws.IntN(5) > 0 {
			seed = fresh
		}
		if l.leavesOut(1 + k) {
			continue
		}
		s := &operation{number: 1 + k, draws: rand.New(rand.NewPCG(seed[0], seed[1]))}
		w.operations = append(w.operations, s)
		do = append(do, func() { l.use(); weigh(l, concurrent).do(l) })
	}
	interleaving := w.interleaving()
	if l.draws.IntN(2) == 0 {
		interleaving.Most, interleaving.More = 1+l.draws.IntN(mostOperations), l.more
	}
	l.w.AtOnce(interleaving, do...)
}

// task runs a task that is due soon.
func (l *life) task(soon time.Duration) {
	due := l.w.Wakes.Due(l.w.Clock.Now().Add(soon))
	if len(due) == 0 {
		l.say("no task waits")
		return
	}
	task := one(l, due)
	l.say("task %s runs: %s", task.ID, task.Kind)
	l.w.RunTask(task.ID)
}

// push delivers one of the pushes that are due, whichever was sent first.
func (l *life) push() {
	due := l.w.PushesDue()
	if len(due) == 0 {
		l.say("no push is on its way")
		return
	}
	push := one(l, due)
	l.say("push %d comes", push)
	l.w.Deliver(push)
}

// more takes up tasks as they become due.
func (l *life) more() (func(), bool) {
	return func() { l.use(); l.task(0) }, len(l.w.Wakes.Due(l.w.Clock.Now())) > 0
}

// weigh draws one of several steps by its weight.
func weigh(l *life, of []step) step {
	whole := 0
	for _, d := range of {
		whole += d.weight
	}
	at := l.draws.IntN(whole)
	for _, d := range of {
		at -= d.weight
		if at < 0 {
			return d
		}
	}
	panic("simulate: the weights do not add up")
}

// operation is one of several concurrent operations, with its draws and its lines of
// the history.
type operation struct {
	number int
	draws  *rand.Rand
	lines  []string
}

// interleaver draws the order of concurrent operations and records it.
type interleaver struct {
	life  *life
	draws *rand.Rand
	// stays is how likely the same operation continues, in percent; slow: calls take
	// a while at times.
	stays      int
	slow       bool
	operations []*operation
	last       int
	order      []pause
}

// pause is where an operation paused for another one.
type pause struct {
	operation int // -1: none, words is the whole entry
	words     string
}

// How many switches there are to a check of the invariants, and to a call that
// takes a while.
const (
	checkEvery = 8
	slowEvery  = 15
)

func (l *life) interleaver() *interleaver {
	draws := rand.New(rand.NewPCG(l.draws.Uint64(), l.draws.Uint64()))
	return &interleaver{life: l, draws: draws, stays: [...]int{0, 50, 80, 95}[draws.IntN(4)], slow: draws.IntN(3) == 0, last: -1}
}

func (w *interleaver) interleaving() worldtest.Interleaving {
	return worldtest.Interleaving{Next: w.next, Resume: w.resume, Paused: w.paused, Died: w.died}
}

// next draws which operation continues.
func (w *interleaver) next(ready []int) int {
	if slices.Contains(ready, w.last) && w.draws.IntN(100) < w.stays {
		return w.last
	}
	w.last = ready[w.draws.IntN(len(ready))]
	return w.last
}

// of returns an operation; it adds those that have begun since.
func (w *interleaver) of(i int) *operation {
	for i >= len(w.operations) {
		seed := [2]uint64{w.draws.Uint64(), w.draws.Uint64()}
		w.operations = append(w.operations, &operation{number: 1 + len(w.operations), draws: rand.New(rand.NewPCG(seed[0], seed[1]))})
	}
	return w.operations[i]
}

// resume continues an operation with its own draws and lines.
func (w *interleaver) resume(i int, on func()) {
	l, s := w.life, w.of(i)
	draws, lines := l.draws, l.lines
	l.draws, l.lines = s.draws, s.lines
	defer func() {
		s.lines = l.lines
		l.draws, l.lines = draws, lines
	}()
	on()
}

// paused notes where an operation has paused, lets time pass at times, and checks
// the invariants at a share of the switches: they hold between any two calls.
func (w *interleaver) paused(i int, point string) {
	if point == "" {
		point = "its end"
	}
	w.note(i, "to "+point)
	if w.slow && w.draws.IntN(slowEvery) == 0 {
		w.pass(time.Duration(1+w.draws.IntN([...]int{5, 150}[w.draws.IntN(2)])) * time.Second)
	}
	if w.draws.IntN(checkEvery) == 0 {
		w.life.check()
		if len(w.life.problems) > 0 {
			panic(stopped{})
		}
	}
}

// pass lets time pass during all calls under way: the world stands still with them,
// or goes on.
func (w *interleaver) pass(d time.Duration) {
	if w.draws.IntN(2) == 0 {
		w.note(-1, fmt.Sprint(d, " pass"))
		w.life.w.Skip(d)
		return
	}
	w.note(-1, fmt.Sprint(d, " pass in which all goes on that is not under way"))
	w.life.w.Run(d)
}

// note adds to the order of things.
func (w *interleaver) note(i int, words string) {
	if n := len(w.order); n > 0 && i >= 0 && w.order[n-1].operation == i {
		w.order[n-1].words = words
		return
	}
	w.order = append(w.order, pause{i, words})
}

// died draws whether the whole program dies of a death.
func (w *interleaver) died(i int, point string) bool {
	if w.draws.IntN(2) == 0 {
		return true
	}
	w.note(-1, fmt.Sprintf("%d dies %s", w.of(i).number, point))
	return false
}

// describe adds the lines of the operations and their order to the history.
func (w *interleaver) describe() {
	for _, s := range w.operations {
		for _, line := range s.lines {
			w.life.lines = append(w.life.lines, fmt.Sprintf("              %2d | %s", s.number, line))
		}
	}
	var b strings.Builder
	for i, at := range w.order {
		if i > 0 {
			b.WriteString("; ")
		}
		if at.operation >= 0 {
			fmt.Fprintf(&b, "%d ", w.of(at.operation).number)
		}
		b.WriteString(at.words)
	}
	if len(w.order) > 0 {
		w.life.lines = append(w.life.lines, "           order | "+b.String())
	}
}
