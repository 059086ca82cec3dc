package main

import (
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/test/worldtest"
	"questscheduler/scheduler"
)

// commands are what people ask of the program.
var commands = []step{
	{weight: 8, always: true, do: func(l *life) { l.finalise(worldtest.Ask{CreateEvent: true}, "with an event") }},
	{weight: 1, do: func(l *life) {
		l.finalise(worldtest.Ask{CreateEvent: true, KeepOldEvent: true}, "with an event, keeping the old one")
	}},
	{weight: 1, do: func(l *life) { l.finalise(worldtest.Ask{}, "without an event") }},
	{weight: 1, do: func(l *life) {
		l.finalise(worldtest.Ask{CreateEvent: true, CalendarID: worldtest.ClubCalendar}, "in the club's calendar")
	}},
	{weight: 1, do: func(l *life) {
		l.finalise(worldtest.Ask{CreateEvent: true, Duration: 3 * time.Hour}, "with an event longer than the slot")
	}},
	{weight: 3, do: func(l *life) { l.end("cancels", false, l.cancel(false)) }},
	{weight: 1, do: func(l *life) { l.end("cancels, keeping the event,", true, l.cancel(true)) }},
	{weight: 3, do: func(l *life) { l.end("reopens", false, l.reopen(false)) }},
	{weight: 1, do: func(l *life) { l.end("reopens, keeping the event,", true, l.reopen(true)) }},
	{weight: 1, do: func(l *life) { l.end("deletes", false, l.remove) }},
	{weight: 2, do: func(l *life) { l.end("deletes the event of", false, l.deleteEvent) }},
	{weight: 1, do: func(l *life) { // as the web app, whose client asks again where no answer came
		l.finalise(worldtest.Ask{CreateEvent: true, Request: "the same"}, "by a request that may come again")
	}},
	{weight: 1, do: func(l *life) {
		if owner := one(l, l.owners); len(l.polls) < 12 {
			l.say("%s: makes poll %d", owner, len(l.polls)+1)
			l.answer(l.anotherPoll(owner))
		}
	}},
	{weight: 2, do: func(l *life) {
		l.command("restores the original time of", func(by scheduler.Person, k known) error {
			_, err := l.w.Scheduler.RestoreOriginal(l.w.Context(), by, k.id, worldtest.Cause)
			return err
		})
	}},
	{weight: 2, do: func(l *life) {
		l.command("accepts the new time of", func(by scheduler.Person, k known) error {
			p, err := poll.Load(l.w.Context(), l.w.Documents, k.id)
			if err != nil {
				return err
			}
			_, err = l.w.Scheduler.AcceptNew(l.w.Context(), by, k.id, p.Sync.Applied.String(), worldtest.Cause)
			return err
		})
	}},
	{weight: 1, do: func(l *life) {
		l.command("archives", func(by scheduler.Person, k known) error {
			_, err := l.w.Scheduler.Archive(l.w.Context(), by, k.id, worldtest.Cause)
			return err
		})
	}},
	{weight: 2, do: func(l *life) {
		l.command("unarchives", func(by scheduler.Person, k known) error {
			_, err := l.w.Scheduler.Unarchive(l.w.Context(), by, k.id, worldtest.Cause)
			return err
		})
	}},
	{weight: 1, do: func(l *life) {
		l.command("asks to sync", func(by scheduler.Person, k known) error {
			_, err := l.w.Scheduler.Sync(l.w.Context(), by, k.id, worldtest.Cause)
			return err
		})
	}},
	{weight: 2, do: func(l *life) {
		l.command("edits the title of", func(by scheduler.Person, k known) error {
			title := "Another title"
			_, err := l.w.Scheduler.Edit(l.w.Context(), by, k.id, scheduler.Edit{Title: &title}, worldtest.Cause)
			return err
		})
	}},
	{weight: 1, do: func(l *life) {
		l.command("puts an hour later the slots of", func(by scheduler.Person, k known) error {
			var later []scheduler.SlotEdit
			for i, id := range k.slots {
				slot := [...]worldtest.Slot{worldtest.Ten, worldtest.Three}[i]
				later = append(later, scheduler.SlotEdit{ID: id, Times: worldtest.Slot{Start: slot.Start.Add(time.Hour), End: slot.End.Add(time.Hour)}})
			}
			_, err := l.w.Scheduler.Edit(l.w.Context(), by, k.id, scheduler.Edit{Slots: &later}, worldtest.Cause)
			return err
		})
	}},
	{weight: 2, do: func(l *life) {
		voter := worldtest.Person(one(l, []string{"ana", "ben", "cho"}))
		choice := one(l, []string{poll.Feasible, poll.Preferred})
		l.command(voter.ID+" votes "+choice+" in", func(_ scheduler.Person, k known) error {
			vote := scheduler.Vote{Choices: map[string]string{one(l, k.slots): choice}}
			_, err := l.w.Scheduler.Vote(l.w.Context(), voter, k.id, vote, worldtest.Cause)
			return err
		})
	}},
}

// command has the owner of a poll ask for something, seldom of one that was
// deleted.
func (l *life) command(what string, do func(by scheduler.Person, k known) error) {
	i := l.draws.IntN(len(l.polls))
	for tries := 0; tries < 3 && !l.w.Document(poll.Path(l.polls[i].id)).Exists(); tries++ {
		i = l.draws.IntN(len(l.polls))
	}
	k := l.polls[i]
	l.say("%s: %s poll %d", k.owner, what, i+1)
	l.answer(do(worldtest.Person(k.owner), k))
}

// finalise finalises a poll for one of its slots.
func (l *life) finalise(ask worldtest.Ask, how string) {
	l.end("finalises ("+how+")", ask.KeepOldEvent, func(by scheduler.Person, k known) error {
		i := l.draws.IntN(len(k.slots))
		ask.SlotID = k.slots[i]
		if l.draws.IntN(3) == 0 { // as the web app: the creator included
			ask.Attendees = []string{worldtest.Person(k.owner).Email}
			for _, guest := range l.some(guests) {
				ask.Attendees = append(ask.Attendees, worldtest.Person(guest).Email)
			}
		}
		_, err := l.w.Scheduler.Finalise(l.w.Context(), by, k.id, ask, worldtest.Cause)
		return err
	})
}

// end is a command after which the poll no longer follows its event. If the event is
// kept, the program no longer manages it.
func (l *life) end(what string, keep bool, do func(by scheduler.Person, k known) error) {
	l.command(what, func(by scheduler.Person, k known) error {
		if !keep {
			return do(by, k)
		}
		return l.w.Keep(func() error { return do(by, k) })
	})
}

func (l *life) cancel(keep bool) func(scheduler.Person, known) error {
	return func(by scheduler.Person, k known) error {
		_, err := l.w.Scheduler.Cancel(l.w.Context(), by, k.id, keep, worldtest.Cause)
		return err
	}
}

func (l *life) reopen(keep bool) func(scheduler.Person, known) error {
	return func(by scheduler.Person, k known) error {
		_, err := l.w.Scheduler.Reopen(l.w.Context(), by, k.id, !keep, worldtest.Cause)
		return err
	}
}

// deleteEvent is what the web app asks for before it reopens a poll.
func (l *life) deleteEvent(by scheduler.Person, k known) error {
	_, err := l.w.Scheduler.DeleteEvent(l.w.Context(), by, k.id, worldtest.Cause)
	return err
}

func (l *life) remove(by scheduler.Person, k known) error {
	return l.w.Scheduler.Delete(l.w.Context(), by, k.id, false, worldtest.Cause)
}
