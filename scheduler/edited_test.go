package scheduler_test

import (
	"slices"
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// withoutEvent is a poll that is finalised and follows no event: no index entry
// leads a sweep to it.
func withoutEvent(t *testing.T, w *worldtest.World) fixture {
	t.Helper()
	s := fresh(w)
	if _, err := w.FinaliseAs(s.poll, worldtest.Ask{SlotID: s.slots[0]}); err != nil {
		t.Fatal(err)
	}
	w.Run(time.Minute)
	return s
}

// reopenBehindUs is what the web app writes.
func reopenBehindUs(w *worldtest.World, s fixture) {
	w.Edit(poll.Path(s.poll), poll.Set("status", string(rules.Open)), poll.Set("winningSlotId", nil))
}

func setBehindUs(status rules.Status) func(w *worldtest.World, s fixture) {
	return func(w *worldtest.World, s fixture) { w.Edit(poll.Path(s.poll), poll.Set("status", string(status))) }
}

func TestADirectEdit_OfAPollWithoutAnEvent_IsFoundByTheSweep(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		before func(w *worldtest.World, s fixture)
		edit   func(w *worldtest.World, s fixture)
		status rules.Status
		repair rules.Repair
	}{
		{"reopened", nil, reopenBehindUs, rules.Open, rules.RepairReopen},
		{"cancelled", nil, setBehindUs(rules.Cancelled), rules.Cancelled, rules.RepairCancel},
		{"archived", nil, setBehindUs(rules.Archived), rules.Archived, rules.RepairRecord},
		{"restored", cancelIt.do, setBehindUs(rules.Finalized), rules.Finalized, rules.RepairRestore},
		{"reopened out of the archive", archiveIt.do, reopenBehindUs, rules.Open, rules.RepairReopen},
		{"finalised out of the archive", archiveIt.do, setBehindUs(rules.Finalized), rules.Finalized, rules.RepairRecord},
		{
			"cancelled out of the archive", func(w *worldtest.World, s fixture) { cancelIt.do(w, s); archiveIt.do(w, s) },
			setBehindUs(rules.Cancelled), rules.Cancelled, rules.RepairRecord,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			s := withoutEvent(t, w)
			if c.before != nil {
				c.before(w, s)
				w.Run(time.Minute)
			}
			before := len(w.Journal(s.poll))
			c.edit(w, s)
			w.Sweep()
			w.Run(time.Minute)
			journal := w.Journal(s.poll)[before:]
			if len(journal) != 1 || journal[0].Trigger != "outside_edit" || journal[0].Reason != string(c.repair) || journal[0].Status != c.status {
				t.Errorf("the journal goes on with %+v, want one entry %s", journal, c.repair)
			}
			equal(t, "status", w.View(s.poll).Poll.Status, c.status)
			w.Sweep()
			equal(t, "entries after another sweep", len(w.Journal(s.poll)), before+1)
			atRest(t, w)
		})
	}
}

// The command comes before any sweep or document change.
func TestCommand_PollEditedDirectly_RepairsItFirst(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		begin   func(t *testing.T, w *worldtest.World) fixture
		edit    func(w *worldtest.World, s fixture)
		command act
		want    []string // what the journal goes on with
	}{
		{"finalised again, after it was reopened", withoutEvent, reopenBehindUs, finaliseSecond, []string{"reopen", "finalise"}},
		{"finalised alone, after it was cancelled", withoutEvent, setBehindUs(rules.Cancelled), finaliseAlone, []string{"cancel", "finalise"}},
		{"archived, after it was cancelled", withoutEvent, setBehindUs(rules.Cancelled), archiveIt, []string{"cancel", "archive"}},
		{"cancelled, after it was reopened", linked, reopenBehindUs, cancelIt, []string{"reopen", "cancel"}},
		{"reopened, after it was reopened", linked, reopenBehindUs, reopenIt, []string{"reopen"}},
		{"edited, after it was reopened", linked, reopenBehindUs, editSlots, []string{"reopen", "edit_slots"}},
		{"accepted, after it was cancelled", rescheduled, setBehindUs(rules.Cancelled), acceptIt, []string{"cancel"}},
		{"moved, after it was archived", linked, setBehindUs(rules.Archived), moveIt, []string{"record"}},
		{"deleted in the calendar, after it was reopened", linked, reopenBehindUs, deleteEvent, []string{"reopen"}},
		{"failing, after it was cancelled", linked, setBehindUs(rules.Cancelled), act{"sync error", func(w *worldtest.World, s fixture) {
			_ = w.Scheduler.SetSyncError(w.Context(), s.poll, rules.WatchFailed, worldtest.Cause, nil)
		}}, []string{"cancel"}},
		{"recovered, after it was cancelled", failing, setBehindUs(rules.Cancelled), act{"sync error over", func(w *worldtest.World, s fixture) {
			_ = w.Scheduler.ClearSyncError(w.Context(), s.poll, rules.WatchFailed, worldtest.Cause, nil)
		}}, []string{"cancel"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			s := c.begin(t, w)
			before := len(w.Decisions(s.poll))
			if s.event != "" {
				w.Released(s.event) // a reopening leaves it
			}
			c.edit(w, s)
			c.command.do(w, s)
			if done := w.Decisions(s.poll)[before:]; !slices.Equal(done, c.want) {
				t.Errorf("the journal goes on with %v, want %v", done, c.want)
			}
			if first := w.Journal(s.poll)[before:]; len(first) > 0 && first[0].Trigger != "outside_edit" {
				t.Errorf("the first entry is %+v, want the direct edit", first[0])
			}
			w.Run(3 * time.Minute)
			atRest(t, w)
		})
	}
}

func linked(_ *testing.T, w *worldtest.World) fixture { return finalised(w) }

func rescheduled(_ *testing.T, w *worldtest.World) fixture { return moved(w) }

func failing(t *testing.T, w *worldtest.World) fixture {
	t.Helper()
	s := finalised(w)
	if err := w.Scheduler.SetSyncError(t.Context(), s.poll, rules.WatchFailed, worldtest.Cause, nil); err != nil {
		t.Fatal(err)
	}
	return s
}

// The web app writes between the command's own transactions.
func TestFinalise_ReopenedDirectlyDuringIt_IsSuperseded(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := withoutEvent(t, w)
	w.On("after events.insert", func() { reopenBehindUs(w, s) })
	_, _ = w.Finalise(s.poll, s.slots[1])
	w.Run(10 * time.Minute)
	equal(t, "status", w.View(s.poll).Poll.Status, rules.Open)
	equal(t, "events", len(w.Events("gm")), 0)
	atRest(t, w)
}

// The event was kept, and nothing but one call of ours comes by.
func TestADirectRestore_OfAPollWhoseEventWasKept_FollowsItAgain(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := finalised(w)
	if _, err := w.Scheduler.Cancel(t.Context(), worldtest.Person("gm"), s.poll, true, worldtest.Cause); err != nil {
		t.Fatal(err)
	}
	w.MoveEvent("gm", s.event, worldtest.Noon)
	setBehindUs(rules.Finalized)(w, s)
	if _, err := w.Scheduler.Reconcile(t.Context(), s.poll, worldtest.Cause); err != nil {
		t.Fatal(err)
	}
	w.Check()
	w.Drain() // enqueues the pending sync
	w.Run(time.Minute)
	followed(t, w, s, rules.StateRescheduled, worldtest.Noon, 1) // nobody heard of the cancellation
	atRest(t, w)
}

// Somebody gives the poll another time while its kept event stays where it was: the event
// counts as moved from the time that was given, and its owner can move it there.
func TestDirectRestore_OfAPollWhoseSlotsWereEdited_ShowsWhereTheKeptEventIs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		before    func(w *worldtest.World) fixture
		edits     func(p poll.Poll) (slotID string)
		at, given worldtest.Slot
	}{
		{"the winning slot", finalised, func(p poll.Poll) string { return p.WinningSlotID }, worldtest.Ten, worldtest.Three},
		{
			"the slot from before a move", moved, func(p poll.Poll) string { return p.Sync.Rescheduled.FromSlotID },
			worldtest.Noon, worldtest.Three,
		},
		{"the slot that the calendar made", moved, func(p poll.Poll) string { return p.WinningSlotID }, worldtest.Noon, worldtest.Ten},
		{"which slot wins, to the one from before a move", moved, nil, worldtest.Noon, worldtest.Ten},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			s := c.before(w)
			w.Run(time.Hour)
			if _, err := w.Scheduler.Cancel(t.Context(), worldtest.Person("gm"), s.poll, true, worldtest.Cause); err != nil {
				t.Fatal(err)
			}
			three := rules.Timed(worldtest.Three.Start, worldtest.Three.End)
			if p := w.View(s.poll).Poll; c.edits == nil {
				w.Edit(poll.Path(s.poll), poll.Set("winningSlotId", p.Sync.Rescheduled.FromSlotID))
			} else {
				w.Edit(poll.SlotPath(s.poll, c.edits(p)), poll.MoveSlot(three)...)
			}
			setBehindUs(rules.Finalized)(w, s)
			w.Sweep()
			w.Run(time.Hour)
			view := w.View(s.poll)
			equal(t, "state", view.Poll.Sync.State, rules.StateRescheduled)
			equal(t, "time shown", view.Winning.Start, c.at.Start)
			for _, problem := range w.HistoryProblems() {
				t.Error(problem)
			}
			if _, err := w.Scheduler.RestoreOriginal(t.Context(), worldtest.Person("gm"), s.poll, worldtest.Cause); err != nil {
				t.Fatal(err)
			}
			w.Run(time.Hour)
			view = w.View(s.poll)
			equal(t, "state after the owner moved it back", view.Poll.Sync.State, rules.StateOK)
			equal(t, "time shown then", view.Winning.Start, c.given.Start)
			equal(t, "time of the event", w.EventOf("gm", s.event).Fingerprint().Start, c.given.Start.UnixMilli())
			atRest(t, w)
		})
	}
}

// An edit changes when a session begins, and not how long its event lasts.
func TestDirectRestore_OfAShortEventWhoseSlotWasEdited_KeepsItsLength(t *testing.T) {
	t.Parallel()
	for name, moved := range map[string]bool{"left where it was": false, "moved as well": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			s := fresh(w)
			ask := scheduler.Finalise{CreateEvent: true, SlotID: s.slots[0], Duration: 30 * time.Minute}
			if _, err := w.FinaliseAs(s.poll, ask); err != nil {
				t.Fatal(err)
			}
			w.Run(time.Hour)
			s.event = w.View(s.poll).Poll.GoogleEventID
			editAndRestore(t, w, s)
			if moved {
				w.MoveEvent("gm", s.event, worldtest.Slot{Start: worldtest.Three.Start, End: worldtest.Three.Start.Add(30 * time.Minute)})
			}
			w.Sweep()
			w.Run(time.Hour)
			equal(t, "is shown as moved", w.View(s.poll).Poll.Sync.Rescheduled != nil, !moved)
			if !moved {
				if _, err := w.Scheduler.RestoreOriginal(t.Context(), worldtest.Person("gm"), s.poll, worldtest.Cause); err != nil {
					t.Fatal(err)
				}
			}
			event := w.EventOf("gm", s.event).Fingerprint()
			equal(t, "begins", event.Start, worldtest.Three.Start.UnixMilli())
			equal(t, "lasts", event.End-event.Start, (30 * time.Minute).Milliseconds())
			w.Run(time.Hour)
			atRest(t, w)
		})
	}
}

// The account is linked again only after the poll was restored.
func TestDirectRestore_WhileTheAccountIsUnlinked_IsComparedOnceItIsBack(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := finalised(w)
	w.Run(time.Hour)
	w.Unlink("gm")
	editAndRestore(t, w, s)
	w.Sweep()
	w.Link("gm")
	w.Sweep()
	w.Run(time.Hour)
	equal(t, "state", w.View(s.poll).Poll.Sync.State, rules.StateRescheduled)
	equal(t, "time shown", w.View(s.poll).Winning.Start, worldtest.Ten.Start)
	atRest(t, w)
}

// editAndRestore cancels a poll, keeping its event, gives its first slot another time, and
// finalises it as the web app does.
func editAndRestore(t *testing.T, w *worldtest.World, s fixture) {
	t.Helper()
	if _, err := w.Scheduler.Cancel(t.Context(), worldtest.Person("gm"), s.poll, true, worldtest.Cause); err != nil {
		t.Fatal(err)
	}
	w.Edit(poll.SlotPath(s.poll, s.slots[0]), poll.MoveSlot(rules.Timed(worldtest.Three.Start, worldtest.Three.End))...)
	setBehindUs(rules.Finalized)(w, s)
}

// Nobody edited the slot of an event that was adopted at another time.
func TestDirectRestore_OfAnEventAdoptedElsewhere_LeavesItThere(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := withoutEvent(t, w)
	adopted := w.InsertEvent("gm", map[string]any{
		"summary": "Session", "start": map[string]any{"dateTime": worldtest.Three.Start}, "end": map[string]any{"dateTime": worldtest.Three.End},
	})
	w.Edit(poll.Path(s.poll), poll.Set("googleEventId", adopted.ID), poll.Set("googleCalendarId", "gm@example.com"))
	w.Sweep()
	w.Run(time.Hour)
	baseline := w.View(s.poll).Poll.Sync.Baseline
	equal(t, "baseline", baseline.Start, worldtest.Three.Start.UnixMilli())
	if _, err := w.Scheduler.Cancel(t.Context(), worldtest.Person("gm"), s.poll, true, worldtest.Cause); err != nil {
		t.Fatal(err)
	}
	setBehindUs(rules.Finalized)(w, s)
	w.Sweep()
	w.Run(time.Hour)
	equal(t, "state", w.View(s.poll).Poll.Sync.State, rules.StateOK)
	equal(t, "baseline after the restore", w.View(s.poll).Poll.Sync.Baseline, baseline)
}

// What was moved is not there any more, so nothing could move it back.
func TestDirectRestore_MovedPollWithoutEvent_HasItsOwnTime(t *testing.T) {
	t.Parallel()
	for name, cancel := range map[string]act{"deleted in the calendar": deleteEvent, "cancelled by hand": cancelIt} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			s := moved(w)
			w.Run(time.Hour)
			cancel.do(w, s)
			w.Run(time.Hour)
			equal(t, "status", w.View(s.poll).Poll.Status, rules.Cancelled)
			setBehindUs(rules.Finalized)(w, s)
			w.Sweep()
			w.Run(time.Hour)
			view := w.View(s.poll)
			equal(t, "status after the restore", view.Poll.Status, rules.Finalized)
			equal(t, "winning slot", view.Poll.WinningSlotID, s.slots[0])
			equal(t, "slots", len(view.Slots), 2)
			equal(t, "is shown as moved", view.Poll.Sync.Rescheduled != nil || view.ParticipantsHidden(), false)
			equal(t, "state", view.Poll.Sync.State, rules.StateNone)
			for _, problem := range w.HistoryProblems() {
				t.Error(problem)
			}
			atRest(t, w)
		})
	}
}

func TestADirectCancel_OfAnOpenPoll_IsFoundByTheSweep(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := fresh(w)
	setBehindUs(rules.Cancelled)(w, s)
	w.Sweep()
	w.Run(time.Minute)
	if notices := w.Notices("ana"); !slices.Equal(notices, []string{string(rules.NoticeCancelled)}) {
		t.Errorf("ana has %v, want one notice of the cancellation", notices)
	}
	atRest(t, w)
}

func TestUnarchive_OfWhatTheWebAppCancelled_IsCancelledAgain(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := fresh(w)
	w.Edit(poll.Path(s.poll), store.Update{Path: poll.SyncField("recorded"), Value: store.Delete}) // as of a poll that the web app made
	setBehindUs(rules.Cancelled)(w, s)
	archiveIt.do(w, s)
	unarchiveIt.do(w, s)
	equal(t, "status", w.View(s.poll).Poll.Status, rules.Cancelled)
}

// A clock that was a year ahead once does not make the session a past one.
func TestAClockThatWasFarAhead_DecidesNothingLater(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := finalised(w)
	now := w.Scheduler.Now
	w.Scheduler.Now = func() time.Time { return now().AddDate(1, 0, 0) }
	if err := w.Scheduler.SetSyncError(t.Context(), s.poll, rules.SyncFailed, worldtest.Cause, nil); err != nil {
		t.Fatal(err)
	}
	w.Scheduler.Now = now
	w.MoveEvent("gm", s.event, worldtest.Noon)
	w.Run(time.Minute)
	followed(t, w, s, rules.StateRescheduled, worldtest.Noon, 1)
	if done := w.Decisions(s.poll); !slices.Equal(done, []string{"finalise", "warn", "reschedule"}) {
		t.Errorf("the journal reads %v", done)
	}
	atRest(t, w)
}

// Another process has a clock that is behind.
func TestEntries_SortAsTheyWereWritten_WhateverTheClocksSay(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := finalised(w)
	w.Scheduler.Now = func() time.Time { return w.Clock.Now().Add(-5 * time.Minute) }
	for _, next := range []func(scheduler.Person) error{
		func(by scheduler.Person) error {
			_, err := w.Scheduler.Archive(t.Context(), by, s.poll, worldtest.Cause)
			return err
		},
		func(by scheduler.Person) error {
			_, err := w.Scheduler.Unarchive(t.Context(), by, s.poll, worldtest.Cause)
			return err
		},
	} {
		if err := next(worldtest.Person("gm")); err != nil {
			t.Fatal(err)
		}
	}
	if done := w.Decisions(s.poll); !slices.Equal(done, []string{"finalise", "archive", "unarchive"}) {
		t.Errorf("the journal reads %v", done)
	}
	atRest(t, w)
}
