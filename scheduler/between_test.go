package scheduler_test

import (
	"flag"
	"fmt"
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// Which of the points at which something can happen are tried: 1 and 1 try all,
// which takes minutes.
var (
	stride = flag.Int("stride", 11, "try every nth call of the program as the one where it dies")
	every  = flag.Int("every", 97, "try every nth call of a command as the one where another one comes in between")
)

// act is something that people or the calendar do to a poll, with the tasks that
// follow from it. Refusals are ignored.
type act struct {
	name string
	do   func(w *worldtest.World, s fixture)
}

var (
	finaliseFirst = act{
		"finalise for the first slot", func(w *worldtest.World, s fixture) { _, _ = w.Finalise(s.poll, s.slots[0]); w.RunDue() },
	}
	finaliseSecond = act{
		"finalise for the second slot",
		func(w *worldtest.World, s fixture) { _, _ = w.Finalise(s.poll, s.slots[1]); w.RunDue() },
	}
	finaliseAlone = act{"finalise without an event", func(w *worldtest.World, s fixture) {
		_, _ = w.FinaliseAs(s.poll, worldtest.Ask{SlotID: s.slots[1]})
		w.RunDue()
	}}
	finaliseClub = act{"finalise in another calendar", func(w *worldtest.World, s fixture) {
		_, _ = w.FinaliseAs(s.poll, worldtest.Ask{SlotID: s.slots[1], CreateEvent: true, CalendarID: worldtest.ClubCalendar})
		w.RunDue()
	}}
	cancelIt = act{"cancel", func(w *worldtest.World, s fixture) { _, _ = w.Cancel(s.poll); w.RunDue() }}
	reopenIt = act{"reopen", func(w *worldtest.World, s fixture) {
		_, _ = w.Scheduler.Reopen(w.Context(), worldtest.Person("gm"), s.poll, true, worldtest.Cause)
		w.RunDue()
	}}
	deleteIt = act{"delete the poll", func(w *worldtest.World, s fixture) {
		_ = w.Scheduler.Delete(w.Context(), worldtest.Person("gm"), s.poll, false, worldtest.Cause)
		w.RunDue()
	}}
	restoreIt = act{"restore the original time", func(w *worldtest.World, s fixture) {
		_, _ = w.Scheduler.RestoreOriginal(w.Context(), worldtest.Person("gm"), s.poll, worldtest.Cause)
		w.RunDue()
	}}
	acceptIt = act{"accept the new time", func(w *worldtest.World, s fixture) {
		if p, err := poll.Load(w.Context(), w.Documents, s.poll); err == nil {
			_, _ = w.Scheduler.AcceptNew(w.Context(), worldtest.Person("gm"), s.poll, p.Sync.Applied.String(), worldtest.Cause)
		}
		w.RunDue()
	}}
	archiveIt = act{"archive", func(w *worldtest.World, s fixture) {
		_, _ = w.Scheduler.Archive(w.Context(), worldtest.Person("gm"), s.poll, worldtest.Cause)
		w.RunDue()
	}}
	unarchiveIt = act{"archive and unarchive", func(w *worldtest.World, s fixture) {
		archiveIt.do(w, s)
		_, _ = w.Scheduler.Unarchive(w.Context(), worldtest.Person("gm"), s.poll, worldtest.Cause)
		w.RunDue()
	}}
	cancelDirectly = act{"cancel as the web app does", func(w *worldtest.World, s fixture) {
		w.Edit(poll.Path(s.poll), poll.Set("status", string(rules.Cancelled)))
		_, _ = w.Scheduler.Reconcile(w.Context(), s.poll, worldtest.Cause)
		w.RunDue()
	}}
	reopenDirectly = act{"reopen as the web app does", func(w *worldtest.World, s fixture) {
		if p, err := poll.Load(w.Context(), w.Documents, s.poll); err == nil && p.GoogleEventID != "" {
			w.Released(p.GoogleEventID) // the event stays where it is
		}
		w.Edit(poll.Path(s.poll), poll.Set("status", string(rules.Open)), poll.Set("winningSlotId", nil))
		_, _ = w.Scheduler.Reconcile(w.Context(), s.poll, worldtest.Cause)
		w.RunDue()
	}}
	moveIt      = act{"the event moves", func(w *worldtest.World, s fixture) { eachEvent(w, s, moveTo(worldtest.Noon)); w.RunDue() }}
	moveOn      = act{"the event moves on", func(w *worldtest.World, s fixture) { eachEvent(w, s, moveTo(worldtest.Three)); w.RunDue() }}
	moveBack    = act{"the event moves back", func(w *worldtest.World, s fixture) { eachEvent(w, s, moveTo(worldtest.Ten)); w.RunDue() }}
	deleteEvent = act{"the event is deleted", func(w *worldtest.World, s fixture) {
		eachEvent(w, s, func(w *worldtest.World, calendar, id string) { w.DeleteEvent(calendar, id) })
		w.RunDue()
	}}
	editSlots = act{"the slots are edited", func(w *worldtest.World, s fixture) {
		later := []scheduler.SlotEdit{}
		for i, slot := range []worldtest.Slot{worldtest.Ten, worldtest.Three} {
			later = append(later, scheduler.SlotEdit{
				ID: s.slots[i], Times: worldtest.Slot{Start: slot.Start.Add(time.Hour), End: slot.End.Add(time.Hour)},
			})
		}
		_, _ = w.Scheduler.Edit(w.Context(), worldtest.Person("gm"), s.poll, scheduler.Edit{Slots: &later}, worldtest.Cause)
	}}
	drain = act{"a drain", func(w *worldtest.World, _ fixture) { w.Drain(); w.RunDue() }}
)

func moveTo(slot worldtest.Slot) func(*worldtest.World, string, string) {
	return func(w *worldtest.World, calendar, id string) { w.MoveEvent(calendar, id, slot) }
}

// eachEvent does something to every event that is there now.
func eachEvent(w *worldtest.World, _ fixture, do func(w *worldtest.World, calendar, id string)) {
	for _, calendar := range []string{"gm", worldtest.Club} {
		for _, event := range w.Events(calendar) {
			do(w, calendar, event.ID)
		}
	}
}

// fixture is a poll with its event and slots.
type fixture struct {
	poll, event string
	slots       []string
}

// fresh is an open poll with votes.
func fresh(w *worldtest.World) fixture {
	pollID, slots := w.Poll()
	w.Run(time.Minute)
	return fixture{poll: pollID, slots: slots}
}

// finalised is a poll that follows its event.
func finalised(w *worldtest.World) fixture {
	pollID, slots, eventID := w.Finalised()
	return fixture{poll: pollID, slots: slots, event: eventID}
}

// atRest fails where an invariant is broken or work is left.
func atRest(t *testing.T, w *worldtest.World) {
	t.Helper()
	waitOut(w)
	w.Check()
	if intents := w.Intents(); len(intents) != 0 {
		t.Errorf("intents are left: %+v", intents)
	}
	if t.Failed() {
		t.Log(w.Log())
	}
}

// waitOut goes on until nobody can be at work any more on an insert that was
// superseded, whose event is deleted once more then.
func waitOut(w *worldtest.World) {
	for _, intent := range w.Intents() {
		if wait := intent.Until.Sub(w.Clock.Now()); wait > 0 {
			w.Run(wait + time.Minute)
		}
	}
}

// moved is a poll whose event was moved.
func moved(w *worldtest.World) fixture {
	s := finalised(w)
	w.MoveEvent("gm", s.event, worldtest.Noon)
	w.Run(time.Minute)
	return s
}

// checkAgreement fails where poll and calendar disagree: a poll that is finalised for
// an event has one, any other has none.
func checkAgreement(t *testing.T, w *worldtest.World, s fixture) {
	t.Helper()
	if p, err := poll.Load(t.Context(), w.Documents, s.poll); err == nil && p.Status == rules.Archived {
		// Nothing is decided about it until it is brought back.
		if _, err := w.Scheduler.Unarchive(t.Context(), worldtest.Person("gm"), s.poll, worldtest.Cause); err != nil {
			t.Error(err)
		}
		w.Sweep()
		w.Run(3 * time.Minute)
	}
	events := 0
	for _, event := range append(w.Events("gm"), w.Events(worldtest.Club)...) {
		if !w.WasReleased(event.ID) {
			events++
		}
	}
	p, err := poll.Load(t.Context(), w.Documents, s.poll)
	want := 0
	if err == nil && p.Linked() {
		want = 1
		if disagreement := w.Disagreement(p); disagreement != "" {
			t.Error(disagreement)
		}
	}
	if events != want {
		t.Errorf("the poll is %q (event %q) with %d events", p.Status, p.GoogleEventID, events)
	}
}

// interrupt runs an act with another one at its nth point, and reports whether
// there was such a point. Undisturbed, the act passes at least so many.
func interrupt(t *testing.T, begin func(*worldtest.World) fixture, first, between act, n, least int) (reached bool) {
	t.Helper()
	w := worldtest.New(t, worldtest.Options{})
	s := begin(w)
	w.At(n, func() { reached = true; between.do(w, s) })
	passed := len(w.Points(func() { first.do(w, s) }))
	if reached != (passed >= n) {
		t.Errorf("it passed %d points; something happened at point %d: %t", passed, n, reached)
	}
	if !reached && passed < least {
		t.Errorf("only %d points were passed, want %d at least", passed, least)
	}
	w.Calm()
	w.Run(3 * time.Minute)
	checkAgreement(t, w, s)
	atRest(t, w)
	return reached
}

func TestFinalise_InterruptedAnywhere_LeavesPollAndEventAgreeing(t *testing.T) {
	t.Parallel()
	for _, between := range []act{cancelIt, finaliseSecond, finaliseFirst, editSlots} {
		t.Run(between.name, func(t *testing.T) {
			t.Parallel()
			for n, more := 1, true; more && n <= worldtest.MostPoints; n++ {
				t.Run(fmt.Sprintf("at point %d", n), func(t *testing.T) {
					more = interrupt(t, fresh, finaliseFirst, between, n, 20)
				})
			}
		})
	}
}

// Every command and every change of the calendar in the middle of every other.
func TestCommands_InterruptedByOthers_LeavePollAndEventAgreeing(t *testing.T) {
	t.Parallel()
	fixtures := []struct {
		name  string
		begin func(*worldtest.World) fixture
	}{{"finalised", finalised}, {"moved", moved}}
	firsts := []act{
		finaliseSecond, finaliseAlone, finaliseClub, cancelIt, reopenIt, deleteIt, restoreIt, acceptIt, cancelDirectly,
		reopenDirectly, unarchiveIt, moveOn, moveBack, deleteEvent,
	}
	betweens := []act{
		finaliseFirst, finaliseClub, cancelIt, reopenIt, deleteIt, restoreIt, acceptIt, cancelDirectly, reopenDirectly,
		archiveIt, unarchiveIt, moveIt, moveBack, deleteEvent, drain,
	}
	pair := 0
	for _, from := range fixtures {
		for _, first := range firsts {
			least := 8
			if from.name == "finalised" && (first.name == restoreIt.name || first.name == acceptIt.name) {
				least = 2 // without a move they are refused after one read
			}
			for _, between := range betweens {
				pair++
				start := 1 + pair%*every
				t.Run(from.name+"/"+first.name+", during it "+between.name, func(t *testing.T) {
					t.Parallel()
					for n, more := start, true; more && n <= worldtest.MostPoints; n += *every {
						t.Run(fmt.Sprintf("at point %d", n), func(t *testing.T) {
							more = interrupt(t, from.begin, first, between, n, least)
						})
					}
				})
			}
		}
	}
}
