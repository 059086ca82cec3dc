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

// gone is a poll whose event somebody deleted in the calendar; the cancellation is
// announced.
func gone(begin func(*worldtest.World) fixture) func(w *worldtest.World) fixture {
	return func(w *worldtest.World) fixture {
		s := begin(w)
		w.DeleteEvent("gm", s.event)
		w.Run(time.Minute)
		return s
	}
}

func undelete(t *testing.T, w *worldtest.World, s fixture) {
	t.Helper()
	if !w.UndeleteEvent("gm", s.event) {
		t.Fatal("there is no deleted event to bring back")
	}
}

// A person who deletes an event by mistake presses Undo, or finds it in the bin.
func TestAwaited_EventIsBack_RevivesThePoll(t *testing.T) {
	t.Parallel()
	const cancelled, onAgain = string(rules.NoticeCancelled), string(rules.NoticeOnAgain)
	for name, c := range map[string]struct {
		begin   func(*worldtest.World) fixture
		after   time.Duration
		back    func(t *testing.T, w *worldtest.World, s fixture)
		state   rules.State
		at      worldtest.Slot
		notices []string
	}{
		"where it was": {finalised, time.Minute, undelete, rules.StateOK, worldtest.Ten, []string{cancelled, onAgain}},
		"days later":   {finalised, 6 * 24 * time.Hour, undelete, rules.StateOK, worldtest.Ten, []string{cancelled, onAgain}},
		"moved at once": {finalised, time.Minute, func(t *testing.T, w *worldtest.World, s fixture) {
			undelete(t, w, s)
			w.MoveEvent("gm", s.event, worldtest.Three)
		}, rules.StateRescheduled, worldtest.Three, []string{cancelled, onAgain}},
		"where it had been moved to": {moved, time.Minute, undelete, rules.StateRescheduled, worldtest.Noon,
			[]string{string(rules.NoticeRescheduled), cancelled, onAgain}},
		"moved back to its original time": {moved, time.Minute, func(t *testing.T, w *worldtest.World, s fixture) {
			undelete(t, w, s)
			w.MoveEvent("gm", s.event, worldtest.Ten)
		}, rules.StateOK, worldtest.Ten, []string{string(rules.NoticeRescheduled), cancelled, onAgain}},
		"while the winning slot is gone": {finalised, time.Minute, func(t *testing.T, w *worldtest.World, s fixture) {
			w.Remove(poll.SlotPath(s.poll, s.slots[0]))
			undelete(t, w, s)
		}, rules.StateOK, worldtest.Ten, []string{cancelled, onAgain}},
		"while the calendar's slot is gone": {moved, time.Minute, func(t *testing.T, w *worldtest.World, s fixture) {
			w.Remove(poll.SlotPath(s.poll, w.View(s.poll).Poll.WinningSlotID))
			undelete(t, w, s)
		}, rules.StateRescheduled, worldtest.Noon, []string{string(rules.NoticeRescheduled), cancelled, onAgain}},
		"without a push, and after the token expired": {finalised, time.Minute, func(t *testing.T, w *worldtest.World, s fixture) {
			undelete(t, w, s)
			w.LosePushes()
			if err := w.Google.ExpireSyncTokens(); err != nil {
				t.Fatal(err)
			}
			w.Skip(2 * time.Hour)
			w.Sweep()
		}, rules.StateOK, worldtest.Ten, []string{cancelled, onAgain}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			s := gone(c.begin)(w)
			votes := w.Votes(s.poll)
			equal(t, "status", w.View(s.poll).Poll.Status, rules.Cancelled)
			w.Run(c.after)
			c.back(t, w, s)
			w.Run(2 * time.Minute)
			view := w.View(s.poll)
			equal(t, "status when it is back", view.Poll.Status, rules.Finalized)
			equal(t, "state", view.Poll.Sync.State, c.state)
			equal(t, "event", view.Poll.GoogleEventID, s.event)
			equal(t, "awaits nothing", view.Poll.Sync.Awaited == nil, true)
			equal(t, "marks", len(marked(w, s)), 0)
			if view.Winning == nil || !view.Winning.Start.Equal(c.at.Start) {
				t.Errorf("the winning slot is %v, want %v", view.Winning, c.at)
			}
			equal(t, "votes", len(w.Votes(s.poll)), len(votes))
			if notices := w.Notices("ana"); !slices.Equal(notices, c.notices) {
				t.Errorf("ana has the notices %v, want %v", notices, c.notices)
			}
			w.MoveEvent("gm", s.event, worldtest.Times("2026-03-10T17:00:00Z", time.Hour))
			w.Run(time.Minute)
			equal(t, "state after another move", w.View(s.poll).Poll.Sync.State, rules.StateRescheduled)
			for _, problem := range w.HistoryProblems() {
				t.Error(problem)
			}
			atRest(t, w)
		})
	}
}

// A change that is undone before its announcement is never announced.
func TestAwaited_EventIsBackBeforeTheNotice_IsNotAnnounced(t *testing.T) {
	t.Parallel()
	settings := worldtest.Settings{Settle: time.Minute}
	w := worldtest.New(t, worldtest.Options{Settings: settings})
	s := finalised(w)
	w.DeleteEvent("gm", s.event)
	w.Run(20 * time.Second)
	equal(t, "status", w.View(s.poll).Poll.Status, rules.Cancelled)
	undelete(t, w, s)
	w.Run(10 * time.Minute)
	followed(t, w, s, rules.StateOK, worldtest.Ten, 0)
	atRest(t, w)
}

// The page of the listing shows the event, which is deleted again by the time that
// it would be applied.
func TestAwaited_PageOlderThanADeletion_RevivesNothing(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := gone(finalised)(w)
	undelete(t, w, s)
	w.On("after events.list", func() { w.DeleteEvent("gm", s.event) })
	w.Run(10 * time.Minute)
	equal(t, "status", w.View(s.poll).Poll.Status, rules.Cancelled)
	equal(t, "notices of ana", len(w.Notices("ana")), 1)
	atRest(t, w)
}

// What a person decides about a cancelled poll stands, even where its event comes
// back. No decision deletes an event that is its owner's again.
func TestAwaited_PersonDecides_EventIsLetGo(t *testing.T) {
	t.Parallel()
	sweep := func(w *worldtest.World) { w.Sweep(); w.Run(time.Minute) }
	edited := func(w *worldtest.World, s fixture, slotID string) {
		w.Edit(poll.SlotPath(s.poll, slotID), poll.Set("start", "2026-03-10T09:00:00.000Z"))
		w.Edit(poll.Path(s.poll), poll.Set("updatedAt", w.Clock.Now()))
	}
	for name, c := range map[string]struct {
		begin  func(*worldtest.World) fixture
		decide func(t *testing.T, w *worldtest.World, s fixture)
		status rules.Status
		event  bool // that the poll has one of its own by then
	}{
		"cancels it by hand": {finalised, func(t *testing.T, w *worldtest.World, s fixture) {
			if _, err := w.Cancel(s.poll); err != nil {
				t.Fatal(err)
			}
			equal(t, "reason", w.View(s.poll).Poll.Cancelled.Reason, rules.ReasonManual)
		}, rules.Cancelled, false},
		"reopens it": {finalised, func(t *testing.T, w *worldtest.World, s fixture) {
			if _, err := w.Scheduler.Reopen(t.Context(), gm, s.poll, true, worldtest.Cause); err != nil {
				t.Fatal(err)
			}
		}, rules.Open, false},
		"reopens it directly": {moved, func(_ *testing.T, w *worldtest.World, s fixture) { reopenBehindUs(w, s); sweep(w) }, rules.Open, false},
		"finalises it anew": {moved, func(t *testing.T, w *worldtest.World, s fixture) {
			if _, err := w.Finalise(s.poll, s.slots[1]); err != nil {
				t.Fatal(err)
			}
		}, rules.Finalized, true},
		"finalises it anew without an event": {moved, func(t *testing.T, w *worldtest.World, s fixture) {
			if _, err := w.FinaliseAs(s.poll, scheduler.Finalise{SlotID: s.slots[1]}); err != nil {
				t.Fatal(err)
			}
		}, rules.Finalized, false},
		"restores it directly, and cancels it directly": {finalised, func(t *testing.T, w *worldtest.World, s fixture) {
			setBehindUs(rules.Finalized)(w, s)
			sweep(w)
			setBehindUs(rules.Cancelled)(w, s)
			sweep(w)
			equal(t, "reason", w.View(s.poll).Poll.Cancelled.Reason, rules.ReasonManual)
		}, rules.Cancelled, false},
		"edits the winning slot": {finalised, func(t *testing.T, w *worldtest.World, s fixture) {
			_, err := w.Scheduler.Edit(t.Context(), gm, s.poll, scheduler.Edit{Slots: &[]scheduler.SlotEdit{
				{ID: s.slots[0], Times: worldtest.Noon}, {ID: s.slots[1], Times: worldtest.Three},
			}}, worldtest.Cause)
			if err != nil {
				t.Fatal(err)
			}
		}, rules.Cancelled, false},
		"edits the end of the winning slot alone": {finalised, func(t *testing.T, w *worldtest.World, s fixture) {
			longer := worldtest.Ten
			longer.End = longer.End.Add(time.Hour)
			_, err := w.Scheduler.Edit(t.Context(), gm, s.poll, scheduler.Edit{Slots: &[]scheduler.SlotEdit{
				{ID: s.slots[0], Times: longer}, {ID: s.slots[1], Times: worldtest.Three},
			}}, worldtest.Cause)
			if err != nil {
				t.Fatal(err)
			}
			equal(t, "awaits nothing at once", w.View(s.poll).Poll.Sync.Awaited == nil, true)
		}, rules.Cancelled, false},
		"edits the winning slot directly": {
			finalised, func(_ *testing.T, w *worldtest.World, s fixture) { edited(w, s, s.slots[0]) }, rules.Cancelled, false,
		},
		"edits the slot from before directly": {
			moved, func(_ *testing.T, w *worldtest.World, s fixture) { edited(w, s, s.slots[0]) }, rules.Cancelled, false,
		},
		"edits it directly, and the change is reported": {finalised, func(t *testing.T, w *worldtest.World, s fixture) {
			edited(w, s, s.slots[0])
			if _, err := w.Scheduler.Reconcile(t.Context(), s.poll, worldtest.Cause); err != nil {
				t.Fatal(err)
			}
			equal(t, "index entries", len(w.Index()), 0)
		}, rules.Cancelled, false},
		"has another slot win": {finalised, func(_ *testing.T, w *worldtest.World, s fixture) {
			w.Edit(poll.Path(s.poll), poll.Set("winningSlotId", s.slots[1]))
			sweep(w)
		}, rules.Cancelled, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			s := gone(c.begin)(w)
			c.decide(t, w, s)
			w.Run(time.Minute)
			before := w.View(s.poll).Poll
			undelete(t, w, s)
			w.Released(s.event)
			w.Run(time.Minute)
			sweep(w)
			sweep(w)
			after := w.View(s.poll).Poll
			equal(t, "status", after.Status, c.status)
			equal(t, "state", after.Sync.State, before.Sync.State)
			equal(t, "event", after.GoogleEventID, before.GoogleEventID)
			equal(t, "awaits nothing", after.Sync.Awaited == nil, true)
			equal(t, "the poll has an event", after.GoogleEventID != "", c.event)
			equal(t, "the event that came back is there", w.EventOf("gm", s.event).Live(), true)
			for _, problem := range w.HistoryProblems() {
				t.Error(problem)
			}
			atRest(t, w)
		})
	}
}

func TestAwaited_PollIsDeleted_LeavesTheEventAlone(t *testing.T) {
	t.Parallel()
	for name, remove := range map[string]func(t *testing.T, w *worldtest.World, s fixture){
		"by command": func(t *testing.T, w *worldtest.World, s fixture) {
			if err := w.Scheduler.Delete(t.Context(), gm, s.poll, false, worldtest.Cause); err != nil {
				t.Fatal(err)
			}
		},
		"directly": func(_ *testing.T, w *worldtest.World, s fixture) { deleteBehindUs(w, s) },
	} {
		for _, when := range []string{"before it is back", "after it is back"} {
			t.Run(name+", "+when, func(t *testing.T) {
				t.Parallel()
				w := worldtest.New(t, worldtest.Options{})
				s := gone(finalised)(w)
				w.Released(s.event)
				if when == "after it is back" {
					undelete(t, w, s)
					w.LosePushes()
				}
				remove(t, w, s)
				if when == "before it is back" {
					undelete(t, w, s)
				}
				w.Run(time.Minute)
				w.Sweep()
				w.Run(2 * time.Minute)
				equal(t, "the event is there", w.EventOf("gm", s.event).Live(), true)
				equal(t, "index entries", len(w.Index()), 0)
				atRest(t, w)
			})
		}
	}
}

// The web app's Restore says that the session takes place. Its event is awaited
// on, and links the poll again.
func TestAwaited_PollIsRestoredDirectly_LinksWhenTheEventIsBack(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		begin func(*worldtest.World) fixture
		state rules.State
		at    worldtest.Slot
	}{
		"finalised":   {finalised, rules.StateOK, worldtest.Ten},
		"rescheduled": {moved, rules.StateRescheduled, worldtest.Noon},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			s := gone(c.begin)(w)
			setBehindUs(rules.Finalized)(w, s)
			w.Sweep()
			w.Run(time.Minute)
			view := w.View(s.poll)
			equal(t, "status", view.Poll.Status, rules.Finalized)
			equal(t, "state without its event", view.Poll.Sync.State, rules.StateNone)
			equal(t, "start without its event", view.Winning.Start, worldtest.Ten.Start)
			notices := w.Notices("ana")
			equal(t, "last notice", notices[len(notices)-1], string(rules.NoticeOnAgain))
			w.Check()

			undelete(t, w, s)
			w.Run(time.Minute)
			view = w.View(s.poll)
			equal(t, "state", view.Poll.Sync.State, c.state)
			equal(t, "start", view.Winning.Start, c.at.Start)
			equal(t, "event", view.Poll.GoogleEventID, s.event)
			for _, problem := range w.HistoryProblems() {
				t.Error(problem)
			}
			atRest(t, w)
		})
	}
}

// Putting a poll away decides nothing about its event.
func TestAwaited_EventIsBackWhileArchived_RevivesAfterwards(t *testing.T) {
	t.Parallel()
	for name, unarchive := range map[string]func(t *testing.T, w *worldtest.World, s fixture){
		"by command": func(t *testing.T, w *worldtest.World, s fixture) {
			if _, err := w.Scheduler.Unarchive(t.Context(), gm, s.poll, worldtest.Cause); err != nil {
				t.Fatal(err)
			}
		},
		"directly": func(_ *testing.T, w *worldtest.World, s fixture) { setBehindUs(rules.Finalized)(w, s); w.Sweep() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			s := gone(finalised)(w)
			archiveIt.do(w, s)
			undelete(t, w, s)
			w.Run(time.Hour)
			equal(t, "status while it is put away", w.View(s.poll).Poll.Status, rules.Archived)
			unarchive(t, w, s)
			w.Run(2 * time.Minute)
			view := w.View(s.poll).Poll
			equal(t, "status", view.Status, rules.Finalized)
			equal(t, "state", view.Sync.State, rules.StateOK)
			equal(t, "event", view.GoogleEventID, s.event)
			atRest(t, w)
		})
	}
}

// After a month the event is not followed any more, and its calendar neither.
func TestAwaited_AMonthLater_IsReleasedByTheSweep(t *testing.T) {
	t.Parallel()
	for name, act := range map[string]func(w *worldtest.World, s fixture){
		"cancelled": func(*worldtest.World, fixture) {},
		"restored":  func(w *worldtest.World, s fixture) { setBehindUs(rules.Finalized)(w, s) },
		"archived":  func(w *worldtest.World, s fixture) { archiveIt.do(w, s) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			s := gone(finalised)(w)
			act(w, s)
			for day := range 32 {
				equal(t, "index entries", len(w.Index()), map[bool]int{true: 1}[day < 30])
				w.Skip(24 * time.Hour)
				w.Sweep()
				w.Run(time.Minute)
			}
			before := w.View(s.poll).Poll
			equal(t, "awaits nothing", before.Sync.Awaited == nil, true)
			equal(t, "interests", w.Calendar("gm").Interests[poll.ConsumerPoll], 0)
			atRest(t, w)
		})
	}
}

// A finalisation under way has the next generation; where it comes to nothing, the
// event is awaited as before.
func TestAwaited_FinalisationIsRefused_EventIsAwaitedOn(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := gone(finalised)(w)
	w.Refuse("events.insert", 400, "invalid", 1)
	if _, err := w.Finalise(s.poll, s.slots[1]); err == nil {
		t.Fatal("the insert was refused")
	}
	undelete(t, w, s)
	w.Run(10 * time.Minute)
	followed(t, w, s, rules.StateOK, worldtest.Ten, 2)
	atRest(t, w)
}

// A deletion need not say when it was. What is known of the event before stays
// known, so that nothing older counts when it is back.
func TestAwaited_Cancellation_KeepsWhatWasObserved(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := moved(w)
	before := w.View(s.poll).Poll.Sync.Observed
	w.DeleteEvent("gm", s.event)
	w.Run(time.Minute)
	if after := w.View(s.poll).Poll.Sync.Observed; after.Before(before) || before.IsZero() {
		t.Errorf("observed %v before, and %v after", before, after)
	}
	document := store.Fields(w.Document(poll.Path(s.poll)).Data)
	equal(t, "googleEventId", document["googleEventId"], any(nil))
	equal(t, "awaited event", document.Map("calendarSync").Map("awaited").String("event"), s.event)
}

// An answer whose status cannot be read says nothing of the event.
func TestAwaited_AnswerIsUnreadable_RevivesNothing(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := gone(finalised)(w)
	w.Malform("gm", s.event, `{"status": 5}`)
	if _, err := w.Scheduler.Sync(t.Context(), gm, s.poll, worldtest.Cause); err != nil {
		t.Fatal(err)
	}
	w.Run(2 * time.Minute)
	equal(t, "status", w.View(s.poll).Poll.Status, rules.Cancelled)
	equal(t, "notices of ana", len(w.Notices("ana")), 1)
	w.Heal()
	undelete(t, w, s)
	w.Run(2 * time.Minute)
	followed(t, w, s, rules.StateOK, worldtest.Ten, 2)
	atRest(t, w)
}

// Somebody's functions name the event again that the poll awaits.
func TestAwaited_NamedDirectly_IsLinkedAnew(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := gone(finalised)(w)
	w.Edit(poll.Path(s.poll), poll.Set("status", string(rules.Finalized)), poll.Set("googleEventId", s.event))
	w.Sweep()
	undelete(t, w, s)
	w.Run(time.Minute)
	w.MoveEvent("gm", s.event, worldtest.Three)
	w.Sweep()
	w.Run(10 * time.Minute)
	view := w.View(s.poll)
	equal(t, "status", view.Poll.Status, rules.Finalized)
	equal(t, "awaits nothing", view.Poll.Sync.Awaited == nil, true)
	equal(t, "applied", view.Poll.Sync.Applied, timeOf(worldtest.Three))
	atRest(t, w)
}

func TestAwaited_PollWithoutAWinningSlot_IsRevived(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := finalised(w)
	w.Edit(poll.Path(s.poll), poll.Set("winningSlotId", nil))
	w.Sweep()
	w.Run(time.Minute)
	w.DeleteEvent("gm", s.event)
	w.Run(time.Minute)
	undelete(t, w, s)
	w.MoveEvent("gm", s.event, worldtest.Three)
	w.Run(10 * time.Minute)
	view := w.View(s.poll)
	equal(t, "state", view.Poll.Sync.State, rules.StateRescheduled)
	equal(t, "start", view.Winning != nil && view.Winning.Start.Equal(worldtest.Three.Start), true)
}
