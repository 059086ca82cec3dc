package scheduler_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// tally writes down the events that it counts.
type tally struct{ events []string }

func (c *tally) note(format string, args ...any) {
	c.events = append(c.events, fmt.Sprintf(format, args...))
}

// count is a meter.Meter.
func (c *tally) count(event any) {
	switch event := event.(type) {
	case scheduler.Transition:
		c.note("transition %s", event.Action)
	case scheduler.Behind:
		c.note("%s behind, known: %t", event.Action, event.Late >= 0 && event.Late < time.Hour)
	case scheduler.Commanded:
		c.note("command %s", event.Command)
	case scheduler.SyncError:
		c.note("error %s", event.Code)
	case scheduler.Repaired:
		c.note("repaired %s", event.Repair)
	}
}

func (c *tally) want(t *testing.T, when string, want ...string) {
	t.Helper()
	if !slices.Equal(c.events, want) {
		t.Errorf("%s it counts %q, want %q", when, c.events, want)
	}
	c.events = nil
}

// Each transition is counted once, and stands in the log with whose poll it is
// and what caused it.
func TestEachTransition_IsCounted_AndLoggedWithItsPerson(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	count := &tally{}
	w.Scheduler.Meter = count.count
	pollID, _, event := w.Finalised()
	w.Run(time.Minute)
	count.want(t, "when a poll is finalised", "command finalise")
	w.MoveEvent("gm", event, worldtest.Noon)
	w.Run(time.Minute)
	count.want(t, "when its event is moved", "transition reschedule", "reschedule behind, known: true")
	w.MoveEvent("gm", event, worldtest.Three)
	w.Run(time.Minute)
	count.want(t, "when it is moved again", "transition reschedule_again", "reschedule_again behind, known: true")
	w.MoveEvent("gm", event, worldtest.Times("2026-03-10T10:00:00Z", time.Hour))
	w.Run(time.Minute)
	count.want(t, "when it is moved back", "transition restore", "restore behind, known: true")

	cause := scheduler.Cause{Trigger: "sweep", Trace: "trc_sweep"}
	for range 2 { // the second changes nothing
		if err := w.Scheduler.SetSyncError(t.Context(), pollID, rules.WatchFailed, cause, nil); err != nil {
			t.Fatal(err)
		}
	}
	count.want(t, "when its watch fails", "error watch_failed")
	if err := w.Scheduler.ClearSyncError(t.Context(), pollID, rules.WatchFailed, cause, nil); err != nil {
		t.Fatal(err)
	}
	w.DeleteEvent("gm", event)
	w.Run(time.Minute)
	count.want(t, "when it is deleted", "transition cancel") // Google need not say when

	lines := 0
	for line := range strings.Lines(w.Log()) {
		if !strings.Contains(line, `msg="poll `) {
			continue
		}
		lines++
		for _, field := range []string{"poll=" + pollID, "user_id=gm", "trace=", "hint="} {
			if !strings.Contains(line, field) {
				t.Errorf("a transition's line has no %s: %s", field, line)
			}
		}
	}
	if lines != 7 { // finalise, reschedule, again, restore, warn, clear_error, cancel
		t.Errorf("%d lines tell of seven transitions:\n%s", lines, w.Log())
	}
}

func TestDeletingTheEvent_IsCounted(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, _ := w.Finalised()
	count := &tally{}
	w.Scheduler.Meter = count.count
	if _, err := w.Scheduler.DeleteEvent(t.Context(), worldtest.Person("gm"), pollID, worldtest.Cause); err != nil {
		t.Fatal(err)
	}
	count.want(t, "when the web app deletes its event", "command delete_event")
}

// A direct edit of a poll's document is a transition too.
func TestADirectEdit_IsCounted_AndLoggedWithItsPerson(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, _ := w.Finalised()
	count := &tally{}
	w.Scheduler.Meter = count.count
	w.Edit(poll.Path(pollID), poll.Set("status", string(rules.Open)))
	if _, err := w.Scheduler.Reconcile(t.Context(), pollID, scheduler.Cause{Trigger: "sweep", Trace: "trc_sweep"}); err != nil {
		t.Fatal(err)
	}
	count.want(t, "when a poll is reopened directly", "repaired outside_reopen")
	if _, err := w.Scheduler.Reconcile(t.Context(), pollID, scheduler.Cause{Trigger: "sweep", Trace: "trc_sweep"}); err != nil {
		t.Fatal(err)
	}
	count.want(t, "when there is nothing to repair")
	if want := `msg="direct edit repaired" poll=` + pollID + " user_id=gm"; !strings.Contains(w.Log(), want) {
		t.Errorf("the log lacks %q:\n%s", want, w.Log())
	}
}

// A person's own command is not late, whenever the event was changed.
func TestRestoreOriginal_IsCounted_AsACommandOfItsOwn(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := moved(w)
	count := &tally{}
	w.Scheduler.Meter = count.count
	if _, err := w.Scheduler.RestoreOriginal(t.Context(), gm, s.poll, worldtest.Cause); err != nil {
		t.Fatal(err)
	}
	count.want(t, "when a person restores it", "transition restore", "command restore_original_time")
	for _, entry := range w.Journal(s.poll) {
		equal(t, "trigger in the journal", entry.Trigger != "", true)
	}
}

// A line of the log says which poll failed, and in what.
func TestCommand_Error_NamesPollAndVerb(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	_, err := w.Scheduler.Archive(t.Context(), gm, "none", worldtest.Cause)
	if err == nil || !strings.HasPrefix(err.Error(), "poll none: archive: ") {
		t.Errorf("got %v", err)
	}
}
