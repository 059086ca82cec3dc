package worldtest_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"questscheduler/internal/test/worldtest"
)

// inTurn continues the operations in turn, by one point each.
func inTurn() func(ready []int) int {
	turn := 0
	return func(ready []int) int { turn++; return ready[turn%len(ready)] }
}

// first runs the first operation that can continue to its end.
func first(ready []int) int { return ready[0] }

func TestAtOnce_Operations_PauseBeforeAndAfterEachCall(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, eventID := w.Finalised()
	var order []string
	sweep := func() { w.Sweep() }
	move := func() { w.MoveEvent("gm", eventID, worldtest.Noon) }
	w.AtOnce(worldtest.Interleaving{
		Next: first,
		Paused: func(operation int, point string) {
			order = append(order, fmt.Sprint(operation, " ", point))
		},
	}, move, sweep)
	// What a person does is no call of the program: it is done in one piece.
	if order[0] != "0 " || order[1] != "1 before store.read" || order[2] != "1 after store.read" || order[len(order)-1] != "1 " {
		t.Errorf("the operations paused at %q", order)
	}
	w.Run(time.Minute)
	if got := w.View(pollID).Poll.Sync.Rescheduled; got == nil {
		t.Errorf("the poll was not rescheduled")
	}
	w.Check()
}

func TestAtOnce_TwoFinalisesInTurn_EndInOneEvent(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, slots := w.Poll()
	finalise := func() {
		if _, err := w.Finalise(pollID, slots[0]); err != nil {
			t.Logf("a finalise was refused: %v", err)
		}
	}
	w.AtOnce(worldtest.Interleaving{Next: inTurn(), Paused: func(int, string) { w.Check() }}, finalise, finalise)
	w.Run(2 * time.Minute)
	w.Check()
	if events := w.Events("gm"); len(events) != 1 {
		t.Errorf("there are %d events", len(events))
	}
}

func TestAtOnce_ProgramDies_NoOperationMakesAnotherCall(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, slots := w.Poll()
	finalise := func() {
		_, err := w.Finalise(pollID, slots[0])
		t.Errorf("the finalise came to an end: %v", err)
	}
	w.Crash("before events.insert")
	passed := 0
	lived, point := w.Survives(func() {
		w.AtOnce(worldtest.Interleaving{Next: inTurn(), Paused: func(int, string) { passed++ }}, finalise, finalise)
	})
	if lived || point != "before events.insert" || passed == 0 {
		t.Errorf("lived: %v; died %s, after %d points", lived, point, passed)
	}
	if calls := w.Calls("events.insert"); calls != 0 {
		t.Errorf("%d calls were made by the dead", calls)
	}
	w.Restart()
	w.Run(2 * time.Minute)
	w.Check()
	if events := w.Events("gm"); len(events) != 1 {
		t.Errorf("there are %d events", len(events))
	}
}

func TestAtOnce_OneOperationDies_OthersContinueAndTaskReturns(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, eventID := w.Finalised()
	w.MoveEvent("gm", eventID, worldtest.Noon)
	for len(w.Wakes.Due(w.Clock.Now())) == 0 {
		if !w.Step() {
			t.Fatal("no sync task was enqueued")
		}
	}
	task := w.Wakes.Due(w.Clock.Now())[0]
	ended := false
	w.Crash("after events.list")
	w.AtOnce(worldtest.Interleaving{Next: first, Died: func(int, string) bool { return false }},
		func() { w.RunTask(task.ID) },
		func() { w.View(pollID); ended = true })
	if !ended {
		t.Error("the other operation did not continue")
	}
	again := w.Wakes.Due(w.Clock.Now())
	if len(again) != 1 || again[0].ID != task.ID {
		t.Errorf("due again: %+v", again)
	}
	w.Run(2 * time.Minute)
	if w.View(pollID).Poll.Sync.Rescheduled == nil {
		t.Error("the move was never applied")
	}
	w.Check()
}

func TestAtOnce_OneOperationWaits_OthersContinue(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, eventID := w.Finalised()
	w.LosePushes()
	w.MoveEvent("gm", eventID, worldtest.Noon)
	w.LosePushes()
	var points []string
	w.AtOnce(worldtest.Interleaving{
		Next:   first,
		Paused: func(operation int, point string) { points = append(points, fmt.Sprint(operation, " ", point)) },
	}, func() {
		view, err := w.Scheduler.Sync(w.Context(), worldtest.Person("gm"), pollID, worldtest.Cause)
		if err != nil || view.Poll.Sync.Rescheduled == nil {
			t.Errorf("the sync saw no move: %+v %v", view.Poll.Sync, err)
		}
	}, func() { w.View(pollID) })
	waits, others := slices.Index(points, "0 waiting"), slices.Index(points, "1 ")
	if waits < 0 || others < waits || points[len(points)-1] != "0 " {
		t.Errorf("the operations paused at %q", points)
	}
}

func TestRunWorkers_RunsTasksAtOnce(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	for range 3 {
		pollID, slots := w.Poll()
		if _, err := w.Finalise(pollID, slots[0]); err != nil {
			t.Fatal(err)
		}
	}
	met := 0
	underWay := map[int]bool{}
	w.RunWorkers(time.Minute, 3, worldtest.Interleaving{Next: inTurn(), Paused: func(operation int, point string) {
		underWay[operation] = point != ""
		if point == "" {
			delete(underWay, operation)
		}
		met = max(met, len(underWay))
		w.Check()
	}})
	if met < 2 {
		t.Errorf("at most %d tasks were under way at once", met)
	}
	w.RunDue()
	w.Check()
}
