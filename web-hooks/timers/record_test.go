package timers

import (
	"slices"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/test/memorystore"
)

// recorded is the record of a job whose first run came to its end at noon.
func recorded(t *testing.T) (timers *Timers, due time.Time) {
	t.Helper()
	documents, err := memorystore.Open(nil)
	if err != nil {
		t.Fatal(err)
	}
	due = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	timers = &Timers{Store: documents, Now: func() time.Time { return due }}
	if _, goesOn, err := timers.begin(t.Context(), "job", Run{Due: due}, due); err != nil || !goesOn {
		t.Fatalf("the first run begins: %t, %v", goesOn, err)
	}
	if _, goesOn, err := timers.advance(t.Context(), "job", Run{Due: due}, Stretch{}); err != nil || goesOn {
		t.Fatalf("the first run goes on: %t, %v", goesOn, err)
	}
	return timers, due
}

func TestRecord_OfANewRun_KeepsWhenOneSucceeded(t *testing.T) {
	t.Parallel()
	timers, due := recorded(t)
	record, goesOn, err := timers.begin(t.Context(), "job", Run{Due: due.Add(time.Hour)}, due)
	if err != nil || !goesOn || !record.SucceededAt.Equal(due) || !record.EndedAt.IsZero() {
		t.Errorf("%+v, goes on %t, %v", record, goesOn, err)
	}
}

func TestRecord_OfAStepThatSucceeds_ForgetsTheFailureBefore(t *testing.T) {
	t.Parallel()
	timers, due := recorded(t)
	next := due.Add(time.Hour)
	if _, _, err := timers.begin(t.Context(), "job", Run{Due: next}, next); err != nil {
		t.Fatal(err)
	}
	if _, err := timers.failed(t.Context(), "job", Run{Due: next}, fault.New(fault.Unavailable, "away")); err != nil {
		t.Fatal(err)
	}
	record, goesOn, err := timers.advance(t.Context(), "job", Run{Due: next}, Stretch{Next: "further"})
	if err != nil || !goesOn || record.Failure != "" || !record.FailedAt.IsZero() || record.At != "further" {
		t.Errorf("%+v, goes on %t, %v", record, goesOn, err)
	}
}

// Another process did the same step first: what this one did of it does not count.
func TestRecord_AdvancedFromWhereItIsNot_Stays(t *testing.T) {
	t.Parallel()
	timers, due := recorded(t)
	next := due.Add(time.Hour)
	if _, _, err := timers.begin(t.Context(), "job", Run{Due: next}, next); err != nil {
		t.Fatal(err)
	}
	step := Stretch{Next: "further", Did: Counts{{"pages", 1}}}
	for i, want := range []bool{true, false} {
		record, goesOn, err := timers.advance(t.Context(), "job", Run{Due: next}, step)
		if err != nil || goesOn != want || !slices.Equal(record.Did, step.Did) {
			t.Errorf("step %d: %+v, goes on %t, %v", i, record, goesOn, err)
		}
	}
}
