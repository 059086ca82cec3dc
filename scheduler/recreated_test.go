package scheduler_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// deletions are how a poll's document goes directly. The app removes slots and
// votes before; another client need not.
var deletions = map[string]func(w *worldtest.World, s fixture){
	"deleted by the app": func(w *worldtest.World, s fixture) { w.DeleteDirectly(s.poll) },
	"its document alone": func(w *worldtest.World, s fixture) { w.Remove(poll.Path(s.poll)) },
	"deleted over our route": func(w *worldtest.World, s fixture) {
		_ = w.Scheduler.Delete(w.Context(), worldtest.Person("gm"), s.poll, false, worldtest.Cause)
	},
}

// finders are what meets first a poll that has the id of a deleted one.
var finders = map[string]func(t *testing.T, w *worldtest.World, s fixture, by scheduler.Person, slot string){
	"document change": func(t *testing.T, w *worldtest.World, s fixture, _ scheduler.Person, _ string) {
		t.Helper()
		if _, err := w.Scheduler.Reconcile(t.Context(), s.poll, worldtest.Cause); err != nil {
			t.Fatal(err)
		}
	},
	"sweep": func(_ *testing.T, w *worldtest.World, _ fixture, _ scheduler.Person, _ string) { w.Sweep() },
	"sync": func(_ *testing.T, w *worldtest.World, s fixture, _ scheduler.Person, _ string) {
		w.MoveEvent("gm", s.event, worldtest.Three)
		w.RunDue()
	},
	"finalise": func(t *testing.T, w *worldtest.World, s fixture, by scheduler.Person, slot string) {
		t.Helper()
		view, err := w.Scheduler.Finalise(t.Context(), by, s.poll, worldtest.Ask{SlotID: slot, CreateEvent: true}, worldtest.Cause)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "finalised", view.Poll.Status, rules.Finalized)
	},
	"cancel": func(t *testing.T, w *worldtest.World, s fixture, by scheduler.Person, _ string) {
		t.Helper()
		view, err := w.Scheduler.Cancel(t.Context(), by, s.poll, false, worldtest.Cause)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "cancelled", view.Poll.Status, rules.Cancelled)
	},
	"reopen": func(t *testing.T, w *worldtest.World, s fixture, by scheduler.Person, _ string) {
		t.Helper()
		if _, err := w.Scheduler.Reopen(t.Context(), by, s.poll, false, worldtest.Cause); err != nil {
			t.Fatal(err)
		}
	},
	"restore": func(t *testing.T, w *worldtest.World, s fixture, by scheduler.Person, _ string) {
		t.Helper()
		_, err := w.Scheduler.RestoreOriginal(t.Context(), by, s.poll, worldtest.Cause)
		kind(t, err, fault.Conflict)
		w.Sweep()
	},
	"resend": func(t *testing.T, w *worldtest.World, s fixture, by scheduler.Person, _ string) {
		t.Helper()
		_, err := w.Scheduler.Resend(t.Context(), by, s.poll, worldtest.Cause)
		kind(t, err, fault.Conflict)
		w.Sweep()
	},
	"edit": func(t *testing.T, w *worldtest.World, s fixture, by scheduler.Person, _ string) {
		t.Helper()
		title := "Another title"
		if _, err := w.Scheduler.Edit(t.Context(), by, s.poll, scheduler.Edit{Title: &title}, worldtest.Cause); err != nil {
			t.Fatal(err)
		}
	},
	"delete": func(t *testing.T, w *worldtest.World, s fixture, by scheduler.Person, _ string) {
		t.Helper()
		if err := w.Scheduler.Delete(t.Context(), by, s.poll, false, worldtest.Cause); err != nil {
			t.Fatal(err)
		}
	},
}

// ofOld says what is there of gm's poll, whose id has another one by now.
func ofOld(t *testing.T, w *worldtest.World, s fixture, before []string) (left []string) {
	t.Helper()
	for _, entry := range w.Journal(s.poll) {
		if slices.Contains(before, entry.ID) {
			left = append(left, "journal entry "+entry.ID)
		}
	}
	for _, snapshot := range w.Snapshots() {
		left = append(left, string(snapshot.Path))
	}
	for _, path := range w.Below(s.poll) {
		if slices.Contains(before, string(path)) {
			left = append(left, string(path))
		}
	}
	for _, entry := range w.Index() {
		if entry.EventID == s.event {
			left = append(left, "index entry "+entry.EventID)
		}
	}
	announcement, err := poll.LoadAnnouncement(t.Context(), w.Documents, s.poll)
	if err != nil {
		t.Fatal(err)
	}
	for _, ref := range []string{announcement.Wanted.Ref, announcement.Announced.Ref, announcement.Delivering.Ref, announcement.Before.Ref} {
		if slices.Contains(before, ref) {
			left = append(left, "announcement of "+ref)
		}
	}
	return left
}

// everything names the documents of a poll that belong to it alone.
func everything(w *worldtest.World, s fixture) (all []string) {
	for _, entry := range w.Journal(s.poll) {
		all = append(all, entry.ID)
	}
	for _, path := range w.Below(s.poll) {
		all = append(all, string(path))
	}
	return all
}

func TestRecreatedPoll_HoweverFound_StartsEmpty(t *testing.T) {
	t.Parallel()
	for how, remove := range deletions {
		for found, find := range finders {
			for _, person := range []string{"ana", "gm"} {
				t.Run(how+", by "+person+", "+found, func(t *testing.T) {
					t.Parallel()
					w := worldtest.New(t, worldtest.Options{})
					s := moved(w)
					before := everything(w, s)
					remove(w, s)
					w.Skip(time.Second)
					slots, by := w.Recreate(s.poll, person), worldtest.Person(person)
					entries := 0
					_, err := w.Scheduler.Journal(
						t.Context(), by, s.poll, store.Paging{Limit: 100},
						func(poll.JournalEntry) (bool, error) { entries++; return true, nil },
					)
					if err != nil || entries != 0 {
						t.Errorf("before the cleanup %s reads %d entries, %v", person, entries, err)
					}
					find(t, w, s, by, slots[0])
					w.Run(20 * time.Minute)
					if left := ofOld(t, w, s, before); len(left) > 0 {
						t.Errorf("left of the deleted poll: %s", strings.Join(left, ", "))
					}
					if w.EventOf("gm", s.event).Live() {
						t.Error("the event of the deleted poll is there")
					}
					if found != "delete" {
						if event := checkRecreated(t, w, s, by, slots); event == s.event {
							t.Error("the new poll shares the event id of the old one")
						}
					}
					atRest(t, w)
				})
			}
		}
	}
}

// checkRecreated finalises a recreated poll and moves its event, as for any other poll,
// and returns the event.
func checkRecreated(t *testing.T, w *worldtest.World, s fixture, by scheduler.Person, slots []string) (event string) {
	t.Helper()
	for _, slot := range slots {
		if !w.Document(poll.SlotPath(s.poll, slot)).Exists() {
			t.Fatalf("slot %s of the new poll is gone", slot)
		}
	}
	if p, _ := poll.Load(t.Context(), w.Documents, s.poll); p.Status != rules.Open && p.Status != rules.Finalized {
		if _, err := w.Scheduler.Reopen(t.Context(), by, s.poll, false, worldtest.Cause); err != nil {
			t.Fatal(err)
		}
	}
	view, err := w.Scheduler.Finalise(t.Context(), by, s.poll, worldtest.Ask{SlotID: slots[1], CreateEvent: true}, worldtest.Cause)
	if err != nil {
		t.Fatal(err)
	}
	event = view.Poll.GoogleEventID
	w.MoveEvent(by.ID, event, worldtest.Noon)
	w.Run(time.Minute)
	p, err := poll.Load(t.Context(), w.Documents, s.poll)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "state", p.Sync.State, rules.StateRescheduled)
	equal(t, "creator of the index entry", w.Index()[0].CreatorID, by.ID)
	for _, entry := range w.Journal(s.poll) {
		equal(t, "creator of entry "+string(entry.Command)+string(entry.Decision), entry.CreatorID, by.ID)
	}
	return event
}

func TestRecreatedPoll_EventOfTheOld_StaysAsItsOwnerSet(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	w.Write(store.Doc("users", "gm"), store.Update{Path: store.Field("settings", "keepCalendarEvents"), Value: true})
	s := moved(w)
	again, err := w.Finalise(s.poll, s.slots[1]) // of another generation
	if err != nil {
		t.Fatal(err)
	}
	s.event = again.Poll.GoogleEventID
	w.Run(time.Minute)
	w.Released(s.event)
	w.DeleteDirectly(s.poll)
	slots := w.Recreate(s.poll, "gm")
	if _, err := w.Scheduler.Reconcile(t.Context(), s.poll, worldtest.Cause); err != nil {
		t.Fatal(err)
	}
	w.Run(2 * time.Minute)
	equal(t, "index entries", len(w.Index()), 0)
	if event := checkRecreated(t, w, s, worldtest.Person("gm"), slots); event == s.event {
		t.Error("the new poll follows the event of the old one")
	}
	equal(t, "the old event lives", w.EventOf("gm", s.event).Live(), true)
	atRest(t, w)
}

// An event that the old poll left, and that has the id of the new poll's first one, is treated as
// its own. Where it shows another time, the poll shows that too.
func TestRecreatedPoll_TheOldEventHasItsID_FollowsIt(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := finalised(w)
	if _, err := w.Scheduler.Reopen(t.Context(), worldtest.Person("gm"), s.poll, false, worldtest.Cause); err != nil {
		t.Fatal(err)
	}
	w.DeleteDirectly(s.poll)
	w.Sweep()
	w.Run(2 * time.Minute)
	slots := w.Recreate(s.poll, "gm")
	w.Run(2 * time.Minute)
	view, err := w.Finalise(s.poll, slots[1])
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "event", view.Poll.GoogleEventID, s.event)
	w.Run(2 * time.Minute)
	if w.View(s.poll).Poll.Sync.Rescheduled == nil {
		t.Errorf("the poll shows %+v", w.View(s.poll).Poll)
	}
	atRest(t, w)
}

// The app's own functions may finalise the new poll before anything of ours comes
// by, and the old one's calendar may have trouble then.
func TestRecreatedPoll_FinalisedElsewhere_ShowsNoErrorOfTheOld(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := moved(w)
	before := everything(w, s)
	w.DeleteDirectly(s.poll)
	slots := w.Recreate(s.poll, "gm")
	made := w.InsertEvent("gm", map[string]any{
		"start": map[string]any{"dateTime": "2026-03-10T10:00:00Z"}, "end": map[string]any{"dateTime": "2026-03-10T11:00:00Z"},
	})
	w.LosePushes()
	w.Write(poll.Path(s.poll), poll.Set("status", string(rules.Finalized)), poll.Set("winningSlotId", slots[0]),
		poll.Set("googleEventId", made.ID), poll.Set("googleCalendarId", "gm@example.com"))
	if err := w.Scheduler.SetSyncError(t.Context(), s.poll, rules.SyncFailed, worldtest.Cause, nil); err != nil {
		t.Fatal(err)
	}
	p, err := poll.Load(t.Context(), w.Documents, s.poll)
	if err != nil || !p.Pristine() {
		t.Errorf("it has %+v, %v", p.Sync, err)
	}
	w.Sweep()
	w.Run(2 * time.Minute)
	if left := ofOld(t, w, s, before); len(left) > 0 {
		t.Errorf("left of the deleted poll: %s", strings.Join(left, ", "))
	}
	if index := w.Index(); len(index) != 1 || index[0].EventID != made.ID {
		t.Errorf("index entries %+v", index)
	}
	atRest(t, w)
}

// The answer of the old poll's insert is lost, and somebody deletes its event.
func TestRecreatedPoll_InsertOfTheOldIsGone_IsNotTriedForEver(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := fresh(w)
	w.Plant("events.insert", func(f *worldtest.Fault) { f.LostAnswer, f.Times = true, 1 })
	_, err := w.Finalise(s.poll, s.slots[0])
	kind(t, err, fault.Unavailable)
	w.DeleteEvent("gm", w.Events("gm")[0].ID)
	w.DeleteDirectly(s.poll)
	w.Recreate(s.poll, "ana")
	w.Run(time.Hour)
	equal(t, "intents", len(w.Intents()), 0)
	atRest(t, w)
}

func TestCreate_AgainAfterDeletion_IsConflictUntilPurged(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := moved(w)
	if err := w.Scheduler.Delete(t.Context(), worldtest.Person("gm"), s.poll, false, worldtest.Cause); err != nil {
		t.Fatal(err)
	}
	again := scheduler.Create{ID: s.poll, Again: true, Title: "Again", Slots: []worldtest.Slot{worldtest.Ten}}
	_, err := w.Scheduler.Create(t.Context(), worldtest.Person("gm"), again, worldtest.Cause)
	kind(t, err, fault.Conflict)
	w.Run(20 * time.Minute)
	if _, err := w.Scheduler.Create(t.Context(), worldtest.Person("gm"), again, worldtest.Cause); err != nil {
		t.Error(err)
	}
	atRest(t, w)
}

// The web app leaves the journal of a poll that it deletes.
func TestCreate_AgainAfterADirectDeletion_IsConflict(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := finalised(w)
	cancelIt.do(w, s)
	w.Run(20 * time.Minute)
	w.DeleteDirectly(s.poll)
	equal(t, "intents", len(w.Intents()), 0)
	again := scheduler.Create{ID: s.poll, Again: true, Title: "Again", Slots: []worldtest.Slot{worldtest.Ten}}
	_, err := w.Scheduler.Create(t.Context(), worldtest.Person("gm"), again, worldtest.Cause)
	kind(t, err, fault.Conflict)
	w.Sweep()
	w.Run(20 * time.Minute)
	if _, err := w.Scheduler.Create(t.Context(), worldtest.Person("gm"), again, worldtest.Cause); err != nil {
		t.Error(err)
	}
}

// A poll that was cancelled follows no event: its announcement alone says that it
// was there.
func TestRecreatedPoll_OldFollowsNoEvent_SweepFindsIt(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := moved(w)
	cancelIt.do(w, s)
	w.Run(20 * time.Minute)
	before := everything(w, s)
	w.DeleteDirectly(s.poll)
	slots := w.Recreate(s.poll, "ana")
	w.Sweep()
	if left := ofOld(t, w, s, before); len(left) > 0 {
		t.Errorf("left of the deleted poll: %s", strings.Join(left, ", "))
	}
	checkRecreated(t, w, s, worldtest.Person("ana"), slots)
	atRest(t, w)
}
