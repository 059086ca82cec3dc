package scheduler_test

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// An observer journals what a Service would do, once, and leaves the poll and its event as they are.
func TestObserver_JournalsWhatWouldBeDone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		observe    func(o *scheduler.ObservedEvent)
		decision   rules.Action
		journaled  bool
		unsearched bool
	}{
		"a move": {func(o *scheduler.ObservedEvent) {
			o.Fingerprint = rules.Timed(worldtest.Noon.Start, worldtest.Noon.End)
		}, rules.Reschedule, true, false},
		"no change": {func(*scheduler.ObservedEvent) {}, rules.Nothing, false, false},
		"a deletion that is searched for": {func(o *scheduler.ObservedEvent) {
			o.EventState, o.Searched = rules.Gone, true
		}, rules.Cancel, true, false},
		"a deletion that is not": {func(o *scheduler.ObservedEvent) { o.EventState = rules.Gone }, rules.Cancel, false, true},
		"another calendar": {func(o *scheduler.ObservedEvent) {
			o.EventState, o.Searched, o.MovedTo = rules.Gone, true, poll.Place{AccountID: o.AccountID, CalendarID: worldtest.ClubCalendar}
		}, rules.MoveCalendar, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			s := finalised(w)
			w.Run(time.Minute)
			observer := scheduler.Observer{Service: w.Scheduler}
			seen := observed(w, s, worldtest.Ten)
			c.observe(&seen)
			before, lines := w.Document(poll.Path(s.poll)), len(w.Journal(s.poll))
			for range 2 { // the second writes nothing
				applied, err := observer.Apply(t.Context(), seen)
				if err != nil {
					t.Fatal(err)
				}
				equal(t, "poll", applied.PollID, s.poll)
				equal(t, "decision", applied.Decision.Action, c.decision)
				equal(t, "unsearched", applied.Unsearched, c.unsearched)
			}
			journal := w.Journal(s.poll)
			equal(t, "lines", len(journal)-lines, map[bool]int{true: 1}[c.journaled])
			for _, line := range journal {
				if line.Observed {
					equal(t, "decision that is journaled", line.Decision, c.decision)
					equal(t, "of whom", line.CreatorID, "gm")
					equal(t, "by what", line.Trigger+" "+line.Trace, "push push")
					equal(t, "the time that was", line.Before, rules.Timed(worldtest.Ten.Start, worldtest.Ten.End))
					equal(t, "the time that is seen", line.After, seen.Fingerprint)
					equal(t, "as of", line.Updated, seen.Updated)
					equal(t, "the run", line.Fence, seen.Fence)
					equal(t, "at", line.At, w.Clock.Now())
				}
			}
			equal(t, "the poll is unchanged", reflect.DeepEqual(w.Document(poll.Path(s.poll)), before), true)
			other := seen
			other.Updated = seen.Updated.Add(time.Second)
			if _, err := observer.Apply(t.Context(), other); err != nil {
				t.Fatal(err)
			}
			equal(t, "lines of a later change", len(w.Journal(s.poll))-lines, map[bool]int{true: 2}[c.journaled])
		})
	}
}

// An event of nobody's, and that of a poll that is gone, is none of its business, nor is a run
// that was overtaken.
func TestObserver_OfWhatIsNotItsOwn_WritesNothing(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s, deleted := finalised(w), deletedDirectly(w)
	observer := scheduler.Observer{Service: w.Scheduler}
	unknown := observed(w, s, worldtest.Noon)
	unknown.EventID = "unknown"
	for name, seen := range map[string]scheduler.ObservedEvent{
		"an unknown event": unknown, "a poll that is gone": observed(w, deleted, worldtest.Noon),
	} {
		applied, err := observer.Apply(t.Context(), seen)
		if err != nil || applied != (scheduler.Applied{}) {
			t.Errorf("%s: %+v, %v", name, applied, err)
		}
	}
	overtaken := observed(w, s, worldtest.Noon)
	overtaken.Fence--
	lines := len(w.Journal(s.poll))
	if _, err := observer.Apply(t.Context(), overtaken); !errors.Is(err, scheduler.ErrFenced) {
		t.Errorf("a run that was overtaken: %v", err)
	}
	for _, err := range []error{
		observer.SetSyncError(t.Context(), s.poll, rules.TokenExpired, worldtest.Cause, nil),
		observer.ClearSyncError(t.Context(), s.poll, rules.TokenExpired, worldtest.Cause, nil),
	} {
		equal(t, "errors", err, nil)
	}
	repair, err := observer.Reconcile(t.Context(), deleted.poll, worldtest.Cause)
	equal(t, "repair", repair, rules.RepairNothing)
	equal(t, "error of a repair", err, nil)
	equal(t, "lines", len(w.Journal(s.poll)), lines)
	equal(t, "the poll shows an error", w.View(s.poll).Poll.Sync.Error != nil, false)
}
