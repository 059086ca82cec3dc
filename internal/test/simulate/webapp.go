package main

import (
	"slices"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
)

// writes are what the web app writes itself, without a word to the program.
var writes = []step{
	{weight: 1, do: func(l *life) {
		l.direct("has another title and text", func(poll.Poll) []store.Update {
			return []store.Update{poll.Set("title", "Written by hand"), poll.Set("description", "By the web app"), l.now()}
		})
	}},
	{weight: 1, do: func(l *life) {
		people, invited := l.some(guests), l.some(guests)
		l.direct("has other people", func(p poll.Poll) []store.Update {
			ids, emails := []any{p.CreatorID}, []any{}
			for _, person := range people {
				ids = append(ids, person)
			}
			for _, person := range invited {
				emails = append(emails, worldtest.Person(person).Email)
			}
			return []store.Update{poll.Set("participantIds", ids), poll.Set("pendingInvites", emails), l.now()}
		})
	}},
	{weight: 1, do: func(l *life) {
		voter, choice := one(l, guests), one(l, []string{poll.Feasible, poll.Preferred})
		slot := l.draws.IntN(2)
		k, p := l.anyPoll()
		if p.ID == "" || p.Status != rules.Open { // its rules allow votes only then
			return
		}
		l.say("the web app: %s votes %s in poll %d", voter, choice, l.number(k))
		l.w.Write(poll.VotePath(k.id, voter),
			append(worldtest.AppVote(voter), poll.Set("voterId", voter), poll.Set("userEmail", worldtest.Person(voter).Email),
				poll.Set("votes", map[string]any{k.slots[slot]: choice}), poll.Set("noTimesWork", false), l.now())...)
	}},
	{weight: 1, do: func(l *life) { // it rewrites every slot, even where nothing changed
		k, p := l.anyPoll()
		if p.ID == "" || p.Status == rules.Finalized || p.Status == rules.Archived {
			return
		}
		l.say("the web app: the slots of poll %d are written again", l.number(k))
		for _, id := range k.slots {
			if f := store.Fields(l.w.Document(poll.SlotPath(k.id, id)).Data); len(f) > 0 {
				l.w.Edit(poll.SlotPath(k.id, id), poll.Set("start", f.String("start")), poll.Set("end", f.String("end")))
			}
		}
	}},
	{weight: 2, do: (*life).voteVanishes},
	{weight: 1, do: func(l *life) { l.outsideEdit() }},
	{weight: 1, do: func(l *life) { l.outsideRestore() }},
	{weight: 1, do: func(l *life) { l.outsideDelete() }},
	{weight: 2, do: func(l *life) { l.finaliseElsewhere() }},
}

// voteVanishes takes somebody's vote away, rather from a poll whose session was
// moved: it comes back with the session.
func (l *life) voteVanishes() {
	p, ok := l.raced()
	if !ok {
		return
	}
	restored := p.Sync.Rescheduled == nil && slices.Contains(l.w.Decisions(p.ID), string(rules.Restore))
	votes := l.w.Votes(p.ID)
	if len(votes) == 0 || restored { // what a restore put back is compared with what it was
		return
	}
	voter := one(l, votes).UserID
	l.say("the web app: the vote of %s in poll %s vanishes", voter, p.ID)
	l.w.Remove(poll.VotePath(p.ID, voter))
}

// anyPoll draws one of the polls; its document is the zero poll where it was
// deleted.
func (l *life) anyPoll() (known, poll.Poll) {
	k := one(l, l.polls)
	document := l.w.Document(poll.Path(k.id))
	if !document.Exists() {
		return k, poll.Poll{}
	}
	return k, poll.Decode(document)
}

// number is what the history calls a poll.
func (l *life) number(k known) int {
	for i, other := range l.polls {
		if other.id == k.id {
			return i + 1
		}
	}
	return 0
}

func (l *life) now() store.Update { return poll.Set("updatedAt", l.w.Clock.Now()) }

// direct writes a poll's own fields.
func (l *life) direct(what string, updates func(p poll.Poll) []store.Update) {
	k, p := l.anyPoll()
	if p.ID == "" {
		return
	}
	l.say("the web app: poll %d %s", l.number(k), what)
	l.w.Edit(poll.Path(k.id), updates(p)...)
}

// outsideEdit cancels or reopens a poll as the web app does.
func (l *life) outsideEdit() {
	k, p := l.anyPoll()
	if p.ID == "" {
		return
	}
	status := one(l, []rules.Status{rules.Cancelled, rules.Open})
	l.say("the web app: poll %d becomes %s", l.number(k), status)
	updates := []store.Update{poll.Set("status", string(status)), l.now()}
	if status == rules.Open {
		if p.GoogleEventID != "" {
			l.w.Released(p.GoogleEventID) // the event stays where it is
		}
		for _, entry := range l.w.Index() { // so does one before it that is followed still
			if entry.PollID == k.id {
				l.w.Released(entry.EventID)
			}
		}
		updates = []store.Update{poll.Set("status", string(status)), poll.Set("winningSlotId", nil)}
	}
	l.w.Edit(poll.Path(k.id), updates...)
	l.noticed(k)
}

// outsideRestore restores a cancelled poll as the web app does.
func (l *life) outsideRestore() {
	k, p := l.anyPoll()
	if p.Status != rules.Cancelled {
		return
	}
	status := rules.Open
	if p.WinningSlotID != "" {
		status = rules.Finalized
	}
	l.say("the web app: poll %d is restored as %s", l.number(k), status)
	l.w.Edit(poll.Path(k.id), poll.Set("status", string(status)), l.now())
	l.noticed(k)
}

// outsideDelete deletes a poll as the web app does, one document after the other,
// or makes another one of the id of a poll that is gone.
func (l *life) outsideDelete() {
	k, p := l.anyPoll()
	if p.ID == "" {
		l.recreate(k)
		return
	}
	l.say("the web app: poll %d is deleted", l.number(k))
	l.vanished = append(l.vanished, k.id)
	l.w.DeleteDirectly(k.id)
	l.noticed(k)
	if !l.w.Document(poll.Path(k.id)).Exists() && l.draws.IntN(2) == 0 {
		l.recreate(k)
	}
}

// recreate has somebody make a poll of the id of one that is gone.
func (l *life) recreate(k known) {
	owner := one(l, l.owners)
	i := l.number(k) - 1
	l.say("the web app: %s makes another poll of the id of poll %d", owner, i+1)
	l.vanished = slices.DeleteFunc(l.vanished, func(id string) bool { return id == k.id })
	l.recreated = append(l.recreated, k.id)
	k.owner, k.slots = owner, l.w.Recreate(k.id, owner)
	l.polls[i] = k
	l.noticed(k)
}

// noticed lets the program notice a direct edit, as a document change does, or leaves
// it to the sweep.
func (l *life) noticed(k known) {
	if l.draws.IntN(3) == 0 {
		l.add("nobody notices")
		return
	}
	_, err := l.w.Scheduler.Reconcile(l.w.Context(), k.id, worldtest.Cause)
	l.answer(err)
}
