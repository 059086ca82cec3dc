package timers_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/outbox"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
	"questscheduler/web-hooks/timers"
)

// searching is a job of many steps, of which some find something to do.
type searching struct {
	*worldtest.World
	finds map[int]bool // by the number of the step
	fails map[int]bool // once each
	waits map[int]bool // until its time is over, and fails
	late  map[int]bool // ends after its time is over
	steps []string     // where each began
	each  func(step int)
}

// tenSteps is a world whose only job takes ten steps.
func tenSteps(t *testing.T, finds ...int) *searching {
	t.Helper()
	s := &searching{World: worldtest.New(t, worldtest.Options{}), finds: map[int]bool{}, each: func(int) {}}
	s.fails, s.waits = map[int]bool{}, map[int]bool{}
	for _, step := range finds {
		s.finds[step] = true
	}
	s.table()
	return s
}

func (s *searching) table() {
	s.Timers.Jobs = []timers.Job{{Name: "search", Every: time.Hour, Step: s.step}}
}

func (s *searching) step(ctx context.Context, run timers.Run) (timers.Stretch, error) {
	number := len(run.At) + 1
	if s.waits[number] {
		<-ctx.Done()
		return timers.Stretch{}, fault.Wrap(fault.Unavailable, ctx.Err(), "it was not waited for")
	}
	if s.fails[number] {
		s.fails[number] = false
		return timers.Stretch{}, fault.New(fault.Unavailable, "it does not answer")
	}
	if s.late[number] {
		<-ctx.Done()
	}
	s.steps = append(s.steps, run.At)
	s.each(number)
	did := timers.Counts{{What: "found", N: 0}}
	if s.finds[number] {
		did[0].N = 1
	}
	if number == 10 {
		return timers.Stretch{Did: did}, nil
	}
	return timers.Stretch{Next: run.At + "x", Did: did}, nil
}

// commits counts the transactions that end while do runs.
func (s *searching) commits(do func()) (count int) {
	var next func()
	next = func() { count++; s.On("after store.run", next) }
	s.On("after store.run", next)
	do()
	s.On("after store.run", func() {})
	return count
}

func TestARun_ThatFindsNothing_IsRecordedAtItsBeginningAndItsEnd(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		finds []int
		want  int
	}{
		"nothing":            {nil, 2},
		"in one step":        {[]int{4}, 3},
		"in the last":        {[]int{10}, 2},
		"in each but two":    {[]int{1, 2, 3, 5, 6, 8, 9, 10}, 9},
		"in two neighbours ": {[]int{6, 7}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := tenSteps(t, row.finds...)
			must(t, s.AskTimers())
			same(t, "transactions", s.commits(s.RunDue), row.want)
			same(t, "steps", len(s.steps), 10)
			r := record(t, s.World, "search")
			same(t, "found", r.Did, timers.Counts{{What: "found", N: len(row.finds)}})
			same(t, "it ended", r.EndedAt.IsZero(), false)
		})
	}
}

// A stretch of a run is a few seconds, after which it lets others work.
func TestARun_ThatRests_GoesOnWhereItRested(t *testing.T) {
	t.Parallel()
	s := tenSteps(t)
	s.each = func(step int) {
		switch step {
		case 4:
			must(t, s.Clock.Advance(6*time.Second))
		case 5:
			same(t, "where it rested", record(t, s.World, "search").At, "xxxx")
		}
	}
	must(t, s.AskTimers())
	s.RunDue()
	s.Run(time.Minute)
	same(t, "steps", len(s.steps), 10)
	same(t, "it ended", record(t, s.World, "search").EndedAt.IsZero(), false)
}

func TestAStep_ThatFails_IsRepeated_AndNotThoseBeforeIt(t *testing.T) {
	t.Parallel()
	s := tenSteps(t)
	s.fails[7] = true
	must(t, s.AskTimers())
	s.RunDue()
	r := record(t, s.World, "search")
	same(t, "where it failed", r.At, "xxxxxx")
	same(t, "failures", r.Failures, int64(1))
	s.Run(20 * time.Minute)
	same(t, "steps that succeeded", len(s.steps), 10)
	r = record(t, s.World, "search")
	same(t, "failures at its end", r.Failures, int64(0))
	same(t, "it ended", r.EndedAt.IsZero(), false)
}

// Another process was quicker: its record stays, and it meets whatever fails.
func TestARun_WhoseStepsAnotherRecorded_LeavesTheRestToIt(t *testing.T) {
	t.Parallel()
	for name, fails := range map[string]bool{"and finds something": false, "and fails": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := tenSteps(t, 2, 5)
			s.each = func(step int) {
				if step != 4 {
					return
				}
				s.each = func(int) {}
				again, err := s.Outbox.Run(t.Context(), timers.Kind, "search")
				must(t, err)
				same(t, "the other goes on", again.IsZero(), true)
				s.fails[5] = fails
			}
			must(t, s.AskTimers())
			s.RunDue()
			r := record(t, s.World, "search")
			same(t, "found", r.Did, timers.Counts{{What: "found", N: 2}})
			same(t, "failures", r.Failures, int64(0))
			same(t, "failures logged", strings.Contains(s.Log(), "it does not answer"), false)
			same(t, "it ended", r.EndedAt.IsZero(), false)
			same(t, "wakes left", len(s.Wakes.Due(s.Clock.Now())), 0)
		})
	}
}

// Without a record of the failure the step would be repeated for ever, and keep its job from all
// that follows.
func TestAStep_ThatOutlastsItsRun_IsLeftToItsNextPeriod(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // its clock moves by the waiting of the step
		s := tenSteps(t)
		s.waits[3] = true
		must(t, s.AskTimers())
		s.RunDue()
		r := record(t, s.World, "search")
		same(t, "where it failed", r.At, "xx")
		same(t, "failures", r.Failures, int64(1))
		s.Run(20 * time.Minute)
		r = record(t, s.World, "search")
		same(t, "failures in its period", r.Failures, int64(4))
		same(t, "it is not due", r.RunAt.IsZero(), true)
		same(t, "that is logged", strings.Contains(s.Log(), "left to its next period"), true)
		s.waits[3] = false
		s.Skip(time.Hour)
		must(t, s.AskTimers())
		s.RunDue()
		r = record(t, s.World, "search")
		same(t, "failures in the next", r.Failures, int64(0))
		same(t, "it ended", r.EndedAt.IsZero(), false)
	})
}

// What took all the time and is passed, as a calendar that failed, is not taken again.
func TestAStep_ThatEndsAfterItsTime_IsRecorded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := tenSteps(t, 3)
		s.late = map[int]bool{3: true}
		s.each = func(step int) {
			if step == 3 {
				must(t, s.Clock.Advance(outbox.RunTimeout))
			}
		}
		must(t, s.AskTimers())
		s.RunDue()
		r := record(t, s.World, "search")
		same(t, "found", r.Did, timers.Counts{{What: "found", N: 1}})
		same(t, "failures logged", strings.Contains(s.Log(), "failed"), false)
		s.Run(time.Minute)
		same(t, "steps", len(s.steps), 10)
		same(t, "it ended", record(t, s.World, "search").EndedAt.IsZero(), false)
	})
}

// The end of the program is no failure of the step, which is due still.
func TestAStep_ThatTheProgramsEndCutsOff_IsNoFailure(t *testing.T) {
	t.Parallel()
	s := tenSteps(t)
	ctx, end := context.WithCancel(t.Context())
	s.waits[3] = true
	s.each = func(step int) {
		if step == 2 {
			end()
		}
	}
	_, err := s.Outbox.Run(ctx, timers.Kind, "search")
	r := record(t, s.World, "search")
	same(t, "the run is cut off", err != nil, true)
	same(t, "failures", r.Failures, int64(0))
	same(t, "it is due", r.RunAt.IsZero(), false)
}

// A clock that was ahead once keeps no job from its runs after it was set back.
func TestAJob_WhoseRecordIsOfTheFuture_RunsInItsPeriod(t *testing.T) {
	t.Parallel()
	s := tenSteps(t)
	must(t, s.Clock.Advance(time.Minute))
	ahead := s.Clock.Now().Add(9 * time.Hour)
	s.Write(store.Doc("timers", "search"), store.Set("due", ahead), store.Set("startedAt", ahead), store.Set("endedAt", ahead),
		store.Set("succeededAt", ahead))
	must(t, s.AskTimers())
	s.Run(time.Minute)
	r := record(t, s.World, "search")
	same(t, "steps", len(s.steps), 10)
	same(t, "its run is due by now", r.Due.After(s.Clock.Now()), false)
	must(t, s.AskTimers())
	s.Run(time.Minute)
	same(t, "steps, asked again", len(s.steps), 10)
}
