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

// mostStrands is how many things a deed has under way at once, at most.
const mostStrands = 4

// simultaneous are deeds in which several things are under way at once.
var simultaneous = []deed{
	{weight: 8, always: true, do: func(l *life) { l.severalAtOnce() }},
	{weight: 3, do: func(l *life) {
		workers, d := 2+l.draws.IntN(3), time.Duration(1+l.draws.IntN(90))*time.Second
		l.say("%v pass with %d workers at once", d, workers)
		w := l.weaver()
		defer w.tell()
		l.w.RunWorkers(d, workers, w.weaving())
	}},
}

// amid is what may be under way at the same time as others: what people ask
// for and do in their calendars, tasks, pushes, and the timer's jobs.
var amid = slices.Concat(commands, commands, memberships, writes, acts, deletions, []deed{
	{weight: 40, do: func(l *life) { l.task(time.Duration(l.draws.IntN(2)) * time.Minute) }},
	{weight: 15, do: (*life).push},
	{weight: 8, do: func(l *life) {
		l.say("a sweep")
		err := l.w.SweepPages(scheduler.Cause{Trigger: "sweep", Trace: "sweep"})
		l.answer(err)
	}},
	{weight: 8, do: func(l *life) {
		l.say("a drain")
		_, err := l.w.Scheduler.Drain(l.w.Context(), scheduler.Cause{Trigger: "drain", Trace: "drain"})
		l.answer(err)
	}},
	{weight: 4, do: func(l *life) {
		l.say("watch channels are renewed or tried again")
		_, err := l.w.Watcher.Retry(l.w.Context(), scheduler.Cause{Trigger: "drain", Trace: "drain"})
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

// severalAtOnce has two to four things be under way at once, the same one twice
// among them at times. Each has draws of its own, so that leaving one out
// changes none of the others but by what it does.
func (l *life) severalAtOnce() {
	n := 2 + l.draws.IntN(mostStrands-1)
	l.say("%d things at once", n)
	w := l.weaver()
	defer w.tell()
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
		s := &strand{number: 1 + k, draws: rand.New(rand.NewPCG(seed[0], seed[1]))}
		w.strands = append(w.strands, s)
		do = append(do, func() { l.use(); weigh(l, amid).do(l) })
	}
	weaving := w.weaving()
	if l.draws.IntN(2) == 0 {
		weaving.Most, weaving.More = 1+l.draws.IntN(mostStrands), l.more
	}
	l.w.AtOnce(weaving, do...)
}

// task runs a task that is due soon.
func (l *life) task(soon time.Duration) {
	due := l.w.Queue.Due(l.w.Clock.Now().Add(soon))
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
	return func() { l.use(); l.task(0) }, len(l.w.Queue.Due(l.w.Clock.Now())) > 0
}

// weigh draws one of several deeds by its weight.
func weigh(l *life, of []deed) deed {
	whole := 0
	for _, d := range of {
		whole += d.weight
	}
	at := l.draws.IntN(whole)
	for _, d := range of {
		if at -= d.weight; at < 0 {
			return d
		}
	}
	panic("simulate: the weights do not add up")
}

// strand is one of several things that are under way at once, as its line of the
// history tells it.
type strand struct {
	number int
	draws  *rand.Rand
	lines  []string
}

// weaver draws how strands are woven, and tells of it.
type weaver struct {
	life  *life
	draws *rand.Rand
	// stays is how likely the strand that stands goes on, in percent; slow: calls
	// take a while at times.
	stays   int
	slow    bool
	strands []*strand
	last    int
	order   []stand
}

// stand is where a strand stood when another one went on.
type stand struct {
	strand int // -1: none, the words are all
	words  string
}

// How many switches there are to a check of the invariants, and to a call that
// takes a while.
const (
	checkEvery = 8
	slowEvery  = 15
)

func (l *life) weaver() *weaver {
	draws := rand.New(rand.NewPCG(l.draws.Uint64(), l.draws.Uint64()))
	return &weaver{life: l, draws: draws, stays: [...]int{0, 50, 80, 95}[draws.IntN(4)], slow: draws.IntN(3) == 0, last: -1}
}

func (w *weaver) weaving() worldtest.Weaving {
	return worldtest.Weaving{Next: w.next, Resume: w.resume, Stood: w.stood, Died: w.died}
}

// next draws who goes on.
func (w *weaver) next(ready []int) int {
	if slices.Contains(ready, w.last) && w.draws.IntN(100) < w.stays {
		return w.last
	}
	w.last = ready[w.draws.IntN(len(ready))]
	return w.last
}

// of is a strand; those that were begun meanwhile are told of as well.
func (w *weaver) of(i int) *strand {
	for i >= len(w.strands) {
		seed := [2]uint64{w.draws.Uint64(), w.draws.Uint64()}
		w.strands = append(w.strands, &strand{number: 1 + len(w.strands), draws: rand.New(rand.NewPCG(seed[0], seed[1]))})
	}
	return w.strands[i]
}

// resume lets a strand go on with its own draws and lines.
func (w *weaver) resume(i int, on func()) {
	l, s := w.life, w.of(i)
	draws, lines := l.draws, l.lines
	l.draws, l.lines = s.draws, s.lines
	defer func() {
		s.lines = l.lines
		l.draws, l.lines = draws, lines
	}()
	on()
}

// stood notes where a strand stands, lets time pass at times, and checks the
// invariants at a share of the switches: they hold between any two calls.
func (w *weaver) stood(i int, point string) {
	if point == "" {
		point = "its end"
	}
	w.note(i, "to "+point)
	if w.slow && w.draws.IntN(slowEvery) == 0 {
		w.pass(time.Duration(1+w.draws.IntN([...]int{5, 150}[w.draws.IntN(2)])) * time.Second)
	}
	if w.draws.IntN(checkEvery) == 0 {
		if w.life.check(); len(w.life.problems) > 0 {
			panic(stopped{})
		}
	}
}

// pass lets time pass amid all calls under way: the world stands still with
// them, or goes on.
func (w *weaver) pass(d time.Duration) {
	if w.draws.IntN(2) == 0 {
		w.note(-1, fmt.Sprint(d, " pass"))
		w.life.w.Skip(d)
		return
	}
	w.note(-1, fmt.Sprint(d, " pass in which all goes on that is not under way"))
	w.life.w.Run(d)
}

// note adds to the order of things.
func (w *weaver) note(i int, words string) {
	if n := len(w.order); n > 0 && i >= 0 && w.order[n-1].strand == i {
		w.order[n-1].words = words
		return
	}
	w.order = append(w.order, stand{i, words})
}

// died draws whether a death is that of the whole program.
func (w *weaver) died(i int, point string) bool {
	if w.draws.IntN(2) == 0 {
		return true
	}
	w.note(-1, fmt.Sprintf("%d dies %s", w.of(i).number, point))
	return false
}

// tell adds what the strands did, and in which order, to the history.
func (w *weaver) tell() {
	for _, s := range w.strands {
		for _, line := range s.lines {
			w.life.lines = append(w.life.lines, fmt.Sprintf("              %2d | %s", s.number, line))
		}
	}
	var b strings.Builder
	for i, at := range w.order {
		if i > 0 {
			b.WriteString("; ")
		}
		if at.strand >= 0 {
			fmt.Fprintf(&b, "%d ", w.of(at.strand).number)
		}
		b.WriteString(at.words)
	}
	if len(w.order) > 0 {
		w.life.lines = append(w.life.lines, "           order | "+b.String())
	}
}
