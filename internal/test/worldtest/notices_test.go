package worldtest_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/test/points"
	"questscheduler/internal/test/worldtest"
	"questscheduler/scheduler"
)

// cancelled is a poll of gm and ben's whose cancellation is not announced yet.
func cancelled(t *testing.T, w *worldtest.World) (pollID string) {
	t.Helper()
	pollID, slots := w.PollOf("gm", scheduler.Create{ParticipantIDs: []string{"gm", "ben"}, AllowLinkSharing: true})
	if _, err := w.Finalise(pollID, slots[0]); err != nil {
		t.Fatal(err)
	}
	w.Run(time.Minute)
	if _, err := w.Cancel(pollID); err != nil {
		t.Fatal(err)
	}
	if problems := w.HistoryProblems(); len(problems) > 0 {
		t.Fatal(problems)
	}
	return pollID
}

// Wherever a delivery dies, ana may join before it is continued; she may be notified
// or not.
func TestNotices_JoinDuringDelivery_MayBeNotifiedOrNot(t *testing.T) {
	t.Parallel()
	notified := map[bool]bool{}
	n := 1
	for ; ; n++ {
		w := worldtest.New(t, worldtest.Options{})
		pollID := cancelled(t, w)
		w.CrashAt(n)
		lived, _ := w.Survives(func() { w.Run(time.Minute) })
		if lived {
			break
		}
		w.TakeOver()
		problems := w.HistoryProblems()
		if _, err := w.Scheduler.Join(w.Context(), worldtest.Person("ana"), pollID, worldtest.Cause); err != nil {
			t.Fatal(err)
		}
		problems = append(problems, w.HistoryProblems()...)
		w.Run(10 * time.Minute)
		problems = append(problems, w.HistoryProblems()...)
		if len(problems) > 0 {
			t.Errorf("dead at point %d: %v", n, problems)
		}
		notified[len(w.Notices("ana")) > 0] = true
	}
	n--
	points.Struck(t, n, 30)
	if !notified[true] || !notified[false] {
		t.Errorf("ana joined both before and after the notices were written: %v", notified)
	}
}

// A delivery that is recorded as done and left no notice for ben is found.
func TestNotices_ParticipantNotNotified_IsFound(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID := cancelled(t, w)
	announcement, err := poll.LoadAnnouncement(w.Context(), w.Documents, pollID)
	if err != nil {
		t.Fatal(err)
	}
	w.Write(poll.AnnouncementPath(pollID), poll.DeliveryUpdates(announcement.Wanted, 1, w.Clock.Now())...)
	problems := w.HistoryProblems()
	w.Write(poll.AnnouncementPath(pollID), append(poll.AnnouncedUpdates(announcement.Wanted, true),
		poll.DeliveryUpdate("in-app", poll.Delivery{Ref: announcement.Wanted.Ref, At: w.Clock.Now()}))...)
	problems = append(problems, w.HistoryProblems()...)
	if !slices.ContainsFunc(problems, func(problem string) bool { return strings.Contains(problem, "ben was not notified") }) {
		t.Errorf("found %q", problems)
	}
}

// What a person muted is not delivered to them, and what they did not mute is.
func TestNotices_OfMutedKinds_AreFoundAndNotMissed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ before, after, found string }{
		{"POLL_CANCELLED", "", "ben was not notified"},
		{"SLOT_CHANGED", "POLL_CANCELLED", "ben was notified of SESSION_CANCELLED, and had muted it"},
		{"POLL_CANCELLED", "POLL_CANCELLED", ""},
	} {
		w := worldtest.New(t, worldtest.Options{})
		pollID := cancelled(t, w)
		w.Mute("ben", c.before)
		w.Run(time.Minute)
		if c.after == "" {
			w.Mute("ben")
		} else {
			w.Mute("ben", c.after)
		}
		problems := w.HistoryProblems()
		if found := slices.ContainsFunc(
			problems, func(problem string) bool { return strings.Contains(problem, c.found) },
		); c.found != "" && !found || c.found == "" && len(problems) > 0 {
			t.Errorf("%+v of poll %s: found %q", c, pollID, problems)
		}
	}
}
