package scheduler_test

import (
	"fmt"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/test/points"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
	"questscheduler/scheduler"
	"questscheduler/transition"
)

// asked is a finalisation whose request has a name.
func asked(s fixture, createEvent bool) scheduler.Finalise {
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

func TestFinalise_RepeatedAfterALostAnswer_FindsTheDrainsResult(t *testing.T) {
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
func TestFinalise_RepeatedAfterAnotherChange_IsANewOne(t *testing.T) {
	t.Parallel()
	for name, between := range map[string]func(w *worldtest.World, s fixture, event string){
		"reopened": func(w *worldtest.World, s fixture, _ string) {
			_, err := w.Scheduler.Reopen(w.Context(), worldtest.Person("gm"), s.poll, true, worldtest.Cause)
			if err != nil {
				panic(err)
			}
		},
		"moved in the calendar": func(w *worldtest.World, _ fixture, event string) {
			w.MoveEvent("gm", event, worldtest.Three)
			w.Run(time.Minute)
		},
		"its event deleted by the app": func(w *worldtest.World, s fixture, event string) {
			w.LosePushes()
			w.DeleteEvent("gm", event)
			w.Edit(poll.Path(s.poll), poll.Set("googleEventId", nil))
		},
		"a quarter of an hour ago": func(w *worldtest.World, _ fixture, _ string) { w.Run(15 * time.Minute) },
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

// Each row is a choice under a name, the same choice again while the first is
// under way, and by which name the finalisation is known after the drain
// finished it: by the later that has one, since it has no answer yet.
func TestFinalise_SameChoiceUnderAnotherName_ResumesTheFirst(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ first, again, known string }{
		"the same name":        {"one", "one", "one"},
		"another name":         {"one", "another", "another"},
		"no name":              {"one", "", "one"},
		"a name where none is": {"", "another", "another"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			s := fresh(w)
			w.Refuse("events.insert", 503, "backendError", 2)
			ask := scheduler.Finalise{SlotID: s.slots[0], CreateEvent: true}
			for _, request := range []string{row.first, row.again} {
				ask.Request = request
				_, err := w.FinaliseAs(s.poll, ask)
				kind(t, err, fault.Unavailable)
			}
			equal(t, "intents", len(w.Intents()), 1)
			w.Run(5 * time.Minute)
			equal(t, "status", w.View(s.poll).Poll.Status, rules.Finalized)
			ask.Request = row.known
			view, err := w.FinaliseAs(s.poll, ask)
			if err != nil {
				t.Fatal(err)
			}
			equal(t, "generation", view.Poll.Sync.Generation, 1)
			equal(t, "event", view.Poll.GoogleEventID, poll.EventID(s.poll, 1))
			atRest(t, w)
		})
	}
}

// Each run has the drain finish what the first try left at another point of the
// second: before and after each call of the store, the queue and Google.
func TestFinalise_RepeatedDuringAnother_EndsInOneEvent(t *testing.T) {
	t.Parallel()
	point := 0
	for more := true; more && point <= worldtest.MostPoints; point++ {
		t.Run(fmt.Sprint("at point ", point), func(t *testing.T) {
			w := worldtest.New(t, worldtest.Options{})
			s := fresh(w)
			w.Refuse("events.insert", 503, "backendError", 1)
			_, err := w.FinaliseAs(s.poll, asked(s, true))
			kind(t, err, fault.Unavailable)
			again := func() {
				if _, err := w.FinaliseAs(s.poll, asked(s, true)); err != nil {
					t.Errorf("the second try: %v", err)
				}
			}
			w.Skip(transition.InsertGrace) // the first try holds the intent no more
			task := intentOf(t, w)
			finish := func() {
				if _, err := w.Outbox.Run(w.Context(), scheduler.KindIntent, task); err != nil {
					t.Errorf("the run: %v", err)
				}
			}
			stood := 0
			w.AtOnce(worldtest.Interleaving{
				Next: func(ready []int) int {
					if stood >= point || ready[0] != 0 {
						return ready[len(ready)-1]
					}
					return 0
				},
				Paused: func(operation int, _ string) {
					if operation == 0 {
						stood++
					}
				},
			}, again, finish)
			more = point < stood
			w.Run(time.Minute)
			view := w.View(s.poll)
			equal(t, "generation", view.Poll.Sync.Generation, 1)
			equal(t, "event", view.Poll.GoogleEventID, poll.EventID(s.poll, 1))
			equal(t, "entries", len(w.Journal(s.poll)), 1)
			atRest(t, w)
		})
	}
	points.Struck(t, point-1, 40)
}

// intentOf is the id of the only intent that is left.
func intentOf(t *testing.T, w *worldtest.World) string {
	t.Helper()
	intents := w.Intents()
	equal(t, "intents", len(intents), 1)
	return intents[0].ID()
}
