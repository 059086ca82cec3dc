package scheduler_test

import (
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
)

func TestRestoreOriginal_MovesTheEventBack(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := moved(w)
	view, err := w.Scheduler.RestoreOriginal(t.Context(), worldtest.Person("gm"), s.poll, worldtest.Cause)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "state", view.Poll.Sync.State, rules.StateOK)
	equal(t, "winning slot", view.Poll.WinningSlotID, s.slots[0])
	equal(t, "event", w.EventOf("gm", s.event).Fingerprint(), view.Poll.Sync.Baseline)
	w.Run(time.Minute)
	followed(t, w, s, rules.StateOK, worldtest.Ten, 2)
	atRest(t, w)
	_, err = w.Scheduler.RestoreOriginal(t.Context(), worldtest.Person("gm"), s.poll, worldtest.Cause)
	kind(t, err, fault.Conflict)
}

// The event moves while the command is under way, and syncs read it.
func TestRestoreOriginal_EventMovesDuringIt_FollowsTheEvent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		point   string
		refused bool
	}{{"before events.get", false}, {"after events.get", true}, {"after events.patch", false}} {
		t.Run(c.point, func(t *testing.T) {
			t.Parallel()
			for name, to := range map[string]worldtest.Slot{"where it was": worldtest.Noon, "elsewhere": worldtest.Three} {
				w := worldtest.New(t, worldtest.Options{})
				s := moved(w)
				w.On(c.point, func() { w.MoveEvent("gm", s.event, to); w.RunDue() })
				_, err := w.Scheduler.RestoreOriginal(t.Context(), worldtest.Person("gm"), s.poll, worldtest.Cause)
				if (err != nil) != c.refused {
					t.Errorf("%s: %v", name, err)
				}
				w.Run(3 * time.Minute)
				checkAgreement(t, w, s)
				atRest(t, w)
			}
		})
	}
}

func TestAcceptNew_TakesTheTimeThatThePersonSaw(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := moved(w)
	saw := w.View(s.poll).Poll.Sync.Applied.String()
	w.MoveEvent("gm", s.event, worldtest.Three)
	w.Run(time.Minute)
	_, err := w.Scheduler.AcceptNew(t.Context(), worldtest.Person("gm"), s.poll, saw, worldtest.Cause)
	kind(t, err, fault.Conflict)

	saw = w.View(s.poll).Poll.Sync.Applied.String()
	view, err := w.Scheduler.AcceptNew(t.Context(), worldtest.Person("gm"), s.poll, saw, worldtest.Cause)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "state", view.Poll.Sync.State, rules.StateOK)
	equal(t, "start", view.Winning.Start, worldtest.Three.Start)
	equal(t, "source", view.Winning.Source, poll.SourcePoll)
	equal(t, "hidden", view.ParticipantsHidden(), false)
	w.MoveEvent("gm", s.event, worldtest.Ten)
	w.Run(time.Minute)
	equal(t, "state after another move", w.View(s.poll).Poll.Sync.State, rules.StateRescheduled)
	w.MoveEvent("gm", s.event, worldtest.Three)
	w.Run(time.Minute)
	equal(t, "winning slot after it moved back", w.View(s.poll).Poll.WinningSlotID, view.Poll.WinningSlotID)
	atRest(t, w)
}

// The app's own deletion of a poll broke off behind its slots, or somebody removed the calendar's.
func TestAcceptNew_CalendarSlotRemoved_MakesItAgain(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := moved(w)
	before := w.View(s.poll)
	w.Remove(poll.SlotPath(s.poll, before.Winning.ID))
	view, err := w.Scheduler.AcceptNew(t.Context(), worldtest.Person("gm"), s.poll, before.Poll.Sync.Applied.String(), worldtest.Cause)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "state", view.Poll.Sync.State, rules.StateOK)
	if view.Winning == nil {
		t.Fatal("it has no winning slot")
	}
	equal(t, "winning slot", view.Winning.ID, before.Winning.ID)
	equal(t, "time", view.Winning.Fingerprint(), before.Poll.Sync.Applied)
	equal(t, "source", view.Winning.Source, poll.SourcePoll)
	equal(t, "made by", view.Winning.CreatedBy, "")
	w.Run(20 * time.Minute)
	atRest(t, w)
}

// An error that is not over stays when the new time is accepted; a warning leaves the state
// to the time.
func TestAcceptNew_DuringAnError_KeepsIt(t *testing.T) {
	t.Parallel()
	for code, state := range map[rules.ErrorCode]rules.State{
		rules.WatchFailed: rules.StateError, rules.CalendarLost: rules.StateError, rules.RecurringUnsupported: rules.StateOK,
	} {
		t.Run(string(code), func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			s := moved(w)
			if code == rules.RecurringUnsupported {
				w.PatchEvent("gm", s.event, map[string]any{"recurrence": []string{"RRULE:FREQ=DAILY"}})
				w.Run(time.Minute)
			} else if err := w.Scheduler.SetSyncError(t.Context(), s.poll, code, worldtest.Cause, nil); err != nil {
				t.Fatal(err)
			}
			saw := w.View(s.poll).Poll.Sync.Applied.String()
			view, err := w.Scheduler.AcceptNew(t.Context(), worldtest.Person("gm"), s.poll, saw, worldtest.Cause)
			if err != nil {
				t.Fatal(err)
			}
			if got := view.Poll.Sync; got.State != state || got.Error == nil || got.Error.Code != code || got.Rescheduled != nil {
				t.Errorf("the sync is %+v, want %s %s", got, state, code)
			}
		})
	}
}
