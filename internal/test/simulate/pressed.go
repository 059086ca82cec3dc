package main

import (
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// pressed are people who use buttons and forms on Discord, if the world has such. They have streams
// of their own, so that worlds without them are what they would be anyhow.
type pressed struct {
	there bool
	draws *rand.Rand
	// forms are open voting forms, which somebody may submit later. sent are presses that may come
	// again, and late those that Discord delivers later.
	forms []votingForm
	sent  []*worldtest.Press
	late  []latePress
}

// votingForm is a form as a person has it before them.
type votingForm struct {
	by string
	of known
	id string
	// slots are those that it shows.
	slots []poll.Slot
}

type latePress struct {
	*worldtest.Press
	at time.Time
}

const (
	// streamPressed tells their streams from those of the world.
	streamPressed = 0xd15c
	// mostForms and mostSent are how many forms and presses are remembered.
	mostForms, mostSent = 6, 12
	// mostPolls is how many polls there are before nobody makes another one.
	mostPolls = 12
)

func (l *life) drawPressed(of int) {
	l.pressed.draws = rand.New(rand.NewPCG(l.seed^streamPressed, uint64(of)))
}

// makePressed draws whether there are presses.
func (l *life) makePressed() bool {
	l.pressed.there = l.pressed.draws.IntN(2) == 0
	return l.pressed.there
}

// pick draws one of several from the stream of presses.
func pick[T any](l *life, of []T) T { return of[l.pressed.draws.IntN(len(of))] }

// lastOf are the last of several, at most so many.
func lastOf[T any](all []T, most int) []T { return all[max(0, len(all)-most):] }

// presses are what people do on Discord.
var presses = []step{
	{weight: 6, do: (*life).pressVote},
	{weight: 2, do: (*life).submitEarlier},
	{weight: 5, do: (*life).pressManage},
	{weight: 1, do: (*life).pressCreate},
	{weight: 3, do: (*life).pressAgain},
	{weight: 3, do: (*life).raceVotes},
	{weight: 1, do: func(l *life) { l.say("expired interactions are removed"); l.answer(l.w.ForgetPresses()) }},
}

// mayPress draws whether somebody presses before a step. What Discord held up comes first.
func (l *life) mayPress() {
	if !l.pressed.there || l.group == "" {
		return
	}
	l.deliverLate(func(p latePress) bool { return !p.at.After(l.w.Clock.Now()) })
	if l.pressed.draws.IntN(2) > 0 {
		return
	}
	l.pickWeighed(presses).do(l)
}

// pickWeighed is weigh from the stream of presses.
func (l *life) pickWeighed(of []step) (drawn step) {
	l.withOwnPresses(func() { drawn = weigh(l, of) })
	return drawn
}

// deliverLate delivers what Discord held up and is due, in any order.
func (l *life) deliverLate(due func(latePress) bool) {
	s := &l.pressed
	s.draws.Shuffle(len(s.late), func(i, j int) { s.late[i], s.late[j] = s.late[j], s.late[i] })
	for i := 0; i < len(s.late); {
		if !due(s.late[i]) {
			i++
			continue
		}
		p := s.late[i].Press
		s.late = slices.Delete(s.late, i, i+1)
		l.say("the press %s of %s comes", p.ID, p.By)
		l.deliver(p)
	}
}

// deliver delivers a press, and says what its sender is told.
func (l *life) deliver(p *worldtest.Press) worldtest.Told {
	if p.Poll != "" {
		l.w.Concern(p.Poll, p.By)
	}
	told := l.w.Press(p)
	text, _, _ := strings.Cut(told.Text, "\n")
	l.add(text)
	l.learn(p)
	return told
}

// learn makes a poll that a press made one of the world's.
func (l *life) learn(p *worldtest.Press) {
	id := p.Makes()
	isKnown := slices.ContainsFunc(l.polls, func(k known) bool { return k.id == id })
	if p.Slots == 0 || isKnown || !l.w.Document(poll.Path(id)).Exists() {
		return
	}
	var ids []string
	for _, slot := range l.w.SlotsOf(id) {
		ids = append(ids, slot.ID)
	}
	l.know(id, p.By, ids)
}

// fates are what becomes of a press.
var fates = []step{
	{weight: 12, do: func(*life) {}},
	{weight: 2, do: func(l *life) { l.add("the program will die before it stores that"); l.w.Crash("before store.run") }},
	{weight: 4, do: func(l *life) { l.add("the program will die before it answers"); l.w.Crash("after store.run") }},
	{weight: 2, do: func(l *life) {
		l.add("the store fails")
		l.w.Fail(pick(l, []string{"before store.run", "after store.run", "before store.read"}), broken)
	}},
	{weight: 3, do: func(l *life) {
		l.add("the store is slow")
		points := []string{"before store.run", "after store.run", "before store.read", "after store.read"}
		l.w.On(pick(l, points), func() { l.w.Skip(3 * time.Second) })
	}},
}

// sendPress has Discord send a press, with some fate, once or twice, at once or later.
func (l *life) sendPress(p *worldtest.Press) {
	s := &l.pressed
	s.sent = lastOf(append(s.sent, p), mostSent)
	switch s.draws.IntN(8) {
	case 0:
		l.holdUp(p)
		return
	case 1:
		l.add("twice at once")
		w := l.interleaver()
		defer w.describe()
		deliver := func() { l.say("it comes"); l.deliver(p) }
		l.w.AtOnce(w.interleaving(), deliver, deliver)
		return
	case 2:
		l.holdUp(p) // and now
	}
	l.pickWeighed(fates).do(l)
	l.deliver(p)
}

// holdUp has Discord deliver a press later, at times when nobody may take it any more.
func (l *life) holdUp(p *worldtest.Press) {
	d := time.Duration(1+l.pressed.draws.IntN([]int{30, 600, 1200}[l.pressed.draws.IntN(3)])) * time.Second
	l.add("Discord holds it up for " + d.String())
	l.pressed.late = append(l.pressed.late, latePress{p, l.w.Clock.Now().Add(d)})
}

// pressAgain has a press come again, which somebody sent before: mostly one that the program may
// still take, and at times after its poll was turned back.
func (l *life) pressAgain() {
	s := &l.pressed
	young := slices.DeleteFunc(slices.Clone(s.sent), func(p *worldtest.Press) bool { return l.w.Clock.Now().Sub(p.At) > 10*time.Minute })
	if len(young) == 0 || s.draws.IntN(8) == 0 {
		young = s.sent
	}
	if len(young) == 0 {
		return
	}
	p := pick(l, young)
	if s.draws.IntN(2) == 0 {
		l.turnBack(p)
	}
	l.say("the press %s of %s comes again", p.ID, p.By)
	l.deliver(p)
}

// turnBack does what makes a repeated press matter, and lets some time pass.
func (l *life) turnBack(p *worldtest.Press) {
	i := slices.IndexFunc(l.polls, func(k known) bool { return k.id == p.Poll || k.id == p.Makes() })
	if i < 0 {
		return
	}
	k := l.polls[i]
	of, _, there := l.w.PollWithWinner(k.id)
	by, ctx, s := worldtest.Person(k.owner), l.w.Context(), l.w.Scheduler
	var err error
	switch {
	case !there:
	case p.Slots > 0:
		l.say("%s: deletes poll %d", k.owner, i+1)
		err = s.Delete(ctx, by, k.id, false, worldtest.Cause)
	case p.Voting:
		vote := l.pressed.draws.IntN(2) == 0
		l.say("%s: votes otherwise in poll %d", p.By, i+1)
		_, err = s.Vote(ctx, worldtest.Person(p.By), k.id, scheduler.Vote{NoTimesWork: vote}, worldtest.Cause)
	case of.Sync.Rescheduled == nil && of.Linked() && l.pressed.draws.IntN(2) == 0:
		l.withOwnPresses(func() { l.shift(of) })
	case of.Status == rules.Open:
		l.say("%s: finalises poll %d", k.owner, i+1)
		_, err = s.Finalise(ctx, by, k.id, worldtest.Ask{SlotID: pick(l, k.slots), CreateEvent: true}, worldtest.Cause)
	default:
		l.say("%s: reopens poll %d", k.owner, i+1)
		_, err = s.Reopen(ctx, by, k.id, true, worldtest.Cause)
	}
	l.answer(err)
	l.w.Run(time.Duration(l.pressed.draws.IntN(120)) * time.Second)
}

// withOwnPresses has what draws from the stream of the step draw from that of presses.
func (l *life) withOwnPresses(do func()) {
	draws := l.draws
	defer func() { l.draws = draws }()
	l.draws = l.pressed.draws
	do()
}

// pressable draws a poll, mostly one of the guild.
func (l *life) pressable(fits func(p poll.Poll) bool) known {
	if l.pressed.draws.IntN(8) > 0 {
		fitting := slices.DeleteFunc(slices.Clone(l.polls), func(k known) bool {
			p, _, there := l.w.PollWithWinner(k.id)
			return !there || p.GroupID == "" || !fits(p)
		})
		if len(fitting) > 0 {
			return pick(l, fitting)
		}
	}
	return pick(l, l.polls)
}

func anyOf(poll.Poll) bool { return true }

func isOpen(p poll.Poll) bool { return p.Status == rules.Open }

// button presses a button at once, and returns what its sender is told.
func (l *life) button(by string, of known, id string) worldtest.Told {
	p := l.w.NewPress(worldtest.PressButton, by, map[string]any{"custom_id": id, "component_type": 2})
	p.Poll = of.id
	return l.deliver(p)
}

// checkPressed has every press come again long after, which must do nothing, and checks that votes
// are as they were given.
func (l *life) checkPressed() {
	if !l.pressed.there {
		return
	}
	l.must(l.w.ForgetPresses())
	for _, p := range l.pressed.sent {
		l.say("the press %s of %s comes once more", p.ID, p.By)
		l.deliver(p)
	}
	l.problems = append(l.problems, l.w.GivenProblems()...)
}
