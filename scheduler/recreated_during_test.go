package scheduler_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/points"
	"questscheduler/internal/test/storetest"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// anywhere does something at each point of a flow in turn, until there are no more.
func anywhere(t *testing.T, at func(t *testing.T, n int) (reached bool)) {
	t.Helper()
	n, reached := 1, true
	for ; reached && n <= worldtest.MostPoints; n++ {
		t.Run(fmt.Sprintf("at point %d", n), func(t *testing.T) { reached = at(t, n) })
	}
	points.Struck(t, n-2, 3)
}

func TestRecreatedPoll_CleanupCutOffAnywhere_IsFinished(t *testing.T) {
	t.Parallel()
	for _, blow := range blows {
		t.Run(blow.name, func(t *testing.T) {
			t.Parallel()
			anywhere(t, func(t *testing.T, n int) bool {
				t.Helper()
				w := worldtest.New(t, worldtest.Options{})
				s := moved(w)
				before := everything(w, s)
				w.Remove(poll.Path(s.poll))
				slots := w.Recreate(s.poll, "ana")
				blow.strike(w, n)
				w.Survives(func() {
					_, _ = w.Scheduler.Reconcile(t.Context(), s.poll, worldtest.Cause)
					w.Run(time.Minute)
				})
				reached := w.Struck()
				blow.recover(w)
				w.Sweep()
				w.Run(20 * time.Minute)
				if left := ofOld(t, w, s, before); len(left) > 0 {
					t.Errorf("left of the deleted poll: %s", strings.Join(left, ", "))
				}
				checkRecreated(t, w, s, worldtest.Person("ana"), slots)
				atRest(t, w)
				return reached
			})
		})
	}
}

// The new poll comes while the old one is deleted over our route, and while its
// tasks run.
func TestDelete_PollRecreatedAnywhereInIt_SparesTheNew(t *testing.T) {
	t.Parallel()
	anywhere(t, func(t *testing.T, n int) (reached bool) {
		t.Helper()
		w := worldtest.New(t, worldtest.Options{})
		s := moved(w)
		before := slices.DeleteFunc(everything(w, s), func(name string) bool { return name == string(poll.VotePath(s.poll, "ana")) })
		w.Write(poll.Path(s.poll).Doc("basicPolls", "old"), poll.Set("title", "Snacks"))
		w.Write(poll.Path(s.poll).Doc("basicPolls", "old").Doc("votes", "ben"), poll.Set("choice", "Crisps"))
		var slots []string
		recreate := func() {
			if slots == nil && !w.Document(poll.Path(s.poll)).Exists() {
				slots = w.Recreate(s.poll, "ana")
				w.Write(poll.Path(s.poll).Doc("basicPolls", "new"), poll.Set("title", "Drinks"))
				w.Write(poll.VotePath(s.poll, "ana"), poll.Set("voterId", "ana"), poll.Set("votes", map[string]any{slots[0]: poll.Preferred}),
					poll.Set("updatedAt", w.Clock.Now()))
			}
		}
		w.At(n, func() { reached = true; recreate() })
		deleteIt.do(w, s)
		w.Calm()
		recreate()
		w.Sweep()
		w.Run(20 * time.Minute)
		if _, err := w.Scheduler.Reconcile(t.Context(), s.poll, worldtest.Cause); err != nil {
			t.Fatal(err)
		}
		if left := ofOld(t, w, s, before); len(left) > 0 {
			t.Errorf("left of the deleted poll: %s", strings.Join(left, ", "))
		}
		embedded := poll.Path(s.poll).Doc("basicPolls", "old")
		equal(t, "the old embedded poll is there", w.Document(embedded).Exists(), false)
		equal(t, "its vote is there", w.Document(embedded.Doc("votes", "ben")).Exists(), false)
		equal(t, "the new embedded poll is there", w.Document(poll.Path(s.poll).Doc("basicPolls", "new")).Exists(), true)
		equal(t, "the new vote is there", w.Document(poll.VotePath(s.poll, "ana")).Exists(), true)
		checkRecreated(t, w, s, worldtest.Person("ana"), slots)
		atRest(t, w)
		return reached
	})
}

// A move is about to be announced, or a card to be drawn, when the poll goes and
// another one takes its id: its people hear nothing of it.
func TestRecreatedPoll_AnywhereInAnAnnouncement_HearsNothing(t *testing.T) {
	t.Parallel()
	for name, discord := range map[string]func(w *worldtest.World){
		"Discord takes it":   func(*worldtest.World) {},
		"Discord refuses it": func(w *worldtest.World) { w.PlantDiscord("messages.*", func(f *worldtest.Fault) { f.Status = 403 }) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			anywhere(t, func(t *testing.T, n int) bool { t.Helper(); return recreatedDuringAnnouncement(t, n, discord) })
		})
	}
}

func recreatedDuringAnnouncement(t *testing.T, n int, discord func(*worldtest.World)) (reached bool) {
	t.Helper()
	w := worldtest.New(t, worldtest.Options{Settings: worldtest.Settings{Discord: true}})
	pollID, slots := w.PollOf("gm", scheduler.Create{GroupID: w.Party(), ParticipantIDs: []string{"gm", "ben"}})
	view, err := w.Finalise(pollID, slots[0])
	if err != nil {
		t.Fatal(err)
	}
	w.Run(time.Minute)
	discord(w)
	w.MoveEvent("gm", view.Poll.GoogleEventID, worldtest.Noon)
	w.At(n, func() {
		reached = true
		w.DeleteDirectly(pollID)
		w.Recreate(pollID, "cho")
		w.Write(poll.Path(pollID), poll.Set("participantIds", []any{"cho", "ana"}))
	})
	w.Run(time.Minute)
	w.Calm()
	heard := len(w.Notices("ana")) // of the party, she may have heard before
	w.Sweep()
	w.Run(20 * time.Minute)
	if !reached {
		return false
	}
	equal(t, "cho's notices", len(w.Notices("cho")), 0)
	equal(t, "ana's notices", len(w.Notices("ana")), heard)
	p, err := poll.Load(t.Context(), w.Documents, pollID)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "card", p.Discord, poll.Card{})
	if p.Sync.Error != nil || p.Sync.State != rules.StateNone || p.Pristine() {
		t.Errorf("the new poll has %+v", p.Sync)
	}
	atRest(t, w)
	return true
}

// The insert of the old poll is under way, or its answer was lost.
func TestRecreatedPoll_AnywhereInAFinalisation_IsNotFinalised(t *testing.T) {
	t.Parallel()
	anywhere(t, func(t *testing.T, n int) (reached bool) {
		t.Helper()
		w := worldtest.New(t, worldtest.Options{})
		s := fresh(w)
		w.At(n, func() {
			reached = true
			w.DeleteDirectly(s.poll)
			w.Recreate(s.poll, "ana")
		})
		finaliseFirst.do(w, s)
		w.Calm()
		if !reached {
			return false
		}
		if _, err := w.Scheduler.Reconcile(t.Context(), s.poll, worldtest.Cause); err != nil {
			t.Fatal(err)
		}
		w.Run(3 * time.Minute)
		p, err := poll.Load(t.Context(), w.Documents, s.poll)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "status", p.Status, rules.Open)
		equal(t, "event", p.GoogleEventID, "")
		waitOut(w)
		equal(t, "events", len(w.Events("gm")), 0)
		atRest(t, w)
		return true
	})
}

// What the rule costs: one read more when a poll that the app made is finalised
// first, and none of a change of its document.
func TestPristinePoll_ReadsOneEntryMore_OnItsFirstCommandAlone(t *testing.T) {
	t.Parallel()
	var meter *storetest.Counter
	w := worldtest.New(t, worldtest.Options{Wrap: func(inner store.Store) store.Store {
		meter = storetest.Count(inner)
		return meter
	}})
	reads := func(do func()) int {
		w.RunDue()
		meter.Reset()
		do()
		return meter.Total().Reads
	}
	ofUs, _ := w.PollOf("ana", scheduler.Create{})
	ofApp := "10000000-0000-4000-8000-000000000001"
	slots := w.Recreate(ofApp, "ana")
	reconcile := func(id string) func() {
		return func() {
			if _, err := w.Scheduler.Reconcile(t.Context(), id, worldtest.Cause); err != nil {
				t.Fatal(err)
			}
		}
	}
	equal(t, "reads of a document change", reads(reconcile(ofApp)), reads(reconcile(ofUs)))
	finalise := func(id, slot string) func() {
		return func() {
			ask := worldtest.Ask{SlotID: slot, CreateEvent: true}
			if _, err := w.Scheduler.Finalise(t.Context(), worldtest.Person("ana"), id, ask, worldtest.Cause); err != nil {
				t.Fatal(err)
			}
		}
	}
	view, err := w.Scheduler.Create(
		t.Context(), worldtest.Person("ana"),
		scheduler.Create{Title: "Ours", Slots: []worldtest.Slot{worldtest.Ten, worldtest.Three}}, worldtest.Cause,
	)
	if err != nil {
		t.Fatal(err)
	}
	reads(finalise(ofApp, slots[0])) // opens the watch channel
	second := w.Recreate("10000000-0000-4000-8000-000000000003", "ana")
	first := reads(finalise("10000000-0000-4000-8000-000000000003", second[0]))
	usual := reads(finalise(view.Poll.ID, view.Slots[0].ID))
	equal(t, "reads of the first finalisation", first, usual+1)
	again := reads(finalise("10000000-0000-4000-8000-000000000003", second[1]))
	equal(t, "reads of another finalisation", again, reads(finalise(view.Poll.ID, view.Slots[1].ID)))
	if slices.Contains([]int{first, again}, 0) {
		t.Error("nothing was counted")
	}
}
