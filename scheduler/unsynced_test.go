package scheduler_test

import (
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// losers are what takes calendarSync from the document of a poll that lives.
var losers = map[string]func(w *worldtest.World, pollID string){
	"the field alone": func(w *worldtest.World, pollID string) {
		w.Edit(poll.Path(pollID), poll.Set("calendarSync", store.Delete))
	},
	"the field, and when it was made": func(w *worldtest.World, pollID string) {
		w.Edit(poll.Path(pollID), poll.Set("calendarSync", store.Delete), poll.Set("createdAt", store.Delete))
	},
}

// meetings are what meets such a poll first.
var meetings = map[string]func(t *testing.T, w *worldtest.World, s fixture){
	"document change": func(t *testing.T, w *worldtest.World, s fixture) {
		t.Helper()
		repair, err := w.Scheduler.Reconcile(t.Context(), s.poll, worldtest.Cause)
		if err != nil || repair == rules.RepairRecreated {
			t.Errorf("repaired by %s, %v", repair, err)
		}
	},
	"sweep": func(_ *testing.T, w *worldtest.World, _ fixture) { w.Sweep() },
	"sync":  func(_ *testing.T, w *worldtest.World, s fixture) { w.MoveEvent("gm", s.event, worldtest.Three) },
	"edit": func(t *testing.T, w *worldtest.World, s fixture) {
		t.Helper()
		title := "Another title"
		if _, err := w.Scheduler.Edit(t.Context(), worldtest.Person("gm"), s.poll, scheduler.Edit{Title: &title}, worldtest.Cause); err != nil {
			t.Error(err)
		}
	},
	"error of the sync": func(t *testing.T, w *worldtest.World, s fixture) {
		t.Helper()
		if err := w.Scheduler.SetSyncError(t.Context(), s.poll, rules.SyncFailed, worldtest.Cause, nil); err != nil {
			t.Error(err)
		}
		if p, _ := poll.Load(t.Context(), w.Documents, s.poll); p.Sync.Error == nil {
			t.Error("it shows no error")
		}
	},
}

// An overlaid import, an edit in the console or the web app's own functions take
// calendarSync from a poll that nobody deleted.
func TestLivePoll_WithoutCalendarSync_LosesNothing(t *testing.T) {
	t.Parallel()
	for how, lose := range losers {
		for met, meet := range meetings {
			t.Run(how+", "+met, func(t *testing.T) {
				t.Parallel()
				w := worldtest.New(t, worldtest.Options{})
				s := moved(w)
				before := everything(w, s)
				w.Skip(time.Second)
				lose(w, s.poll)
				meet(t, w, s)
				w.Run(20 * time.Minute)
				w.Sweep()
				w.Run(20 * time.Minute)
				equal(t, "left of the poll", len(ofOld(t, w, s, before)) >= len(before), true)
				equal(t, "its event lives", w.EventOf("gm", s.event).Live(), true)
				equal(t, "intents", len(w.Intents()), 0)
				p, err := poll.Load(t.Context(), w.Documents, s.poll)
				if err != nil {
					t.Fatal(err)
				}
				equal(t, "status", p.Status, rules.Finalized)
				equal(t, "event", p.GoogleEventID, s.event)
				if met == "sync" && p.Sync.Applied.IsZero() {
					t.Errorf("its event was not adopted: %+v", w.Journal(s.poll)[len(w.Journal(s.poll))-1])
				}
				entries := 0
				_, err = w.Scheduler.Journal(
					t.Context(), worldtest.Person("gm"), s.poll, store.Paging{Limit: 100},
					func(poll.JournalEntry) (bool, error) { entries++; return true, nil },
				)
				if err != nil || entries < 2 {
					t.Errorf("its creator reads %d entries, %v", entries, err)
				}
				w.Remove(poll.Path(s.poll)) // its journal does not replay to what was taken away
			})
		}
	}
}
