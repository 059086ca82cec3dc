package main

import (
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/test/worldtest"
)

// How many steps a world has, at least and at most.
const fewest, most = 5, 40

// The purposes of the streams of a seed. A step has streams of its own, so that
// leaving one out changes no other's draws.
const (
	// streamWorld draws the world, and each step.
	streamWorld = iota
	// streamQueue draws what the queue leaves open, and streamContention which
	// transactions run twice.
	streamQueue
	streamContention
	// streamClocks draws how wrong the clocks of the program's instances are.
	streamClocks
	streams
)

// mostSkew is how wrong the clock of an instance of the program is, at most.
const mostSkew = 5 * time.Minute

// contention is how many transactions there are to one whose function runs
// twice. In the other tests each does.
const contention = 4

// history is what a world lived through.
type history struct {
	seed uint64
	// planned is how many steps the world was given. steps are those that it reached,
	// in order, with the operations of each; without are those left out.
	planned int
	steps   []stepKey
	without map[stepKey]bool
	// lines tell what was done and what became of the polls.
	lines []string
	// problems are the invariants that were broken. A history ends with the step
	// that broke one.
	problems []string
	// spent is where the time went; it is no part of the history.
	spent worldtest.Spent
}

// stepKey names a step, from 0 on, or an operation of it, from 1 on (0: the whole
// step).
type stepKey struct{ step, operation int }

// String is the history as a person reads it.
func (h history) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d, %d steps", h.seed, h.planned)
	if len(h.without) > 0 {
		fmt.Fprintf(&b, " (%d that the failure does not need are left out)", len(h.without))
	}
	fmt.Fprintf(&b, "\n%s\n", strings.Join(h.lines, "\n"))
	for _, problem := range h.problems {
		fmt.Fprintf(&b, "  PROBLEM %s\n", problem)
	}
	if len(h.problems) > 0 {
		fmt.Fprintf(&b, "again: make sim SEEDS=1 SEED=%d\n", h.seed)
	}
	return b.String()
}

// life is a history under way.
type life struct {
	history
	w *worldtest.World
	// at is the current step.
	at int
	// draws is the stream of the current step; the others are those of the world
	// around it.
	draws, queue, contention, clocks *rand.Rand
	// instances is how many there are of the program; skewed: their clocks are
	// wrong.
	instances int
	skewed    bool
	polls     []known
	// owners are those who have polls; group is the id of a group, or "".
	owners []string
	group  string
	// crowded: there are many sessions in one calendar.
	crowded bool
	// gone are events that people took out of their calendars, vanished are polls
	// that the web app deleted, and recreated those whose id it used again.
	gone       []event
	vanished   []string
	recreated  []string
	consumers  consumers
	mirrored   mirrored
	attended   attended
	strangers  strangers
	grouped    grouped
	secondTool secondTool
	pressed    pressed
	// described is the last description of each poll.
	described map[string]string
	// checked, where set, is called after each check of the invariants.
	checked func(found []string)
}

// known is a poll that was made, deleted since or not.
type known struct {
	id, owner string
	slots     []string
}

// live lives through the world of a seed, without some of its steps.
func live(seed uint64, without map[stepKey]bool) history { return unborn(seed, without).live() }

// unborn is a life before its first day.
func unborn(seed uint64, without map[stepKey]bool) *life {
	return &life{history: history{seed: seed, without: without}, described: map[string]string{}}
}

func (l *life) live() history {
	l.guard(l.run)
	if l.w != nil {
		l.spent = l.w.Spent()
	}
	return l.history
}

// run is the whole life.
func (l *life) run() {
	l.draw(0)
	l.instances = [...]int{1, 1, 2, 3}[l.clocks.IntN(4)]
	l.skewed = l.clocks.IntN(3) == 0
	options := l.settings()
	options.Draw = func(n int) int { return l.queue.IntN(n) }
	options.Wrap = worldtest.Contended(func() bool { return l.contention.IntN(contention) == 0 })
	options.Instances, options.Skew = l.instances, l.skew
	options.Alone = l.instances == 1 && l.seed%2 == 0
	options.Shared = true
	options.Consumers = l.makeConsumers()
	options.Mirrored = l.makeMirrored()
	options.Grouped = l.makeGrouped()
	l.makeAttended(&options)
	options.Pressed = l.makePressed()
	l.w = worldtest.New(l, options)
	l.sayClocks()
	l.beginPreferences()
	l.begin()
	l.beginMirrors()
	l.beginSecondTool()
	l.beginGroups(options.Grouped)
	l.beginAttended()
	l.beginStrangers()
	choice := l.choose()
	l.planned = fewest + l.draws.IntN(most-fewest+1)
	for i := range l.planned {
		l.at = i
		if l.leavesOut(0) {
			continue
		}
		l.draw(1 + i)
		l.step(choice[l.draws.IntN(len(choice))])
		if len(l.problems) > 0 {
			return
		}
	}
	l.draw(1 + l.planned)
	l.settle()
}

// skew draws how wrong the clock of an instance is.
func (l *life) skew() time.Duration {
	if !l.skewed {
		return 0
	}
	return time.Duration(l.clocks.Int64N(int64(2*mostSkew))) - mostSkew
}

// sayClocks tells of the program's instances, where there is something to tell.
func (l *life) sayClocks() {
	if l.w.Outbox.Alone {
		l.say("the program claims and is woken in memory")
	}
	if l.skewed || l.instances > 1 {
		l.say("clocks of the program's instances: off by %v", l.w.Skews())
	}
}

// use has one of the program's instances do what is done next.
func (l *life) use() { l.w.Use(l.draws.IntN(l.instances)) }

// leavesOut reports whether an operation of the current step is left out; 0: the
// whole step.
func (l *life) leavesOut(operation int) bool {
	this := stepKey{l.at, operation}
	l.steps = append(l.steps, this)
	return l.without[this]
}

// draw begins the streams of the making of the world (0), of a step (from 1 on), or
// of the end.
func (l *life) draw(of int) {
	stream := func(purpose int) *rand.Rand {
		return rand.New(rand.NewPCG(l.seed, uint64(of*streams+purpose)))
	}
	l.draws, l.queue, l.contention, l.clocks = stream(streamWorld), stream(streamQueue), stream(streamContention), stream(streamClocks)
	l.drawConsumers(of)
	l.drawMirrors(of)
	l.drawGroups(of)
	l.drawAttended(of)
	l.drawStrangers(of)
	l.drawSecondTool(of)
	l.drawPressed(of)
}

// step takes one step; if the program dies of it, another takes over.
func (l *life) step(d step) {
	l.use()
	lived, point := l.w.Survives(func() {
		l.mayFollow()
		l.mayMirror()
		l.mayCopyBack()
		l.mayGather()
		l.mayAttend()
		l.mayName()
		l.mayPress()
		d.do(l)
	})
	if !lived {
		l.add("the program dies " + point)
		if l.draws.IntN(2) == 0 {
			l.say("another one, which ran already, takes over")
			l.w.TakeOver()
		} else {
			l.say("it is started anew")
			l.w.Restart()
		}
		l.sayClocks()
	}
	l.describe()
	l.check()
	l.problems = append(l.problems, l.w.PushProblems()...)
}

// check finds invariants that do not hold now.
func (l *life) check() {
	history, found := l.w.HistoryProblems(),
		slices.Concat(l.w.Problems(), l.w.ConsumerProblems(), l.w.MirrorProblems(), l.w.PendingAuditProblems(), l.w.MappingProblems())
	if l.checked != nil {
		l.checked(found)
	}
	found = append(history, found...)
	for _, problem := range found {
		if !l.excused(problem) {
			l.problems = append(l.problems, problem)
		}
	}
}

// excused reports whether a problem is about a poll that was edited directly, or made
// of the id of another one, and is not repaired yet.
func (l *life) excused(problem string) bool {
	if slices.ContainsFunc(l.vanished, func(id string) bool { return strings.Contains(problem, id) }) {
		return true
	}
	return slices.ContainsFunc(l.w.Polls(), func(p poll.Poll) bool {
		return strings.Contains(problem, p.ID) && (p.EditedDirectly() || p.Pristine() || l.unfollowed(p))
	})
}

// unfollowed reports whether a direct edit was repaired except for the link to its
// event: no linked account can follow it, or the program died before. A sweep links
// it once an account is linked.
func (l *life) unfollowed(p poll.Poll) bool {
	entry, _, err := poll.IndexOf(l.w.Context(), l.w.Documents, p)
	journal := l.w.Journal(p.ID)
	elsewhere := !strings.HasPrefix(p.GoogleEventID, poll.EventPrefix)
	return err == nil && entry == nil && (elsewhere || len(journal) > 0 && journal[len(journal)-1].Trigger == "outside_edit")
}

// say begins a line of the history.
func (l *life) say(format string, args ...any) {
	l.lines = append(l.lines, l.w.Clock.Now().Format("Jan 02 15:04:05  ")+fmt.Sprintf(format, args...))
}

// add says how the last line came out.
func (l *life) add(outcome string) { l.lines[len(l.lines)-1] += " → " + outcome }

// answer says what became of a command. That it is refused is no problem; that
// it fails in a way nobody foresaw is.
func (l *life) answer(err error) {
	switch {
	case err == nil:
		l.add("done")
	case fault.Is(err, fault.Internal):
		l.add(err.Error())
		l.problems = append(l.problems, "a command failed in a way that nobody foresaw: "+err.Error())
	default:
		l.add(fmt.Sprintf("%v: %v", fault.KindOf(err), err))
	}
}

// describe adds a line for each poll that changed since its last description.
func (l *life) describe() {
	for i, k := range l.polls {
		state := "is gone"
		if p, winning, there := l.w.PollWithWinner(k.id); there {
			state = description(p, winning)
		}
		if l.described[k.id] != state {
			l.described[k.id] = state
			l.lines = append(l.lines, fmt.Sprintf("                 | poll %d of %s %s", i+1, k.owner, state))
		}
	}
}

// description is the state of a poll in a line.
func description(p poll.Poll, winning *poll.Slot) string {
	var b strings.Builder
	fmt.Fprintf(&b, "(%s) is %s", p.ID, p.Status)
	if winning != nil {
		fmt.Fprintf(&b, " for %s", winning.Start.UTC().Format("Jan 02 15:04"))
	}
	if p.GoogleEventID != "" {
		fmt.Fprintf(&b, ", event %s, last applied %v, sync %q", p.GoogleEventID, p.Sync.Applied, p.Sync.State)
	}
	if p.Sync.Error != nil {
		fmt.Fprintf(&b, ", error %s", p.Sync.Error.Code)
	}
	return b.String()
}

// stopped is how a world ends that cannot go on.
type stopped struct{}

// guard runs the life; where it cannot go on, or panics, that is a problem.
func (l *life) guard(run func()) {
	defer func() {
		switch broken := recover().(type) {
		case nil, stopped:
		default:
			l.problems = append(l.problems, fmt.Sprintf("panic: %v\n%s", broken, debug.Stack()))
		}
	}()
	run()
}

// Helper is worldtest.TB's, and does nothing here.
func (l *life) Helper() {}

// Logf is worldtest.TB's: a line of the history.
func (l *life) Logf(format string, args ...any) { l.say(format, args...) }

// Errorf is worldtest.TB's: a problem.
func (l *life) Errorf(format string, args ...any) {
	l.problems = append(l.problems, fmt.Sprintf(format, args...))
}

// Fatalf is worldtest.TB's: a problem that ends the life.
func (l *life) Fatalf(format string, args ...any) {
	l.Errorf(format, args...)
	panic(stopped{})
}

func (l *life) must(err error) {
	if err != nil {
		l.Fatalf("unexpected error: %v", err)
	}
}
