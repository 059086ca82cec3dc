package main

import (
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
	"questscheduler/scheduler"
)

// settings draws what kind of world this is.
func (l *life) settings() worldtest.Options {
	options := worldtest.Options{NoPushes: l.draws.IntN(8) == 0, PageSize: one(l, []int{1, 2, 3, 3, 10}), Settings: worldtest.Settings{
		MinGap:  one(l, []time.Duration{time.Second, time.Second, time.Second, 5 * time.Second, 30 * time.Second}),
		HoldMin: one(l, []int{5, 5, 2, 1}), HoldShare: one(l, []float64{0.5, 0.5, 0.2}),
		Settle:  one(l, []time.Duration{10 * time.Second, 10 * time.Second, time.Second, 2 * time.Minute}),
		Discord: l.draws.IntN(4) == 0,
	}}
	switch l.draws.IntN(4) {
	case 0:
		options.TTL, options.RenewBefore = 12*time.Hour, 4*time.Hour
	case 1:
		options.TTL, options.RenewBefore = time.Hour, 20*time.Minute
	}
	options.LongestGrant = one(l, grants)
	options.SnapshotKeep = one(l, []time.Duration{0, 0, 3 * time.Hour})
	options.NoticesPerHour = one(l, []int{0, 0, 0, 1, 2, 3})
	return options
}

// begin makes the people's accounts, groups and polls.
func (l *life) begin() {
	l.owners = []string{"gm"}
	for _, other := range []struct {
		person string
		in     int
	}{{"ana", 3}, {"ben", 6}} {
		if l.draws.IntN(other.in) == 0 {
			l.owners = append(l.owners, other.person)
			l.w.Link(other.person)
		}
	}
	if l.w.Discord != nil || l.draws.IntN(3) == 0 {
		l.group = l.w.Party()
		l.w.Unknown(poll.GroupPath(l.group))
	}
	var users []store.Path
	for _, person := range worldtest.People {
		users = append(users, store.Doc("users", person.ID))
	}
	l.w.Unknown(users...)
	for range 1 + l.draws.IntN(3) {
		if k := l.newPoll("gm"); l.draws.IntN(3) > 0 { // most histories begin with a finalised poll
			l.ready(k, worldtest.Ask{SlotID: one(l, k.slots), CreateEvent: true})
		}
	}
	for _, owner := range l.owners[1:] {
		k := l.newPoll(owner)
		l.ready(k, worldtest.Ask{SlotID: k.slots[1], CreateEvent: true})
	}
	if l.draws.IntN(8) == 0 {
		l.crowd()
	}
	if l.draws.IntN(2) == 0 {
		l.w.Run(time.Minute)
	}
	l.describe()
}

// crowd makes many sessions in one calendar.
func (l *life) crowd() {
	l.crowded = true
	calendar := one(l, []string{"", "", worldtest.ClubCalendar})
	for range 5 + l.draws.IntN(5) {
		k := l.newPoll("gm")
		l.ready(k, worldtest.Ask{SlotID: one(l, k.slots), CreateEvent: true, CalendarID: calendar})
	}
}

// newPoll makes a poll with votes, and fields that the program has never heard
// of.
func (l *life) newPoll(owner string) known {
	id, slots := l.w.PollOf(owner, l.kind(owner))
	return l.know(id, owner, slots)
}

// anotherPoll makes a poll while things go wrong; nobody has voted in it yet.
func (l *life) anotherPoll(owner string) error {
	ask := l.kind(owner)
	ask.Title, ask.Slots = "One more session", []worldtest.Slot{worldtest.Ten, worldtest.Three}
	view, err := l.w.Scheduler.Create(l.w.Context(), worldtest.Person(owner), ask, worldtest.Cause)
	if err == nil {
		l.know(view.Poll.ID, owner, []string{view.Slots[0].ID, view.Slots[1].ID})
	}
	return err
}

// kind draws whom a poll is for.
func (l *life) kind(owner string) scheduler.Create {
	ask := scheduler.Create{AllowLinkSharing: l.draws.IntN(3) == 0}
	if l.group != "" && owner == "gm" && l.draws.IntN(4) > 0 {
		ask.GroupID = l.group
	}
	switch l.draws.IntN(4) {
	case 0:
		ask.ParticipantIDs = []string{"ana", "ben"}
		ask.PendingInvites = []string{worldtest.Person("cho").Email}
	case 1:
		ask.ParticipantIDs = []string{"ben"}
	}
	return ask
}

func (l *life) know(id, owner string, slots []string) known {
	k := known{id, owner, slots}
	l.polls = append(l.polls, k)
	documents := []store.Path{poll.Path(id)}
	for _, slot := range slots {
		documents = append(documents, poll.SlotPath(id, slot))
	}
	for _, vote := range l.w.Votes(id) {
		documents = append(documents, poll.VotePath(id, vote.UserID))
	}
	l.w.Unknown(documents...)
	return k
}

// ready finalises a poll before the history begins.
func (l *life) ready(k known, ask worldtest.Ask) {
	_, err := l.w.Scheduler.Finalise(l.w.Context(), worldtest.Person(k.owner), k.id, ask, worldtest.Cause)
	l.must(err)
}
