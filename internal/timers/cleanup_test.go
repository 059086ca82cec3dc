package timers

import (
	"context"
	"errors"
	"log/slog"
	"reflect"
	"testing"
	"time"

	"questscheduler/internal/store"
	"questscheduler/internal/test/memorystore"
	"questscheduler/scheduler"
)

// clearing is a cleanup of a row that fails and one that does not.
func clearing() cleanup {
	row := func(what string, err error) Cleaning {
		return Cleaning{What: what, Remove: func(context.Context, store.Store, time.Time, int) (int, bool, error) { return 2, err != nil, err }}
	}
	return cleanup{rows: []Cleaning{row("broken", errors.New("broken")), row("sound", nil)}, now: time.Now, log: slog.New(slog.DiscardHandler)}
}

func TestCleanup_RowThatFails_IsCountedAndLeft(t *testing.T) {
	t.Parallel()
	c := clearing()
	did, err := c.step(t.Context(), Run{})
	if want := (Counts{{"broken", 2}, {"failed", 1}}); err != nil || !reflect.DeepEqual(did.Did, want) || did.Next != "1 sound\n" {
		t.Errorf("%+v, %v", did, err)
	}
	did, err = c.step(t.Context(), Run{At: did.Next})
	if want := (Counts{{"sound", 2}}); err != nil || !reflect.DeepEqual(did.Did, want) || did.Next != "" {
		t.Errorf("%+v, %v", did, err)
	}
}

// A program that ends is no failure of the row, which is gone on with.
func TestCleanup_WhileTheProgramEnds_IsTriedAgain(t *testing.T) {
	t.Parallel()
	ctx, end := context.WithCancel(t.Context())
	end()
	if did, err := clearing().step(ctx, Run{}); err == nil || did.Next != "" {
		t.Errorf("%+v, %v", did, err)
	}
}

func TestCleanup_PlaceOfAnotherTable_BeginsAnew(t *testing.T) {
	t.Parallel()
	c := clearing()
	for place, want := range map[string]int{"1 sound\nx": 1, "1 gone\nx": 0, "2 sound\nx": 0, "-1 sound\nx": 0, "rubbish": 0, "": 0} {
		at, from := c.rowAt(place)
		if wantFrom := map[int]string{1: "x"}[want]; at != want || from != wantFrom {
			t.Errorf("%q is row %d from %q, want %d", place, at, from, want)
		}
	}
}

// Each row is when it is asked what is due, and of what time the run is.
func TestDue_AfterAStart_FromThatVeryMoment(t *testing.T) {
	t.Parallel()
	started := time.Date(2026, 3, 1, 12, 30, 0, 0, time.UTC)
	job := Job{Every: time.Hour, AtStart: true, AfterStart: time.Minute}
	for after, want := range map[time.Duration]time.Time{time.Minute - time.Microsecond: {}, time.Minute: started, time.Hour: started.Add(30 * time.Minute)} {
		if got := job.due(started.Add(after), started); !got.Equal(want) {
			t.Errorf("%s after the start: %s, want %s", after, got, want)
		}
	}
}

// What the scheduler could not hand over fails the drain, whatever follows it.
func TestDrain_ThatFails_SaysSo(t *testing.T) {
	t.Parallel()
	documents, err := memorystore.Open(nil) // it answers no query
	if err != nil {
		t.Fatal(err)
	}
	p := Parts{
		Scheduler: &scheduler.Service{Store: documents, Now: time.Now}, NoSync: true, Log: slog.New(slog.DiscardHandler),
		FollowLinks: func(context.Context, scheduler.Cause) (int, error) { return 0, nil },
	}
	if did, err := p.drain(t.Context(), Run{}); err == nil {
		t.Errorf("%+v", did)
	}
}
