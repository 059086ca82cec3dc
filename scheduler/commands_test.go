package scheduler_test

import (
	"context"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

var gm = worldtest.Person("gm")

// An archived poll comes back as it was, and then follows what its event did while it
// was archived.
func TestArchiveAndUnarchive_BringBackWhatWas(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		begin   func(w *worldtest.World) fixture
		during  func(w *worldtest.World, s fixture)
		status  rules.Status
		state   rules.State
		notices int // of ana, from its beginning on
	}{
		"an open poll":    {fresh, func(*worldtest.World, fixture) {}, rules.Open, rules.StateNone, 0},
		"a finalised one": {finalised, func(*worldtest.World, fixture) {}, rules.Finalized, rules.StateOK, 0},
		"a rescheduled":   {moved, func(*worldtest.World, fixture) {}, rules.Finalized, rules.StateRescheduled, 1},
		"a cancelled": {
			func(w *worldtest.World) fixture { s := finalised(w); cancelIt.do(w, s); w.Run(time.Minute); return s },
			func(*worldtest.World, fixture) {}, rules.Cancelled, rules.StateCancelled, 1,
		},
		"one that moved": {
			finalised, func(w *worldtest.World, s fixture) { w.MoveEvent("gm", s.event, worldtest.Noon) }, rules.Finalized,
			rules.StateRescheduled, 1,
		},
		"one that is gone": {
			finalised, func(w *worldtest.World, s fixture) { w.DeleteEvent("gm", s.event) }, rules.Cancelled, rules.StateCancelled,
			1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			s := c.begin(w)
			before := w.View(s.poll).Poll.Sync
			archived, err := w.Scheduler.Archive(t.Context(), gm, s.poll, worldtest.Cause)
			if err != nil {
				t.Fatal(err)
			}
			equal(t, "status", archived.Poll.Status, rules.Archived)
			notices := len(w.Notices("ana"))
			c.during(w, s)
			w.Sweep()
			w.Run(5 * time.Minute)
			equal(t, "status while it is put away", w.View(s.poll).Poll.Status, rules.Archived)
			equal(t, "state while it is put away", w.View(s.poll).Poll.Sync.State, before.State)
			equal(t, "notices while it is put away", len(w.Notices("ana")), notices)
			for name, command := range map[string]func(ctx context.Context) (scheduler.View, error){
				"finalise": func(context.Context) (scheduler.View, error) { return w.Finalise(s.poll, s.slots[0]) },
				"finalise without an event": func(ctx context.Context) (scheduler.View, error) {
					return w.Scheduler.Finalise(ctx, gm, s.poll, scheduler.Finalise{SlotID: s.slots[0]}, worldtest.Cause)
				},
				"cancel": func(context.Context) (scheduler.View, error) { return w.Cancel(s.poll) },
				"reopen": func(ctx context.Context) (scheduler.View, error) {
					return w.Scheduler.Reopen(ctx, gm, s.poll, false, worldtest.Cause)
				},
				"restore": func(ctx context.Context) (scheduler.View, error) {
					return w.Scheduler.RestoreOriginal(ctx, gm, s.poll, worldtest.Cause)
				},
			} {
				if _, err := command(t.Context()); !fault.Is(err, fault.Conflict) {
					t.Errorf("%s of an archived poll: %v", name, err)
				}
			}
			for range 2 { // the second changes nothing
				if _, err := w.Scheduler.Unarchive(t.Context(), gm, s.poll, worldtest.Cause); err != nil {
					t.Fatal(err)
				}
			}
			w.Run(time.Minute)
			after := w.View(s.poll).Poll
			if after.Status != c.status || after.Sync.State != c.state {
				t.Errorf("it comes back as %s %q, want %s %q", after.Status, after.Sync.State, c.status, c.state)
			}
			equal(t, "notices of ana", len(w.Notices("ana")), c.notices)
			atRest(t, w)
		})
	}
}

// The slots of a finalised poll stand; an edit of those of a cancelled one takes
// away what a reschedule left.
func TestEditSlots(t *testing.T) {
	t.Parallel()
	edit := func(w *worldtest.World, s fixture, slots ...scheduler.SlotEdit) (scheduler.View, error) {
		return w.Scheduler.Edit(w.Context(), gm, s.poll, scheduler.Edit{Slots: &slots}, worldtest.Cause)
	}
	t.Run("of a finalised poll are refused", func(t *testing.T) {
		t.Parallel()
		w := worldtest.New(t, worldtest.Options{})
		s := finalised(w)
		_, err := edit(w, s, scheduler.SlotEdit{Times: worldtest.Noon})
		kind(t, err, fault.Conflict)
		equal(t, "slots", len(w.View(s.poll).Slots), 2)
		atRest(t, w)
	})
	t.Run("of a poll that was cancelled while rescheduled clear the reschedule", func(t *testing.T) {
		t.Parallel()
		w := worldtest.New(t, worldtest.Options{})
		s := moved(w)
		calendars := w.View(s.poll).Poll.WinningSlotID
		w.DeleteEvent("gm", s.event)
		w.Run(time.Minute)
		equal(t, "winning slot of the cancelled poll", w.View(s.poll).Poll.WinningSlotID, calendars)
		_, err := edit(w, s, scheduler.SlotEdit{ID: calendars, Times: worldtest.Noon})
		kind(t, err, fault.Invalid) // it is no slot to be chosen
		view, err := edit(w, s, scheduler.SlotEdit{ID: s.slots[0], Times: worldtest.Noon}, scheduler.SlotEdit{Times: worldtest.Three})
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "status", view.Poll.Status, rules.Cancelled)
		equal(t, "rescheduled is gone", view.Poll.Sync.Rescheduled == nil, true)
		equal(t, "winning slot", view.Poll.WinningSlotID, s.slots[0])
		equal(t, "its start", view.Winning.Start, worldtest.Noon.Start)
		equal(t, "slots", len(view.Slots), 2)
		equal(t, "hidden", view.ParticipantsHidden(), false)
		for _, vote := range view.Votes {
			if _, there := vote.Choices[s.slots[1]]; there {
				t.Errorf("%s still votes for a slot that is gone", vote.UserID)
			}
		}
		w.Run(time.Minute)
		atRest(t, w)
	})
}

// The event that the person decides on is gone: nothing is patched, and the next sync
// updates the poll.
func TestRestoreOriginal_NothingToMoveBack_IsAConflict(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		act  func(w *worldtest.World, s fixture)
		want rules.Status
	}{
		"the event was deleted": {func(w *worldtest.World, s fixture) { w.DeleteEvent("gm", s.event) }, rules.Cancelled},
		"the event is a series": {func(w *worldtest.World, s fixture) {
			w.PatchEvent("gm", s.event, map[string]any{"recurrence": []string{"RRULE:FREQ=DAILY"}})
		}, rules.Finalized},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			s := moved(w)
			c.act(w, s)
			w.LosePushes()
			_, err := w.Scheduler.RestoreOriginal(t.Context(), gm, s.poll, worldtest.Cause)
			kind(t, err, fault.Conflict)
			equal(t, "patches", w.Calls("events.patch"), 0)
			equal(t, "state", w.View(s.poll).Poll.Sync.State, rules.StateRescheduled)
			w.Sweep()
			w.Run(2 * time.Minute)
			equal(t, "status after a sync", w.View(s.poll).Poll.Status, c.want)
		})
	}
}

// Commands about a new time are for polls that have one.
func TestRestoreAndAccept_OfAPollThatStands_AreConflicts(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func(w *worldtest.World) fixture{"open": fresh, "finalised": finalised} {
		w := worldtest.New(t, worldtest.Options{})
		s := begin(w)
		_, err := w.Scheduler.RestoreOriginal(t.Context(), gm, s.poll, worldtest.Cause)
		kind(t, err, fault.Conflict)
		_, err = w.Scheduler.AcceptNew(t.Context(), gm, s.poll, w.View(s.poll).Poll.Sync.Applied.String(), worldtest.Cause)
		kind(t, err, fault.Conflict)
		if len(w.Decisions(s.poll)) > 1 {
			t.Errorf("%s: the journal says %v", name, w.Decisions(s.poll))
		}
		atRest(t, w)
	}
}

// What is released stays in the calendar, and is nobody's business any more.
func TestAnEventThatIsToStay_IsReleased(t *testing.T) {
	t.Parallel()
	for name, command := range map[string]func(w *worldtest.World, s fixture) error{
		"by a reopening": func(w *worldtest.World, s fixture) error {
			_, err := w.Scheduler.Reopen(w.Context(), gm, s.poll, false, worldtest.Cause)
			return err
		},
		"by the poll's deletion": func(w *worldtest.World, s fixture) error {
			return w.Scheduler.Delete(w.Context(), gm, s.poll, true, worldtest.Cause)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			s := moved(w)
			w.Released(s.event)
			notices := len(w.Notices("ana"))
			if err := command(w, s); err != nil {
				t.Fatal(err)
			}
			w.Run(time.Minute)
			equal(t, "the event is there", w.EventOf("gm", s.event).Live(), true)
			equal(t, "index entries", len(w.Index()), 0)
			w.MoveEvent("gm", s.event, worldtest.Three)
			w.Run(time.Minute)
			w.DeleteEvent("gm", s.event)
			w.Sweep()
			w.Run(time.Minute)
			equal(t, "notices of ana", len(w.Notices("ana")), notices)
			atRest(t, w)
		})
	}
}

// A rescheduled or cancelled poll that is finalised again has nothing of that
// left.
func TestFinaliseAgain_ClearsWhatWas(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func(w *worldtest.World) fixture{
		"a reschedule": moved,
		"a cancellation by the calendar": func(w *worldtest.World) fixture {
			s := moved(w)
			w.DeleteEvent("gm", s.event)
			w.Run(time.Minute)
			return s
		},
		"a cancellation by hand": func(w *worldtest.World) fixture { s := moved(w); cancelIt.do(w, s); w.Run(time.Minute); return s },
	} {
		for _, createEvent := range []bool{true, false} {
			t.Run(name+map[bool]string{true: ", with an event", false: ", without an event"}[createEvent], func(t *testing.T) {
				t.Parallel()
				w := worldtest.New(t, worldtest.Options{})
				s := begin(w)
				if _, err := w.FinaliseAs(s.poll, worldtest.Ask{SlotID: s.slots[1], CreateEvent: createEvent}); err != nil {
					t.Fatal(err)
				}
				w.Run(time.Minute)
				view := w.View(s.poll)
				equal(t, "status", view.Poll.Status, rules.Finalized)
				equal(t, "winning slot", view.Poll.WinningSlotID, s.slots[1])
				equal(t, "slots", len(view.Slots), 2)
				equal(t, "rescheduled is gone", view.Poll.Sync.Rescheduled == nil, true)
				equal(t, "cancelled is gone", view.Poll.Cancelled == nil && view.Poll.Sync.Cancelled == nil, true)
				equal(t, "events", len(w.Events("gm")), map[bool]int{true: 1, false: 0}[createEvent])
				equal(t, "follows an event", view.Poll.GoogleEventID != "", createEvent)
				atRest(t, w)
			})
		}
	}
}
