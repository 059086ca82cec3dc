package main

import (
	"context"

	"questscheduler/fault"
	"questscheduler/internal/test/worldtest"
	"questscheduler/scheduler"
)

// guests are those who take part without owning most of the polls.
var guests = []string{"ana", "ben", "cho"}

// memberships are how people come to polls and go.
var memberships = []step{
	{weight: 1, do: func(l *life) { l.member("joins", (*scheduler.Service).Join) }},
	{weight: 1, do: func(l *life) { l.member("accepts the invitation to", (*scheduler.Service).AcceptInvite) }},
	{weight: 1, do: func(l *life) {
		l.member("declines the invitation to",
			func(s *scheduler.Service, ctx context.Context, by scheduler.Person, id string, cause scheduler.Cause) (scheduler.View, error) {
				return scheduler.View{}, s.DeclineInvite(ctx, by, id, cause)
			})
	}},
	{weight: 1, do: func(l *life) {
		l.member("leaves",
			func(s *scheduler.Service, ctx context.Context, by scheduler.Person, id string, cause scheduler.Cause) (scheduler.View, error) {
				return scheduler.View{}, s.Leave(ctx, by, id, cause)
			})
	}},
	{weight: 2, do: func(l *life) {
		people, invited := l.some(guests), l.some(guests)
		l.command("says who takes part in, and who is invited to,", func(by scheduler.Person, k known) error {
			var emails []string
			for _, person := range invited {
				emails = append(emails, worldtest.Person(person).Email)
			}
			_, err := l.w.Scheduler.Edit(l.w.Context(), by, k.id, scheduler.Edit{ParticipantIDs: &people, PendingInvites: &emails}, worldtest.Cause)
			return err
		})
	}},
	{weight: 1, do: func(l *life) {
		members, channel := l.some(guests), one(l, []string{worldtest.Channel, worldtest.OtherChannel, ""})
		l.party(members, channel)
	}},
	{weight: 1, do: func(l *life) { l.stranger() }},
}

// some draws some of several, none and all included.
func (l *life) some(of []string) (some []string) {
	for _, one := range of {
		if l.draws.IntN(2) == 0 {
			some = append(some, one)
		}
	}
	return some
}

// member has somebody come to a poll, or go.
func (l *life) member(
	what string,
	do func(*scheduler.Service, context.Context, scheduler.Person, string, scheduler.Cause) (scheduler.View, error),
) {
	person := worldtest.Person(one(l, guests))
	i := l.draws.IntN(len(l.polls))
	l.say("%s: %s poll %d", person.ID, what, i+1)
	l.w.Concern(l.polls[i].id, person.ID)
	_, err := do(l.w.Scheduler, l.w.Context(), person, l.polls[i].id, worldtest.Cause)
	l.answer(err)
}

// party changes the group, where there is one.
func (l *life) party(guests []string, channel string) {
	if l.group == "" {
		return
	}
	if channel == "" {
		l.w.Silence()
	}
	l.say("gm: the party is %v now, its channel %q", append(guests, "gm"), channel)
	l.answer(l.w.SetParty(l.group, guests, channel))
}

// stranger has somebody who has nothing to do with a poll, or does not own it,
// try what only its creator may (invariant 11).
func (l *life) stranger() {
	i := l.draws.IntN(len(l.polls))
	k := l.polls[i]
	by := one(l, []scheduler.Person{{ID: "dan", Email: "dan@example.com"}, {}, worldtest.Person("cho")})
	l.say("%q tries what only the creator of poll %d may", by.ID, i+1)
	s, ctx := l.w.Scheduler, l.w.Context()
	for what, try := range []func() (scheduler.View, error){
		func() (scheduler.View, error) { return s.Cancel(ctx, by, k.id, false, worldtest.Cause) },
		func() (scheduler.View, error) { return s.Reopen(ctx, by, k.id, true, worldtest.Cause) },
		func() (scheduler.View, error) {
			return s.Finalise(ctx, by, k.id, worldtest.Ask{SlotID: k.slots[0], CreateEvent: true}, worldtest.Cause)
		},
		func() (scheduler.View, error) { return s.Archive(ctx, by, k.id, worldtest.Cause) },
		func() (scheduler.View, error) { return s.AcceptNew(ctx, by, k.id, "x", worldtest.Cause) },
		func() (scheduler.View, error) { return s.RestoreOriginal(ctx, by, k.id, worldtest.Cause) },
		func() (scheduler.View, error) { return s.Edit(ctx, by, k.id, scheduler.Edit{}, worldtest.Cause) },
		func() (scheduler.View, error) { return s.Sync(ctx, by, k.id, worldtest.Cause) },
		func() (scheduler.View, error) {
			return scheduler.View{}, s.Delete(ctx, by, k.id, false, worldtest.Cause)
		},
	} {
		_, err := try()
		if !fault.Is(err, fault.NotFound) && !fault.Is(err, fault.Forbidden) && !fault.Is(err, fault.Unavailable) {
			l.Errorf("poll %s: %q tried number %d of what only its creator may, and heard %v", k.id, by.ID, what, err)
		}
	}
	for _, entry := range l.w.Journal(k.id) {
		if entry.Who == by.ID && entry.Command != "" {
			l.Errorf("poll %s: %q changed it", k.id, by.ID)
		}
	}
}
