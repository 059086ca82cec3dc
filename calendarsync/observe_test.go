package calendarsync_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
	"questscheduler/operations/explain"
	"questscheduler/rules"
)

// observed are the lines of what would have been done to a poll, oldest first.
func observed(w *worldtest.World, pollID string) (lines []string) {
	for _, entry := range w.Journal(pollID) {
		if entry.Observed {
			lines = append(lines, string(entry.Decision)+" by "+entry.Reason)
		}
	}
	return lines
}

// untouched gives a check that nothing was written that is not the sync's own.
func untouched(t *testing.T, w *worldtest.World, pollIDs ...string) (check func()) {
	t.Helper()
	picture := func() (documents []store.Document) {
		for _, pollID := range pollIDs {
			documents = append(documents, w.Document(poll.Path(pollID)), w.Document(poll.AnnouncementPath(pollID)))
			for _, slot := range w.View(pollID).Slots {
				documents = append(documents, w.Document(poll.SlotPath(pollID, slot.ID)))
			}
		}
		return append(documents, w.Snapshots()...)
	}
	before, index, notices := picture(), w.Index(), w.Notices("ana")
	return func() {
		t.Helper()
		if now := picture(); !reflect.DeepEqual(now, before) {
			t.Errorf("documents are\n%v, and were\n%v", now, before)
		}
		if now := w.Index(); !reflect.DeepEqual(now, index) {
			t.Errorf("the index is %v, and was %v", now, index)
		}
		same(t, "ana's notices", w.Notices("ana"), notices)
	}
}

func TestObserving_IsJournaledAndNotApplied_UntilOn(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	moved, slots, movedEvent := w.Finalised()
	deleted, _, deletedEvent := w.Finalised()
	still, _, _ := w.Finalised()
	before, beforeSlots := w.Poll()
	event := w.InsertEvent("gm", timed(ten))
	w.Write(poll.Path(before), poll.Set("status", "FINALIZED"), poll.Set("winningSlotId", beforeSlots[0]),
		poll.Set("googleEventId", event.ID), poll.Set("googleCalendarId", "gm@example.com"))
	if _, err := w.Scheduler.Reconcile(w.Context(), before, worldtest.Cause); err != nil { // as backfill index does
		t.Fatal(err)
	}
	w.Observe(true)
	check := untouched(t, w, moved, deleted, still, before)
	w.Run(time.Minute)
	w.MoveEvent("gm", movedEvent, noon)
	w.Run(time.Minute)
	w.MoveEvent("gm", movedEvent, three)
	w.DeleteEvent("gm", deletedEvent)
	w.Run(time.Minute)
	w.Skip(7 * time.Hour)
	w.Sweep() // the same observations again
	w.Run(time.Minute)
	check()
	same(t, "of the poll that would be moved", observed(w, moved), []string{"reschedule by moved", "reschedule by moved"})
	same(t, "of the poll that would be cancelled", observed(w, deleted), []string{"cancel by deleted"})
	equal(t, "of the poll of before", len(observed(w, before)), 1)
	equal(t, "of the poll that stays", len(observed(w, still)), 0)
	wantObservedLines(t, w, moved)

	w.Observe(false)
	w.Run(time.Minute)
	stands(t, w, moved, rules.StateRescheduled, three.Start)
	equal(t, "the deleted one", w.View(deleted).Poll.Status, rules.Cancelled)
	equal(t, "baseline of the one of before", w.View(before).Poll.Sync.Baseline, rules.Timed(ten.Start, ten.End))
	w.MoveEvent("gm", movedEvent, ten)
	w.Run(time.Minute)
	equal(t, "winning slot once it is back", w.View(moved).Poll.WinningSlotID, slots[0])
	atRest(t, w)
}

// wantObservedLines fails unless the timeline of a poll marks its observed lines and its
// replay skips them.
func wantObservedLines(t *testing.T, w *worldtest.World, pollID string) {
	t.Helper()
	history, err := explain.Load(w.Context(), w.Documents, pollID)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := explain.NewReport(history, true).WriteText(&text); err != nil {
		t.Fatal(err)
	}
	for _, says := range []string{
		"observed, not done: rescheduled, by the calendar", "announced  nothing",
		"agrees: the journal gives back the stored poll",
	} {
		if !strings.Contains(text.String(), says) {
			t.Errorf("it does not say %q:\n%s", says, text.String())
		}
	}
}

func TestObserving_ADeadGrant_ShowsOnNoPollUntilItIsOn(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, event := w.Finalised()
	w.Observe(true)
	check := untouched(t, w, pollID)
	w.Revoke("gm")
	w.MoveEvent("gm", event, noon)
	w.Run(time.Minute)
	check()
	equal(t, "gm's notices", len(w.Notices("gm")), 0)
	w.Observe(false)
	w.Skip(2 * time.Hour)
	w.Sweep()
	w.Run(time.Minute)
	equal(t, "the error", w.View(pollID).Poll.Sync.Error.Code, rules.TokenExpired)
	w.Link("gm")
	w.Run(time.Minute)
	stands(t, w, pollID, rules.StateRescheduled, noon.Start)
}

// Nobody hears of a hold while it observes, so there is none until it is on.
func TestObserving_ManyGoneAtOnce_AreHeldAndToldOnceItIsOn(t *testing.T) {
	t.Parallel()
	for name, unread := range map[string]int{"all are read": -1, "one is read by the next run": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{Settings: worldtest.Settings{HoldMin: 1, HoldShare: 0.1}})
			var polls []string
			for range 3 {
				pollID, _, _ := w.Finalised()
				polls = append(polls, pollID)
			}
			w.Run(time.Minute)
			w.Observe(true)
			check := untouched(t, w, polls...)
			for _, event := range w.Events("gm") {
				w.DeleteEvent("gm", event.ID)
			}
			if unread > 0 {
				w.Refuse("events.get", 500, "", unread)
			}
			w.Run(10 * time.Minute)
			check()
			equal(t, "held while it observes", len(w.Calendar("gm").Held()), 0)

			w.Observe(false)
			w.Sweep()
			w.Run(10 * time.Minute)
			for _, pollID := range polls {
				equal(t, "held", w.Held(w.View(pollID).Poll), true)
				equal(t, "the error", w.View(pollID).Poll.Sync.Error != nil, true)
			}
			equal(t, "notices of a hold", holdNotices(w), 1)
			atRest(t, w)
		})
	}
}

// A hold from before it observed, of which the owner has not heard, is announced once it is on.
func TestObserving_AnUnannouncedHold_IsAnnouncedOnceItIsOn(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{Settings: worldtest.Settings{HoldMin: 2, HoldShare: 0.1}})
	back := ""
	unlistedBut(t, w, 4, 1, func(i int, event string) {
		if i == 0 {
			back = event
		}
		w.DeleteEvent("gm", event)
	})
	w.UndeleteEvent("gm", back)
	equal(t, "it is not announced", w.Calendar("gm").HoldUnannounced, true)
	w.Observe(true)
	w.Run(time.Minute)
	equal(t, "no further run is due", w.Calendar("gm").SyncAt.IsZero(), true)
	w.Skip(7 * time.Hour)
	w.Sweep()
	w.Run(time.Minute)
	equal(t, "notices while it observes", holdNotices(w), 0)
	w.Observe(false)
	w.Sweep()
	w.Run(time.Hour)
	equal(t, "held", len(w.Calendar("gm").Held()), 3)
	equal(t, "notices of a hold", holdNotices(w), 1)
	atRest(t, w)
}

// While it observes, the web app goes on as before: what it writes stays as it is.
func TestObserving_ADirectEdit_StaysAsItIsUntilItIsOn(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, _ := w.Finalised()
	w.Observe(true)
	w.Write(poll.Path(pollID), poll.Set("status", "CANCELLED"))
	edited := w.Document(poll.Path(pollID))
	w.Skip(7 * time.Hour)
	w.Sweep()
	w.Run(time.Minute)
	if now := w.Document(poll.Path(pollID)); !reflect.DeepEqual(now, edited) {
		t.Errorf("it was written: %v", now.Data)
	}
	w.Observe(false)
	w.Sweep()
	w.Run(time.Minute)
	equal(t, "events of gm", len(w.Events("gm")), 0)
	atRest(t, w)
}
