package timers_test

import (
	"testing"
	"time"

	"questscheduler/internal/calendars"
	"questscheduler/internal/poll"
	"questscheduler/internal/test/points"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
	"questscheduler/web-hooks/timers"
)

// soonAfter is a world whose one session, at Ten, is that long away, and whose timers run every
// minute: it comes to a time at which no sweep is under way.
func soonAfter(t *testing.T, before time.Duration) (w *worldtest.World, pollID, eventID string) {
	t.Helper()
	w = worldtest.New(t, worldtest.Options{})
	pollID, _, eventID = w.Finalised()
	w.Skip(worldtest.Ten.Start.Add(-before - time.Hour).Sub(w.Clock.Now()))
	w.RunTimers(time.Hour, time.Minute)
	return w, pollID, eventID
}

// listings are the times since the beginning, in minutes, at which the calendar was listed.
func listings(w *worldtest.World, d time.Duration) (minutes []int) {
	for minute := range int(d / time.Minute) {
		before := w.Calls("events.list")
		w.RunTimers(time.Minute, time.Minute)
		for range w.Calls("events.list") - before {
			minutes = append(minutes, minute+1)
		}
	}
	return minutes
}

func TestPlanUpcoming_LostPush_IsFoundWithinAQuarter(t *testing.T) {
	t.Parallel()
	w, pollID, eventID := soonAfter(t, 25*time.Hour)
	for phase, to := range []worldtest.Slot{noon, worldtest.Ten, noon, worldtest.Ten, noon, worldtest.Ten, noon, worldtest.Ten} {
		w.RunTimers(time.Duration(2*phase+1)*time.Minute, time.Minute)
		w.MoveEvent("gm", eventID, to)
		w.LosePushes()
		w.RunTimers(15*time.Minute, time.Minute)
		if got := w.View(pollID).Winning.Start; !got.Equal(to.Start) {
			t.Errorf("phase %d: the session is at %v, and its event at %v", phase, got, to.Start)
		}
	}
	w.Check()
}

// Each row is when the listings of an hour begin, counted from a time before the session.
func TestPlanUpcoming_BeginsTwoDaysBefore(t *testing.T) {
	t.Parallel()
	for before, want := range map[time.Duration]bool{
		49*time.Hour + 15*time.Minute: false, 48 * time.Hour: true, 2 * time.Hour: true, -10 * time.Minute: false,
	} {
		w, _, _ := soonAfter(t, before)
		got := listings(w, time.Hour)
		if want && len(got) < 4 || !want && len(got) > 0 {
			t.Errorf("%v before the session: listed at %v", before, got)
		}
	}
}

func TestPlanUpcoming_ListsNothingTwice(t *testing.T) {
	t.Parallel()
	w, _, _ := soonAfter(t, 25*time.Hour)
	w.Finalised() // another session in the same calendar
	var all []int
	for hour := range 3 {
		for _, minute := range listings(w, time.Hour) {
			all = append(all, 60*hour+minute)
		}
		w.InsertEvent("gm", map[string]any{"start": map[string]any{"date": "2026-05-10"}, "end": map[string]any{"date": "2026-05-11"}})
		before := w.Calls("events.list")
		w.Run(2 * time.Second) // the push of it
		same(t, "listings for the push", w.Calls("events.list")-before, 1)
		all = append(all, 60*(hour+1))
	}
	for i, minute := range all[1:] {
		if gap := minute - all[i]; gap > 15 || gap < 14 && minute%60 > 0 {
			t.Errorf("listed at %v: %d minutes pass before %d", all, gap, minute)
		}
	}
	if len(all) < 3*5 {
		t.Errorf("listed at %v", all)
	}
}

// The calendar of a session that is cancelled, that rests, or whose account was refused is left alone.
func TestPlanUpcoming_LeavesAlone(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]func(t *testing.T, w *worldtest.World, pollID string){
		"a cancelled poll": func(t *testing.T, w *worldtest.World, pollID string) {
			_, err := w.Cancel(pollID)
			must(t, err)
			w.RunDue()
		},
		"a calendar that rests": func(_ *testing.T, w *worldtest.World, _ string) {
			w.Write(calendars.Path(w.CalendarKey("gm")), calendars.Pause(w.Clock.Now().Add(2*time.Hour)), poll.Set("syncAt", nil))
		},
		"a calendar whose grant is dead": func(_ *testing.T, w *worldtest.World, _ string) {
			updates := w.Calendar("gm").MarkFailing(w.Clock.Now(), calendars.ReasonRevoked)
			w.Write(calendars.Path(w.CalendarKey("gm")), append(updates, poll.Set("syncAt", nil))...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, pollID, _ := soonAfter(t, 25*time.Hour)
			set(t, w, pollID)
			if got := listings(w, time.Hour); len(got) > 0 {
				t.Errorf("listed at %v", got)
			}
		})
	}
}

// The program dies at each point of a planning and of the sync it plans, one after the other.
func TestPlanUpcoming_InterruptedAnywhere_LosesNothing(t *testing.T) {
	t.Parallel()
	for n := 1; n <= worldtest.MostPoints; n++ {
		w, pollID, eventID := soonAfter(t, 25*time.Hour)
		w.Skip(time.Hour) // so that the sync is due with its plan
		w.MoveEvent("gm", eventID, noon)
		w.LosePushes()
		w.CrashAt(n)
		lived, point := w.Survives(func() {
			must(t, w.Timers.HandOver(t.Context(), timers.PlanUpcoming))
			w.RunDue()
		})
		struck := w.Struck()
		w.Calm()
		if !lived {
			w.Restart()
		}
		w.RunTimers(15*time.Minute, time.Minute)
		if state := w.View(pollID).Poll.Sync.State; state != rules.StateRescheduled {
			t.Fatalf("after it died at %d, %s, the poll is %s", n, point, state)
		}
		if !struck {
			points.Struck(t, n-1, 9)
			w.Check()
			return
		}
	}
}
