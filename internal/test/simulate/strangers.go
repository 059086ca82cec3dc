package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"questscheduler/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// strangers is somebody who names the world's people in polls, if the world has such a person. They
// have streams of their own, so that worlds without them are what they would be anyhow.
type strangers struct {
	there bool
	draws *rand.Rand
	polls []strangersPoll
}

// strangersPoll is a poll of worldtest.Stranger's. consented says of people whether they take part
// by choice; nobody is in it of whom that is not certain.
type strangersPoll struct {
	id, slot  string
	consented map[string]bool
}

// streamStrangers tells their streams from those of the world.
const streamStrangers = 0x57a9

func (l *life) drawStrangers(of int) {
	l.strangers.draws = rand.New(rand.NewPCG(l.seed^streamStrangers, uint64(of)))
}

// beginStrangers draws whether there is a stranger. Everybody shares their availability then.
func (l *life) beginStrangers() {
	l.strangers.there = l.strangers.draws.IntN(3) == 0
	if l.strangers.there {
		l.w.Share()
	}
}

// mayName draws whether the stranger, or somebody whom they named, does something before a step.
func (l *life) mayName() {
	s := &l.strangers
	if !s.there || s.draws.IntN(3) > 0 {
		return
	}
	switch kind := s.draws.IntN(8); {
	case kind < 2 || len(s.polls) == 0:
		l.named()
	case kind == 2:
		l.namedDirectly(&s.polls[s.draws.IntN(len(s.polls))])
	case kind < 5:
		l.answers(&s.polls[s.draws.IntN(len(s.polls))])
	default:
		l.decides(s.polls[s.draws.IntN(len(s.polls))])
	}
}

// someNamed draws whom the stranger names.
func (l *life) someNamed() (people []string) {
	for _, person := range worldtest.People {
		if l.strangers.draws.IntN(2) == 0 {
			people = append(people, person.ID)
		}
	}
	return people
}

// named has the stranger make a poll.
func (l *life) named() {
	people := l.someNamed()
	l.say("%s makes a poll that names %v", worldtest.Stranger, people)
	view, err := l.w.Scheduler.Create(l.w.Context(), scheduler.Person{ID: worldtest.Stranger}, scheduler.Create{
		Title: "A stranger's", Description: "by a stranger", Slots: []worldtest.Slot{worldtest.Noon}, ParticipantIDs: people,
	}, worldtest.Cause)
	l.answer(err)
	if err == nil {
		consented := map[string]bool{}
		for _, person := range worldtest.People {
			consented[person.ID] = false
		}
		l.strangers.polls = append(l.strangers.polls, strangersPoll{view.Poll.ID, view.Slots[0].ID, consented})
	}
}

// namedDirectly has the web app write other people into a poll of the stranger's. Those who are
// removed may have consented.
func (l *life) namedDirectly(of *strangersPoll) {
	p := poll.Decode(l.w.Document(poll.Path(of.id)))
	if p.Status == rules.Finalized {
		return
	}
	ids := []any{worldtest.Stranger}
	people := l.someNamed()
	for _, person := range people {
		ids = append(ids, person)
	}
	for person, consents := range of.consented {
		if consents && !slices.Contains(people, person) {
			delete(of.consented, person)
		}
	}
	l.say("the web app: poll %s names %v", of.id, people)
	l.w.Edit(poll.Path(of.id), poll.Set("participantIds", ids), l.now())
	if l.strangers.draws.IntN(2) == 0 {
		l.listed(of.id)
	}
	if l.strangers.draws.IntN(2) == 0 {
		_, err := l.w.Scheduler.Reconcile(l.w.Context(), of.id, worldtest.Cause)
		l.answer(err)
	}
}

// trap is the id of a group of the stranger's.
const trap = "trap"

// listed has the stranger's client make a group of everybody, for a poll of the stranger's. Nobody
// accepted.
func (l *life) listed(pollID string) {
	ids := []any{worldtest.Stranger}
	for _, person := range worldtest.People {
		ids = append(ids, person.ID)
	}
	l.say("the web app: poll %s is of the stranger's group, which lists everybody", pollID)
	l.w.Write(poll.GroupPath(trap), poll.Set("name", "Trap"), poll.Set("creatorId", worldtest.Stranger), poll.Set("memberIds", ids))
	l.w.Edit(poll.Path(pollID), poll.Set("questingGroupId", trap))
}

// answers has somebody whom the stranger named join, vote or leave.
func (l *life) answers(of *strangersPoll) {
	p, draws := poll.Decode(l.w.Document(poll.Path(of.id))), l.strangers.draws
	if len(p.ParticipantIDs) < 2 {
		return
	}
	id := p.ParticipantIDs[1+draws.IntN(len(p.ParticipantIDs)-1)]
	person, ctx, s := worldtest.Person(id), l.w.Context(), l.w.Scheduler
	var err error
	kind := draws.IntN(3)
	l.say("%s %s poll %s of a stranger", id, []string{"joins", "votes in", "leaves"}[kind], of.id)
	before, certain := of.consented[id]
	delete(of.consented, id) // the program may die of it
	switch kind {
	case 0:
		_, err = s.Join(ctx, person, of.id, worldtest.Cause)
	case 1:
		_, err = s.Vote(ctx, person, of.id, scheduler.Vote{Choices: map[string]string{of.slot: poll.Feasible}}, worldtest.Cause)
	default:
		err = s.Leave(ctx, person, of.id, worldtest.Cause)
	}
	l.answer(err)
	if err == nil {
		of.consented[id] = kind < 2
	} else if certain && (fault.Is(err, fault.Conflict) || fault.Is(err, fault.Forbidden)) {
		of.consented[id] = before // refused
	}
}

// decides has the stranger finalise a poll, cancel it or open it again.
func (l *life) decides(of strangersPoll) {
	ctx, s, stranger := l.w.Context(), l.w.Scheduler, scheduler.Person{ID: worldtest.Stranger}
	var err error
	kind := l.strangers.draws.IntN(4)
	l.say("%s %s poll %s", worldtest.Stranger, []string{"finalises", "finalises", "cancels", "reopens"}[kind], of.id)
	switch kind {
	case 0, 1:
		_, err = s.Finalise(ctx, stranger, of.id, worldtest.Ask{SlotID: of.slot}, worldtest.Cause)
	case 2:
		_, err = s.Cancel(ctx, stranger, of.id, false, worldtest.Cause)
	default:
		_, err = s.Reopen(ctx, stranger, of.id, false, worldtest.Cause)
	}
	l.answer(err)
}

// checkStrangers finds what the stranger reads of people, and what they put into feeds, beyond what
// consent allows.
func (l *life) checkStrangers() {
	for _, of := range l.strangers.polls {
		l.problems = append(l.problems, l.w.ConsentProblems(of.id, of.consented)...)
	}
	if !l.strangers.there {
		return
	}
	for _, person := range worldtest.People {
		l.problems = append(l.problems, l.feedProblems(person.ID)...)
	}
}

// feedProblems compares a person's feed with the polls: sessions that they consented to are in it
// and described, and those that only name them tentative, at most three of a stranger.
func (l *life) feedProblems(person string) (problems []string) {
	feed, only, acquainted := l.w.Feed(person), 0, false
	for _, of := range l.strangers.polls {
		p, winning, _ := l.w.PollWithWinner(of.id)
		consents, certain := of.consented[person]
		acquainted = acquainted || consents || !certain
		shown := p.Status == rules.Finalized && winning != nil && slices.Contains(p.ParticipantIDs, person)
		status := feed[of.id]
		if status != "" && !consents {
			only++
		}
		wrong := false
		switch {
		case !certain || p.Status == rules.Cancelled:
		case !shown:
			wrong = status != ""
		case consents:
			wrong = status != "CONFIRMED described"
		default:
			wrong = status != "" && status != "TENTATIVE"
		}
		if wrong {
			problems = append(problems, fmt.Sprintf("poll %s is %q in the feed of %s, who consented: %t", of.id, status, person, consents))
		}
	}
	if only > 3 && !acquainted {
		problems = append(problems, fmt.Sprintf("the feed of %s has %d sessions of a stranger", person, only))
	}
	for _, k := range l.polls {
		p, winning, there := l.w.PollWithWinner(k.id)
		own := there && p.CreatorID == person && slices.Contains(p.ParticipantIDs, person) && p.Status == rules.Finalized
		if own && winning != nil && !strings.HasPrefix(feed[k.id], "CONFIRMED") {
			problems = append(problems, fmt.Sprintf("poll %s is %q in the feed of its creator %s", k.id, feed[k.id], person))
		}
	}
	return problems
}
