package timers_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
	"questscheduler/web-hooks/timers"
)

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// runs counts how often a job ran, in a table of its own.
type runs struct {
	*worldtest.World
	done  []timers.Run
	fail  int
	pages int
}

// counted is a world whose only job counts its runs.
func counted(t *testing.T, every, offset time.Duration) *runs {
	t.Helper()
	r := &runs{World: worldtest.New(t, worldtest.Options{}), pages: 1}
	r.Timers.Jobs = []timers.Job{{Name: "count", Every: every, Offset: offset, Step: r.step}}
	return r
}

// step is a page of the job; the run has as many as pages says.
func (r *runs) step(_ context.Context, run timers.Run) (timers.Stretch, error) {
	if r.fail > 0 {
		r.fail--
		return timers.Stretch{}, fault.New(fault.Unavailable, "it does not answer")
	}
	r.done = append(r.done, run)
	did := timers.Stretch{Did: timers.Counts{{What: "pages", N: 1}}}
	if len(run.At)+1 < r.pages {
		did.Next = run.At + "x"
	}
	return did, nil
}

func (r *runs) tick(t *testing.T) {
	t.Helper()
	must(t, r.AskTimers())
	r.RunDue()
}

func TestTick_RunsAJobOnceInEachPeriod(t *testing.T) {
	t.Parallel()
	r := counted(t, 6*time.Hour, 0)
	for range 2 * 24 * 60 {
		r.tick(t)
		r.Skip(time.Minute)
	}
	// Two days from 9:00 on: the period of 6:00 at once, then at 12, 18, 0 and 6.
	same(t, "runs", len(r.done), 9)
	same(t, "the first is for", r.done[0].Due, time.Date(2026, 3, 1, 6, 0, 0, 0, time.UTC))
	same(t, "the last is for", r.done[8].Due, time.Date(2026, 3, 3, 6, 0, 0, 0, time.UTC))
}

func TestTick_CatchesUpOnce_HoweverMuchWasMissed(t *testing.T) {
	t.Parallel()
	r := counted(t, time.Hour, 30*time.Minute)
	r.tick(t)
	r.Skip(10*time.Hour + 20*time.Minute)
	r.TakeOver() // another process, which knows what is stored
	r.Timers.Jobs = []timers.Job{{Name: "count", Every: time.Hour, Offset: 30 * time.Minute, Step: r.step}}
	r.tick(t)
	r.tick(t)
	same(t, "runs", len(r.done), 2)
	same(t, "the second is for", r.done[1].Due, time.Date(2026, 3, 1, 18, 30, 0, 0, time.UTC))
	r.Skip(10 * time.Minute) // the next period
	r.tick(t)
	same(t, "runs", len(r.done), 3)
}

func TestARun_GoesOnWhereItWas(t *testing.T) {
	t.Parallel()
	for _, point := range []string{"before store.run", "after store.run"} {
		t.Run("dead "+point, func(t *testing.T) {
			t.Parallel()
			r := counted(t, time.Hour, 0)
			r.pages = 5
			must(t, r.AskTimers())
			// Each step is one write behind it; the third is where it dies.
			r.On(point, func() { r.On(point, func() { r.On(point, func() { r.Crash(point) }) }) })
			if lived, _ := r.Survives(r.RunDue); lived {
				t.Fatal("it lived")
			}
			before := len(r.done)
			r.TakeOver()
			r.Timers.Jobs = []timers.Job{{Name: "count", Every: time.Hour, Step: r.step}}
			r.RunDue()
			if before < 2 || len(r.done) > 6 {
				t.Errorf("%d steps before it died, %d in all", before, len(r.done))
			}
			records, err := r.Timers.Records(t.Context())
			must(t, err)
			same(t, "pages counted", records[0].Did, timers.Counts{{What: "pages", N: 5}})
			same(t, "it ended", records[0].EndedAt.IsZero(), false)
		})
	}
}

func TestStep_ThatFails_IsRepeatedThriceInItsPeriod(t *testing.T) {
	t.Parallel()
	r := counted(t, time.Hour, 0)
	r.fail = 4
	must(t, r.AskTimers())
	r.Run(20 * time.Minute)
	same(t, "tries that are left to fail", r.fail, 0)
	same(t, "runs", len(r.done), 0)
	records, err := r.Timers.Records(t.Context())
	must(t, err)
	same(t, "failure", records[0].Failure, fault.Unavailable.String())
	if !strings.Contains(r.Log(), "left to its next period") {
		t.Error("nothing is logged")
	}
	r.tick(t)
	same(t, "runs in the same period", len(r.done), 0)
	r.Skip(time.Hour)
	r.tick(t)
	same(t, "runs in the next", len(r.done), 1)
	records, err = r.Timers.Records(t.Context())
	must(t, err)
	same(t, "failure after a good run", records[0].Failure, "")
}

func TestARun_TakesTheOlderOnesPlace(t *testing.T) {
	t.Parallel()
	r := counted(t, time.Hour, 0)
	r.pages = 3
	must(t, r.AskTimers())
	r.On("before store.run", func() {}) // the older one begins
	r.Skip(time.Minute)
	did, err := r.Timers.RunNow(t.Context(), "count", nil)
	must(t, err)
	same(t, "pages of the newer", did, timers.Counts{{What: "pages", N: 3}})
	r.RunDue() // the older one finds itself replaced
	same(t, "steps in all", len(r.done), 3)
	r.tick(t)
	same(t, "steps once the period's was done by hand", len(r.done), 3)
}

func TestTwoAtOnce_AreOneRun(t *testing.T) {
	t.Parallel()
	r := counted(t, time.Hour, 0)
	r.pages = 3
	must(t, r.AskTimers())
	// While the first is between two steps, the same task is run by another.
	r.On("before store.run", func() {
		r.On("before store.run", func() {
			again, err := r.Outbox.Run(t.Context(), timers.Kind, "count")
			must(t, err)
			same(t, "the other goes on", again.IsZero(), true)
		})
	})
	r.RunDue()
	records, err := r.Timers.Records(t.Context())
	must(t, err)
	same(t, "it ended", records[0].EndedAt.IsZero(), false)
	same(t, "pages counted", records[0].Did, timers.Counts{{What: "pages", N: 3}})
	same(t, "wakes left", len(r.Wakes.Due(r.Clock.Now())), 0)
}

func TestRunNow_ThatFails_SaysWhereAndKeepsWhatWasDone(t *testing.T) {
	t.Parallel()
	r := counted(t, time.Hour, 0)
	r.fail = 1
	_, err := r.Timers.RunNow(t.Context(), "count", nil)
	if !fault.Is(err, fault.Unavailable) || !strings.HasPrefix(err.Error(), "count: ") {
		t.Errorf("got %v", err)
	}
	_, err = r.Timers.RunNow(t.Context(), "no-such-job", nil)
	if !fault.Is(err, fault.NotFound) {
		t.Errorf("got %v", err)
	}
	must(t, errors.Join(r.Timers.HandOver(t.Context(), "count")))
	if err := r.Timers.HandOver(t.Context(), "no-such-job"); !fault.Is(err, fault.NotFound) {
		t.Errorf("got %v", err)
	}
}

func TestARun_OfNoJob_Ends(t *testing.T) {
	t.Parallel()
	r := counted(t, time.Hour, 0)
	for _, id := range []string{"abolished", "a/b", ""} {
		again, err := r.Outbox.Run(t.Context(), timers.Kind, id)
		must(t, err)
		same(t, id, again.IsZero(), true)
	}
}

func record(t *testing.T, w *worldtest.World, job string) timers.Record {
	t.Helper()
	records, err := w.Timers.Records(t.Context())
	must(t, err)
	for _, r := range records {
		if r.Job == job {
			return r
		}
	}
	t.Fatalf("no record of %s", job)
	return timers.Record{}
}

// write puts documents of a test's own into the store.
func write(t *testing.T, w *worldtest.World, do func(tx store.Tx) error) {
	t.Helper()
	must(t, w.Documents.Run(t.Context(), func(_ context.Context, tx store.Tx) error { return do(tx) }))
}

// A start has its jobs run once, though they may be due by the clock as well.
func TestTick_AfterAStart_RunsWhateverTheLastRun_AndOnce(t *testing.T) {
	t.Parallel()
	r := counted(t, time.Hour, 0)
	r.Timers.Jobs[0].AtStart, r.Timers.Jobs[0].AfterStart = true, 30*time.Second
	for n := range 3 { // three starts within an hour
		r.Skip(time.Minute)
		r.Timers.Started = r.Clock.Now()
		r.tick(t)
		same(t, "runs before it is time", len(r.done), n)
		r.Skip(time.Minute)
		r.tick(t)
		r.tick(t)
		same(t, "runs", len(r.done), n+1)
	}
	r.Skip(time.Hour)
	r.tick(t)
	same(t, "runs in the next period", len(r.done), 4)
}
