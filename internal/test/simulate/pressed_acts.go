package main

import (
	"fmt"
	"strings"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/test/worldtest"
	"questscheduler/notify"
	"questscheduler/rules"
)

// openForm presses Vote, and remembers the form, if there is one.
func (l *life) openForm(by string, of known) (form votingForm, opened bool) {
	l.say("%s: presses Vote of poll %d", by, l.number(of))
	told := l.button(by, of, notify.VoteButton+of.id)
	if told.Form == "" {
		return form, false
	}
	form = votingForm{by, of, told.Form, l.w.SlotsOf(of.id)}
	l.pressed.forms = lastOf(append(l.pressed.forms, form), mostForms)
	return form, true
}

// pressVote has somebody vote.
func (l *life) pressVote() {
	by := pick(l, worldtest.People).ID
	if form, opened := l.openForm(by, l.pressable(isOpen)); opened {
		p := l.filled(form)
		l.say("%s: votes %v by press %s", by, p.Vote, p.ID)
		l.sendPress(p)
	}
}

// submitEarlier has somebody submit a form that they opened before.
func (l *life) submitEarlier() {
	if len(l.pressed.forms) == 0 {
		return
	}
	form := pick(l, l.pressed.forms)
	p := l.filled(form)
	l.say("%s: votes %v in poll %d by press %s of an earlier form", form.by, p.Vote, l.number(form.of), p.ID)
	l.sendPress(p)
}

// filled is a submitted voting form with some choices, none at times.
func (l *life) filled(form votingForm) *worldtest.Press {
	chosen := map[string][]string{"pref0": {}, "feas0": {}}
	vote := map[string]string{}
	for _, slot := range form.slots {
		switch l.pressed.draws.IntN(3) {
		case 0:
			chosen["pref0"] = append(chosen["pref0"], slot.Option())
			vote[slot.ID] = poll.Preferred
		case 1:
			chosen["feas0"] = append(chosen["feas0"], slot.Option())
			vote[slot.ID] = poll.Feasible
		}
	}
	p := l.w.NewPress(worldtest.PressSubmit, form.by, map[string]any{"custom_id": form.id, "components": []any{
		labelled(map[string]any{"type": 3, "custom_id": "pref0", "values": chosen["pref0"]}),
		labelled(map[string]any{"type": 3, "custom_id": "feas0", "values": chosen["feas0"]}),
		labelled(map[string]any{"type": 23, "custom_id": "none", "value": false}),
	}})
	p.Poll, p.Vote, p.Voting, p.Shown = form.of.id, vote, true, form.slots
	return p
}

func labelled(component map[string]any) map[string]any {
	return map[string]any{"type": 18, "component": component}
}

// pressManage has somebody press Manage, mostly the creator, then one of the buttons that they are
// shown, and submit the form.
func (l *life) pressManage() {
	of := l.pressable(anyOf)
	by := of.owner
	if l.pressed.draws.IntN(8) == 0 {
		by = pick(l, worldtest.People).ID
	}
	l.say("%s: presses Manage of poll %d", by, l.number(of))
	if told := l.button(by, of, notify.MenuButton+of.id); len(told.Buttons) > 0 {
		l.manage(by, of, pick(l, told.Buttons))
	}
}

// manage presses a button of Manage, and submits its form, if it has one.
func (l *life) manage(by string, of known, button string) {
	what, _, _ := strings.Cut(button, of.id)
	p := l.w.NewPress(worldtest.PressButton, by, map[string]any{"custom_id": button, "component_type": 2})
	p.Poll = of.id
	l.say("%s: presses %s of poll %d, as %s", by, what, l.number(of), p.ID)
	if strings.HasPrefix(what, "qs:restore:") || strings.HasPrefix(what, "qs:accept:") {
		l.sendPress(p)
		return
	}
	if told := l.deliver(p); told.Form != "" {
		l.sendPress(l.decided(by, of, told))
	}
}

// decided is a submitted form of Manage.
func (l *life) decided(by string, of known, told worldtest.Told) *worldtest.Press {
	event := l.pressed.draws.IntN(4) > 0
	parts := []any{labelled(map[string]any{"type": 23, "custom_id": "event", "value": event})}
	if len(told.Options) > 0 {
		parts = append(parts, labelled(map[string]any{"type": 3, "custom_id": "slot", "values": []string{pick(l, told.Options)}}))
	}
	p := l.w.NewPress(worldtest.PressSubmit, by, map[string]any{"custom_id": told.Form, "components": parts})
	p.Poll, p.Keeps = of.id, !event && len(told.Options) == 0
	l.say("%s: submits %s as press %s, with %t for the event", by, told.Form, p.ID, event)
	return p
}

// pressCreate has somebody make a poll.
func (l *life) pressCreate() {
	if len(l.polls) >= mostPolls {
		return
	}
	by := pick(l, l.owners)
	text := func(id, value string) any {
		return labelled(map[string]any{"type": 4, "custom_id": id, "value": value})
	}
	p := l.w.NewPress(worldtest.PressSubmit, by, map[string]any{"custom_id": "qs:new:Europe/Berlin:2026-03-10", "components": []any{
		text("title", fmt.Sprint("Pressed at ", l.w.Clock.Now().Format(time.TimeOnly))), text("times", "19:00"), text("length", "2h"),
		labelled(map[string]any{"type": 3, "custom_id": "days", "values": []string{"2026-03-10", "2026-03-11"}}), text("description", ""),
	}})
	p.Slots = 2
	l.say("%s: makes a poll by press %s", by, p.ID)
	l.sendPress(p)
}

// raceVotes has people vote in an open poll while its creator finalises it, on Discord or over REST.
func (l *life) raceVotes() {
	of := l.pressable(anyOf)
	p, _, there := l.w.PollWithWinner(of.id)
	if !there || p.GroupID == "" {
		return
	}
	if p.Status != rules.Open {
		l.say("%s: reopens poll %d for a race", of.owner, l.number(of))
		_, err := l.w.Scheduler.Reopen(l.w.Context(), worldtest.Person(of.owner), of.id, true, worldtest.Cause)
		l.answer(err)
		if err != nil {
			return
		}
	}
	var do []func()
	for _, by := range []string{"gm", "ana", "ben"} {
		form, opened := l.openForm(by, of)
		if !opened || l.pressed.draws.IntN(4) == 0 {
			continue
		}
		for range 1 + l.pressed.draws.IntN(2) {
			vote := l.filled(form)
			l.pressed.sent = append(l.pressed.sent, vote)
			do = append(do, func() { l.say("%s: votes %v by press %s", by, vote.Vote, vote.ID); l.deliver(vote) })
		}
	}
	ends := l.decision(of)
	l.say("votes in poll %d while it is finalised", l.number(of))
	w := l.interleaver()
	defer w.describe()
	if l.pressed.draws.IntN(4) == 0 {
		at := 1 + l.pressed.draws.IntN(30)
		l.say("the program will die at the call %d from here", at)
		l.w.CrashAt(at)
	}
	l.w.AtOnce(w.interleaving(), append(do, ends)...)
}

// decision is the finalisation of an open poll.
func (l *life) decision(of known) func() {
	told := worldtest.Told{}
	if l.pressed.draws.IntN(2) == 0 {
		l.say("%s: presses Finalise of poll %d", of.owner, l.number(of))
		told = l.button(of.owner, of, "qs:fin:"+of.id)
	}
	if told.Form != "" {
		press := l.decided(of.owner, of, told)
		l.pressed.sent = append(l.pressed.sent, press)
		return func() { l.say("%s: finalises by press %s", of.owner, press.ID); l.deliver(press) }
	}
	ask := worldtest.Ask{SlotID: pick(l, of.slots), CreateEvent: l.pressed.draws.IntN(2) == 0}
	return func() {
		l.say("%s: finalises", of.owner)
		_, err := l.w.Scheduler.Finalise(l.w.Context(), worldtest.Person(of.owner), of.id, ask, worldtest.Cause)
		l.answer(err)
	}
}
