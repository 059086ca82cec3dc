package scheduler_test

import (
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
)

// announceTasks are the tasks that wait to tell people something.
func announceTasks(w *worldtest.World) (tasks int) {
	for _, task := range w.Wakes.Due(w.Clock.Now().Add(24 * time.Hour)) {
		if task.Kind == poll.AnnounceKind {
			tasks++
		}
	}
	return tasks
}

func TestDeferral_ManyFlips_KeepNoTasksWaiting(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{Settings: worldtest.Settings{NoticesPerHour: 1}})
	id, slots := w.Poll()
	if _, err := w.Finalise(id, slots[0]); err != nil {
		t.Fatal(err)
	}
	w.Run(time.Minute)
	heard := len(w.Notices("ana"))
	status := []rules.Status{rules.Cancelled, rules.Finalized}
	for i := range 61 {
		w.Write(poll.Path(id), poll.Set("status", string(status[i%2])), poll.Set("updatedAt", w.Clock.Now()))
		reconciled(t, w, id)
		w.Run(25 * time.Second)
		if tasks := announceTasks(w); tasks > 2 {
			t.Fatalf("after %d flips %d announce tasks wait", i+1, tasks)
		}
	}
	if got := len(w.Notices("ana")) - heard; got > 1 {
		t.Errorf("%d notices within the hour", got)
	}
	w.Run(2 * time.Hour)
	announcement, err := poll.LoadAnnouncement(w.Context(), w.Documents, id)
	if err != nil || !announcement.Due.IsZero() || announcement.Announced.State.Status != rules.Cancelled {
		t.Errorf("in the end people know %+v: %v", announcement.Announced, err)
	}
	equal(t, "tasks in the end", announceTasks(w), 0)
}
