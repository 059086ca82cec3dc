package scheduler_test

import (
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/worldtest"
	"questscheduler/poll"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// asked is a finalisation whose request has a name.
func asked(s story, createEvent bool) scheduler.Finalise {
	return scheduler.Finalise{SlotID: s.slots[0], CreateEvent: createEvent, Request: "the same"}
}

func TestFinalise_TheSameRequestAgain_ChangesNothing(t *testing.T) {
	t.Parallel()
	for name, createEvent := range map[string]bool{"with an event": true, "without one": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			s := fresh(w)
			first, err := w.FinaliseAs(s.poll, asked(s, createEvent))
			if err != nil {
				t.Fatal(err)
			}
			w.Run(time.Minute)
			entries := len(w.Journal(s.poll))
			again, err := w.FinaliseAs(s.poll, asked(s, createEvent))
			if err != nil {
				t.Fatal(err)
			}
			w.Run(time.Minute)
			equal(t, "event", again.Poll.GoogleEventID, first.Poll.GoogleEventID)
			equal(t, "generation", again.Poll.Sync.Generation, first.Poll.Sync.Generation)
			equal(t, "entries", len(w.Journal(s.poll)), entries)
			equal(t, "events", len(w.Events("gm")), map[bool]int{true: 1, false: 0}[createEvent])
			atRest(t, w)
		})
	}
}

func TestFinalise_TheSameRequestAfterALostAnswer_FindsWhatTheDrainFinished(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := fresh(w)
	w.Plant("events.insert", func(f *worldtest.Fault) { f.LostAnswer, f.Times = true, 1 })
	_, err := w.FinaliseAs(s.poll, asked(s, true))
	kind(t, err, fault.Unavailable)
	w.Run(5 * time.Minute)
	before := w.View(s.poll).Poll
	equal(t, "status", before.Status, rules.Finalized)
	again, err := w.FinaliseAs(s.poll, asked(s, true))
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "event", again.Poll.GoogleEventID, before.GoogleEventID)
	equal(t, "generation", again.Poll.Sync.Generation, before.Sync.Generation)
	atRest(t, w)
}

// Each row is why the same words are another request by now.
func TestFinalise_TheSameRequestOfAPollThatStandsOtherwise_IsANewOne(t *testing.T) {
	t.Parallel()
	for name, between := range map[string]func(w *worldtest.World, s story, event string){
		"reopened": func(w *worldtest.World, s story, _ string) {
			_, err := w.Scheduler.Reopen(w.Context(), worldtest.Person("gm"), s.poll, true, worldtest.Cause)
			if err != nil {
				panic(err)
			}
		},
		"moved in the calendar": func(w *worldtest.World, _ story, event string) {
			w.MoveEvent("gm", event, worldtest.Three)
			w.Run(time.Minute)
		},
		"its event deleted by the app": func(w *worldtest.World, s story, _ string) {
			w.Edit(poll.Path(s.poll), poll.Set("googleEventId", nil))
		},
		"a quarter of an hour ago": func(w *worldtest.World, _ story, _ string) { w.Run(15 * time.Minute) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			s := fresh(w)
			first, err := w.FinaliseAs(s.poll, asked(s, true))
			if err != nil {
				t.Fatal(err)
			}
			w.Run(time.Minute)
			between(w, s, first.Poll.GoogleEventID)
			again, err := w.FinaliseAs(s.poll, asked(s, true))
			if err != nil {
				t.Fatal(err)
			}
			if again.Poll.GoogleEventID == first.Poll.GoogleEventID || again.Poll.Sync.State != rules.StateOK {
				t.Errorf("it stayed event %s, state %s", again.Poll.GoogleEventID, again.Poll.Sync.State)
			}
			w.Run(time.Minute)
			atRest(t, w)
		})
	}
}
