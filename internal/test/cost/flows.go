package cost

import (
	"errors"
	"fmt"
	"time"

	"questscheduler/internal/test/storetest"
	"questscheduler/internal/test/worldtest"
	"questscheduler/scheduler"
	"questscheduler/web-hooks/timers"
)

// Flow is something that is done, as a rule to a poll of a party of four, three
// of whom have voted, which was finalised with an event and is at rest.
type Flow struct {
	// Name is how `make bench` calls it, and What says it to people.
	Name, What string
	// before is done first, and has come to rest.
	before func(w *World, eventID string)
	// do is what is counted. Where that begins later than it does, it calls
	// Begin itself.
	do func(w *World, pollID, eventID string) error
	// alone leaves out what is due because of it.
	alone bool
	// Most is what the transaction that applies an observation may cost; zero: the
	// flow has no such transaction.
	Most storetest.Cost
	// Least is what must be read, written and deleted whatever the program looks like: each document
	// once in each transaction that decides by it, and once for each call and answer that needs it.
	// Zero: it was not worked out.
	Least storetest.Cost
	// Searches: the sync run also searches other calendars for the event, which
	// takes two more transactions.
	Searches bool
	// discord: the poll is of a group, in whose channel on Discord its card is.
	discord bool
	// Commits is how many transactions that write the flow takes ; zero: it does not matter.
	Commits int
}

// Allowed is what the flow may cost: three tenths more than the least. Zero: it is not bounded.
func (f Flow) Allowed() storetest.Cost {
	return storetest.Cost{Reads: f.Least.Reads * 13 / 10, Writes: f.Least.Writes * 13 / 10, Deletes: f.Least.Deletes * 13 / 10}
}

// Counted is what a flow cost.
type Counted struct {
	// Total is with everything that was due because of it, but for the
	// announcement, which is a flow of its own.
	Total storetest.Cost
	// Runs are its transactions, in the order of their ends.
	Runs []storetest.Cost
}

// Commits is how many of the transactions wrote something. The others, which only read, wait for
// no disk on SQLite.
func (c Counted) Commits() (count int) {
	for _, run := range c.Runs {
		if run.Writes+run.Deletes > 0 {
			count++
		}
	}
	return count
}

// Transition is the transaction that applied an observation: the last one before
// the transaction that ended the sync run. ok is false where push and sync run took
// another number of transactions than it has to.
func (f Flow) Transition(runs []storetest.Cost) (transition storetest.Cost, ok bool) {
	want := 4 // request, claim, transition, end
	if f.Searches {
		want = 6
	}
	if len(runs) != want {
		return storetest.Cost{}, false
	}
	return runs[want-2], true
}

// Count does a flow in a world of its own. The place's own counts stay until
// something else is done there.
func (f Flow) Count(t worldtest.TB, place Place) (Counted, error) {
	w := newWorld(t, place, f.discord)
	pollID, eventID, err := w.finalised(f.discord)
	if err != nil {
		return Counted{}, fmt.Errorf("%s: %w", f.Name, err)
	}
	if f.before != nil {
		f.before(w, eventID)
		w.Run(time.Minute)
	}
	w.Begin()
	err = f.do(w, pollID, eventID)
	if err != nil {
		return Counted{}, fmt.Errorf("%s: %w", f.Name, err)
	}
	if !f.alone {
		w.RunDue()
	}
	return Counted{w.Total(), w.Runs()}, nil
}

// finalised is a poll that was finalised and is at rest; in a group with a channel on Discord,
// its card is there.
func (w *World) finalised(discord bool) (pollID, eventID string, err error) {
	ask := scheduler.Create{}
	if discord {
		ask.GroupID = w.Party()
	}
	pollID, slots := w.PollOf("gm", ask)
	view, err := w.Finalise(pollID, slots[0])
	w.Run(time.Minute)
	return pollID, view.Poll.GoogleEventID, err
}

// The flows that others ask for by name.
const (
	FinaliseFirst    = "finalise_first"
	Finalise         = "finalise"
	TellFinalised    = "tell_finalised"
	Reschedule       = "reschedule"
	TellRescheduled  = "tell_rescheduled"
	PushToAnnounced  = "push_to_announced"
	Restore          = "restore"
	UnrelatedChange  = "unrelated_change"
	UnrelatedChanges = "unrelated_changes"
	IdleDrain        = "idle_drain"
	IdleUpcoming     = "idle_upcoming"
	Upcoming         = "upcoming"
	UpcomingPlanned  = "upcoming_planned"
	Tick             = "tick"
	PushCovered      = "push_covered"
)

// ManyChanges is how many changes UnrelatedChanges are.
const ManyChanges = 200

// votes is how many people of a party vote.
const votes = 3

// Named is the flow of the table that has a name of the above.
func Named(name string) Flow {
	for _, f := range Flows {
		if f.Name == name {
			return f
		}
	}
	panic("cost: there is no flow " + name)
}

// Flows is the table.
var Flows = []Flow{
	{
		Name: FinaliseFirst,
		What: "a poll is finalised with an event, the first in its calendar, of which a watch channel is opened",
		do:   finaliseFirst,
	},
	// To choose the calendar: poll, slot, account. The insert is begun: poll, slot. Each call to Google: the account,
	// twice. It is completed: poll, slot, calendar, intent. The answer: two slots, three votes. The push: its channel and
	// the calendar. The sync: the calendar, twice; index entry, calendar, poll and slot for the event.
	{Name: Finalise, What: "a poll is finalised with an event in a calendar that is watched", do: finalise,
		Least: storetest.Cost{Reads: 24, Writes: 9, Deletes: 1}},
	{Name: TellFinalised, What: "a finalisation is recorded as announced: the web app announces it",
		do: func(w *World, pollID, eventID string) error {
			err := finalise(w, pollID, eventID)
			w.settle()
			return err
		}},
	// Index entry, calendar, poll, slot, and votes for the snapshot; poll, slot,
	// snapshot, journal, announcement.
	{
		Name: Reschedule, What: "the event is moved: push, sync, reschedule", Commits: 4, do: move(worldtest.Noon),
		Most: storetest.Cost{Reads: 4 + votes, Writes: 6},
	},
	// The documents, and what was announced.
	{Name: TellRescheduled, What: "a reschedule is announced to three people in the app", Commits: 1,
		do: func(w *World, _, eventID string) error {
			w.MoveEvent("gm", eventID, worldtest.Noon)
			w.settle()
			return nil
		}},
	// The push's request, the claim of the sync, the transition, the end of the sync; the documents
	// with what is being announced, the message with what was announced, and the card.
	{Name: PushToAnnounced,
		What: "the event of a group's poll is moved, and three people in the app and a channel on Discord, with its " +
			"card, have it", discord: true, Commits: 7, do: func(w *World, _, eventID string) error {
			w.MoveEvent("gm", eventID, worldtest.Noon)
			w.RunDue()
			w.Skip(worldtest.Settle)
			return nil
		}},
	{
		Name: "reschedule_again", What: "the event of a rescheduled poll is moved again", before: moved(worldtest.Noon),
		do: move(worldtest.Three), Most: storetest.Cost{Reads: 4, Writes: 6},
	},
	// Beside those: the original slot and the snapshot; the calendar's slot goes.
	{
		Name: Restore, What: "the event of a rescheduled poll is moved back", before: moved(worldtest.Noon),
		do: move(worldtest.Ten), Most: storetest.Cost{Reads: 4 + 2 + votes, Writes: 6, Deletes: 1},
	},
	// The command: poll, index entry, account. The transition: index entry, calendar, poll, three slots' places (the
	// present, the original, the snapshot), three votes. The answer: two slots, three votes. The push: its channel and
	// the calendar. The sync: the calendar, twice; the account; index entry, calendar, poll and slot for the event.
	{Name: "restore_by_owner", Least: storetest.Cost{Reads: 26, Writes: 6, Deletes: 1}, What: "the owner restores the original time of a rescheduled poll",
		before: moved(worldtest.Noon), do: func(w *World, pollID, _ string) error {
			_, err := w.Scheduler.RestoreOriginal(w.Context(), worldtest.Person("gm"), pollID, worldtest.Cause)
			return err
		}},
	{Name: "delete_outside", What: "the event is deleted in the calendar, which cancels the poll",
		do: func(w *World, _, eventID string) error {
			w.DeleteEvent("gm", eventID)
			return nil
		}, Most: storetest.Cost{Reads: 4, Writes: 6, Deletes: 1}, Searches: true},
	{Name: "moved_calendar",
		What: "the event is moved to another calendar of its owner, the first in it, of which a watch channel is opened",
		do: func(w *World, _, eventID string) error {
			w.MoveAway("gm", eventID, worldtest.Club)
			return nil
		}},
	// The command: poll, slot, index entry, calendar, its intents. The answer: two slots, three votes. The intent is
	// taken and ended, with the account for its call. The push: its channel and the calendar.
	{Name: "cancel", What: "the owner cancels the poll, and its event is deleted",
		Least: storetest.Cost{Reads: 15, Writes: 6, Deletes: 2}, do: func(w *World, pollID, _ string) error {
			_, err := w.Cancel(pollID)
			return err
		}},
	{Name: "reopen", What: "the owner reopens the poll and leaves the event", do: func(w *World, pollID, _ string) error {
		return w.Keep(func() error {
			_, err := w.Scheduler.Reopen(w.Context(), worldtest.Person("gm"), pollID, false, worldtest.Cause)
			return err
		})
	}},
	{Name: "push", What: "a push is handed over", alone: true, do: func(w *World, _, _ string) error { return w.push(1) }},
	{
		Name: PushCovered, What: "another push is handed over while a sync task waits", alone: true,
		do: func(w *World, _, _ string) error { return w.push(2) },
	},
	// The push's request, the claim of the sync and its end.
	{Name: UnrelatedChange, What: "something else changes in the calendar: push, sync, no transition", Commits: 3,
		do: func(w *World, _, _ string) error {
			w.InsertEvent("gm", allDay)
			return nil
		}},
	{Name: UnrelatedChanges, What: fmt.Sprint(ManyChanges, " other things change, and one push comes: the same sync"),
		do: func(w *World, _, _ string) error {
			for range ManyChanges - 1 {
				w.InsertEvent("gm", allDay)
			}
			w.LosePushes()
			w.InsertEvent("gm", allDay)
			w.Begin()
			return nil
		}},
	{
		Name: Tick, What: "the timers are asked what is due (with QS_QUEUE=embedded alone)", alone: true,
		do: func(w *World, _, _ string) error { return w.AskTimers() },
	},
	{Name: IdleDrain, What: "a drain that finds nothing", do: job(timers.Drain)},
	// The job's record, thrice; a query for each of its nine parts, and behind them an index entry, a poll, and of the
	// channel its calendar and that one's channels. The calendar is loaded, with its channel, index entry and poll, and
	// again at the end; so in its sync, with the account between.
	{Name: "idle_sweep", What: "a sweep of one calendar with one poll that finds nothing", do: job(timers.PollFallback),
		Least: storetest.Cost{Reads: 24, Writes: 6}},
	{Name: "idle_renewal", What: "a renewal that finds one channel, and that it lasts", do: job(timers.RenewWatches)},
	{
		Name: "renewal", What: "a renewal that puts a new channel in its place",
		before: func(w *World, _ string) { w.Skip(6 * 24 * time.Hour) }, do: job(timers.RenewWatches),
	},
	{Name: IdleUpcoming, What: "a look for sessions within two days that finds none", do: job(timers.PlanUpcoming)},
	{
		Name: Upcoming, What: "a look that finds one, and the sync of its calendar without a change",
		before: beforeSession, do: look(20 * time.Minute),
	},
	{
		Name: UpcomingPlanned, What: "a look that finds one, for which a sync is planned", before: beforeSession,
		do: func(w *World, _, _ string) error {
			// A sync, and the plan of the next.
			err := errors.Join(look(20*time.Minute)(w, "", ""), look(time.Minute)(w, "", ""))
			return errors.Join(err, look(time.Minute)(w, "", ""))
		},
	},
	// The job's record, written at both ends; a query for each of 18 rows.
	{Name: "idle_cleanup", What: "a cleanup that finds nothing", do: job(timers.Cleanup),
		Least: storetest.Cost{Reads: 21, Writes: 2}},
	{Name: "health", What: "two linked accounts are checked", do: job(timers.Health)},
}

// beforeSession comes to an hour before the session.
func beforeSession(w *World, _ string) {
	w.Skip(worldtest.Ten.Start.Add(-time.Hour).Sub(w.Clock.Now()))
}

// look counts a look for sessions that start soon, after a while in which the program does not run.
func look(after time.Duration) func(w *World, pollID, eventID string) error {
	return func(w *World, _, _ string) error {
		w.Skip(after)
		w.Begin()
		return w.runJob(timers.PlanUpcoming)
	}
}

var allDay = map[string]any{"start": map[string]any{"date": "2026-03-10"}, "end": map[string]any{"date": "2026-03-11"}}

func moved(to worldtest.Slot) func(w *World, eventID string) {
	return func(w *World, eventID string) { w.MoveEvent("gm", eventID, to) }
}

func move(to worldtest.Slot) func(w *World, pollID, eventID string) error {
	return func(w *World, _, eventID string) error {
		w.MoveEvent("gm", eventID, to)
		return nil
	}
}

// finalise counts the finalisation of another poll.
func finalise(w *World, _, _ string) error {
	pollID, slots := w.Poll()
	w.Begin()
	_, err := w.Finalise(pollID, slots[0])
	return err
}

// finaliseFirst counts the first finalisation of somebody else.
func finaliseFirst(w *World, _, _ string) error {
	pollID, slots := w.PollOf("ana", scheduler.Create{})
	w.Begin()
	_, err := w.Scheduler.Finalise(
		w.Context(), worldtest.Person("ana"), pollID, worldtest.Ask{SlotID: slots[0], CreateEvent: true}, worldtest.Cause,
	)
	return err
}

// settle has what is due be done and not counted, and the announcement be due.
func (w *World) settle() {
	w.RunDue()
	w.Begin()
	w.Skip(worldtest.Settle)
}

// push delivers as many pushes, and counts the last.
func (w *World) push(n int) error {
	for range n {
		w.InsertEvent("gm", allDay)
		due := w.PushesDue()
		if len(due) == 0 {
			return errors.New("the calendar does not push")
		}
		w.Begin()
		w.Deliver(due[0])
	}
	return nil
}

// job counts a job of the timers with all the tasks that it enqueues. The
// calendars were last synced over an hour ago, so that a sweep skips none.
func job(name string) func(w *World, pollID, eventID string) error {
	return func(w *World, _, _ string) error {
		w.Skip(2 * time.Hour)
		w.Begin()
		return w.runJob(name)
	}
}

// runJob runs a job as Cloud Scheduler's call does, with all that it hands over.
func (w *World) runJob(name string) error {
	if err := w.Timers.HandOver(w.Context(), name); err != nil {
		return err
	}
	w.RunDue()
	if name == timers.PollFallback { // which it spreads over its period
		w.Skip(worldtest.FallbackEvery)
		w.RunDue()
	}
	return nil
}
