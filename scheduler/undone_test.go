package scheduler_test

import (
	"slices"
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
)

// restoreBehindUs is what the web app's Restore writes.
var restoreBehindUs = setBehindUs(rules.Finalized)

// changeReported reconciles a poll, as a report of a document change does.
func changeReported(t *testing.T, w *worldtest.World, s fixture) {
	t.Helper()
	if _, err := w.Scheduler.Reconcile(w.Context(), s.poll, worldtest.Cause); err != nil {
		t.Fatal(err)
	}
}

// cancelBehindUs is what the web app's Cancel writes, and the report of the change.
func cancelBehindUs(t *testing.T, w *worldtest.World, s fixture) {
	t.Helper()
	setBehindUs(rules.Cancelled)(w, s)
	changeReported(t, w, s)
}

// wantNotices checks ana's notices in the app, oldest first.
func wantNotices(t *testing.T, w *worldtest.World, want ...string) {
	t.Helper()
	if got := w.Notices("ana"); !slices.Equal(got, want) {
		t.Errorf("ana has the notices %v, want %v", got, want)
	}
}

// A cancellation that a user takes back before it is announced must not be announced,
// even if no document change was reported yet.
func TestCancel_UndoneDirectlyInTime_IsNeverAnnounced(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		cancel func(t *testing.T, w *worldtest.World, s fixture)
	}{
		{"by the API", func(_ *testing.T, w *worldtest.World, s fixture) { cancelIt.do(w, s) }},
		{"directly", cancelBehindUs},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			s := linked(t, w)
			c.cancel(t, w, s)
			w.Run(worldtest.Settle - 50*time.Millisecond)
			restoreBehindUs(w, s)
			w.Run(time.Hour)
			wantNotices(t, w)
			equal(t, "status", w.View(s.poll).Poll.Status, rules.Finalized)
			atRest(t, w)
		})
	}
}

// The web app tells of a finalisation at once, so a cancellation soon after it is news to people,
// although what was announced last is a cancellation too.
func TestCancel_SoonAfterACancelledPollIsFinalisedAgain_IsAnnounced(t *testing.T) {
	t.Parallel()
	for name, between := range map[string]func(t *testing.T, w *worldtest.World, s fixture){
		"finalised again": func(t *testing.T, w *worldtest.World, s fixture) {
			t.Helper()
			if _, err := w.Finalise(s.poll, s.slots[1]); err != nil {
				t.Fatal(err)
			}
		},
		"reopened": func(t *testing.T, w *worldtest.World, s fixture) {
			t.Helper()
			if _, err := w.Scheduler.Reopen(w.Context(), worldtest.Person("gm"), s.poll, true, worldtest.Cause); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			s := linked(t, w)
			cancelIt.do(w, s)
			w.Run(time.Hour)
			wantNotices(t, w, "SESSION_CANCELLED")
			between(t, w, s)
			cancelIt.do(w, s)
			w.Run(time.Hour)
			wantNotices(t, w, "SESSION_CANCELLED", "SESSION_CANCELLED")
			atRest(t, w)
		})
	}
}

// An event that is deleted, restored and deleted again before that is announced is off as before.
func TestDeletion_SoonAfterACancelledPollIsFinalisedAgain_IsAnnounced(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := linked(t, w)
	w.DeleteEvent("gm", s.event)
	w.Run(time.Hour)
	view, err := w.Finalise(s.poll, s.slots[1])
	if err != nil {
		t.Fatal(err)
	}
	w.DeleteEvent("gm", view.Poll.GoogleEventID)
	w.Run(time.Hour)
	wantNotices(t, w, "SESSION_CANCELLED", "SESSION_CANCELLED")
	atRest(t, w)
}

func TestDeletion_UndoneAndDoneAgainAtOnce_IsAnnouncedOnce(t *testing.T) {
	t.Parallel()
	for name, again := range map[string]func(w *worldtest.World, s fixture) error{
		"by the calendar": func(w *worldtest.World, s fixture) error { w.DeleteEvent("gm", s.event); return nil },
		"by hand":         func(w *worldtest.World, s fixture) error { _, err := w.Cancel(s.poll); return err },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			s := linked(t, w)
			w.DeleteEvent("gm", s.event)
			w.Run(time.Hour)
			w.UndeleteEvent("gm", s.event)
			w.RunDue()
			equal(t, "status in between", w.View(s.poll).Poll.Status, rules.Finalized)
			if err := again(w, s); err != nil {
				t.Fatal(err)
			}
			w.Run(time.Hour)
			wantNotices(t, w, "SESSION_CANCELLED")
			equal(t, "status", w.View(s.poll).Poll.Status, rules.Cancelled)
			atRest(t, w)
		})
	}
}

// A cancellation is no new finalisation: people still know the time that was announced
// before it.
func TestCancel_UndoneOfAMovedSession_IsNotAnnouncedAgain(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := rescheduled(t, w)
	w.Run(time.Minute)
	before := w.Notices("ana")
	if err := w.Keep(func() error {
		_, err := w.Scheduler.Cancel(w.Context(), worldtest.Person("gm"), s.poll, true, worldtest.Cause)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	restoreBehindUs(w, s)
	changeReported(t, w, s)
	w.Run(time.Hour)
	wantNotices(t, w, before...)
	atRest(t, w)
}

// The event went with the cancellation, and its new time with it.
func TestCancel_UndoneMoveWithoutEvent_AnnouncesItsTime(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := rescheduled(t, w)
	w.Run(time.Minute)
	cancelBehindUs(t, w, s)
	restoreBehindUs(w, s)
	changeReported(t, w, s)
	w.Run(time.Hour)
	wantNotices(t, w, string(rules.NoticeRescheduled), string(rules.NoticeRescheduled))
	equal(t, "the time that was announced", announced(t, w, s), rules.Timed(worldtest.Ten.Start, worldtest.Ten.End))
	atRest(t, w)
}

// announced is the time that people know of a poll.
func announced(t *testing.T, w *worldtest.World, s fixture) rules.Fingerprint {
	t.Helper()
	announcement, err := poll.LoadAnnouncement(w.Context(), w.Documents, s.poll)
	if err != nil {
		t.Fatal(err)
	}
	return announcement.Announced.State.At
}

func TestRestore_AnnouncedCancellation_IsAnnouncedAsOnAgain(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := linked(t, w)
	cancelBehindUs(t, w, s)
	w.Run(time.Minute)
	restoreBehindUs(w, s)
	changeReported(t, w, s)
	w.Run(time.Minute)
	wantNotices(t, w, string(rules.NoticeCancelled), string(rules.NoticeOnAgain))
	equal(t, "the time that was announced", announced(t, w, s), rules.Timed(worldtest.Ten.Start, worldtest.Ten.End))
	atRest(t, w)
}

// The creator's finalisation hangs, and they restore the poll in the web app: the
// later word counts, and what people know of the session stands.
func TestRestore_WhileAFinalisationIsUnderWay_SupersedesIt(t *testing.T) {
	t.Parallel()
	for name, keep := range map[string]bool{"the old event is kept": true, "it is deleted": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			s := finalised(w)
			if _, err := w.Scheduler.Cancel(t.Context(), gm, s.poll, keep, worldtest.Cause); err != nil {
				t.Fatal(err)
			}
			w.Plant("events.insert", func(f *worldtest.Fault) { f.Status, f.Times = 503, 1 })
			if _, err := w.Finalise(s.poll, s.slots[1]); err == nil {
				t.Fatal("the insert was answered")
			}
			restoreBehindUs(w, s)
			changeReported(t, w, s)
			w.Run(time.Hour)
			equal(t, "winning slot", w.View(s.poll).Poll.WinningSlotID, s.slots[0])
			equal(t, "events", len(w.Events("gm")), map[bool]int{true: 1}[keep])
			wantNotices(t, w)
			atRest(t, w)
		})
	}
}
