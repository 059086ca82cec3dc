package timers

import (
	"context"
	"errors"
	"log/slog"
	"reflect"
	"testing"
	"time"

	"questscheduler/internal/outbox"
	"questscheduler/internal/store"
	"questscheduler/internal/test/memorystore"
	"questscheduler/scheduler"
)

// clearing is a cleanup of a row that fails and one that does not, beside those of
// every deployment, which are left out.
func clearing() Step {
	row := func(what string, err error) Cleaning {
		return Cleaning{What: what, Remove: func(context.Context, store.Store, time.Time, int) (int, bool, error) { return 2, err != nil, err }}
	}
	p := Parts{Cleaning: []Cleaning{row("broken", errors.New("broken")), row("sound", nil)}, Now: time.Now, Log: slog.New(slog.DiscardHandler)}
	return inTurn(p.cleanup()[len(cleanings):])
}

func TestCleanup_RowThatFails_IsCountedAndLeft(t *testing.T) {
	t.Parallel()
	step := clearing()
	did, err := step(t.Context(), Run{})
	if want := (Stretch{Part: "sound", Did: Counts{{"broken", 2}, {"failed", 1}}}); err != nil || !reflect.DeepEqual(did, want) {
		t.Errorf("%+v, %v", did, err)
	}
	did, err = step(t.Context(), Run{Part: did.Part, At: did.Next})
	if want := (Stretch{Did: Counts{{"sound", 2}}}); err != nil || !reflect.DeepEqual(did, want) {
		t.Errorf("%+v, %v", did, err)
	}
}

// The end of the program is no failure of the row, which is tried again.
func TestCleanup_WhileTheProgramEnds_IsTriedAgain(t *testing.T) {
	t.Parallel()
	ctx, end := context.WithCancel(t.Context())
	end()
	if did, err := clearing()(ctx, Run{}); err == nil || did.Next != "" {
		t.Errorf("%+v, %v", did, err)
	}
}

// A row that takes all the time of its run would otherwise keep the others from theirs for ever.
func TestCleanup_RowThatOutlastsItsRun_IsCountedAndLeft(t *testing.T) {
	t.Parallel()
	ctx, end := context.WithTimeout(t.Context(), 0)
	defer end()
	step := clearing()
	did, err := step(ctx, Run{})
	if want := (Stretch{Part: "sound", Did: Counts{{"broken", 2}, {"failed", 1}}}); err != nil || !reflect.DeepEqual(did, want) {
		t.Errorf("%+v, %v", did, err)
	}
	did, err = step(t.Context(), Run{Part: did.Part, At: did.Next})
	if want := (Stretch{Did: Counts{{"sound", 2}}}); err != nil || !reflect.DeepEqual(did, want) {
		t.Errorf("%+v, %v", did, err)
	}
}

// Each row is a place that a record may hold, and where the next step begins. An
// earlier program kept the places of the cleanup and the sweep in At alone.
func TestCleanup_PlaceOfAnotherTable_BeginsAnew(t *testing.T) {
	t.Parallel()
	var name, at string
	place := func(of string) Step {
		return func(_ context.Context, run Run) (Stretch, error) {
			name, at = of, run.At
			return Stretch{}, nil
		}
	}
	step := inTurn([]part{{"first", place("first")}, {"sound", place("sound")}})
	for stored, want := range map[[2]string][2]string{
		{"sound", "x"}: {"sound", "x"}, {"gone", "x"}: {"first", ""}, {"", "1 sound\nx"}: {"first", ""},
		{"", "accounts"}: {"first", ""}, {"", "cards x"}: {"first", ""}, {"", ""}: {"first", ""},
	} {
		if _, err := step(t.Context(), Run{Part: stored[0], At: stored[1]}); err != nil || name != want[0] || at != want[1] {
			t.Errorf("%q begins at %q of %q, want %q: %v", stored, at, name, want, err)
		}
	}
}

// Each row is when it is asked what is due, and of what time the run is.
func TestDue_AfterAStart_FromThatVeryMoment(t *testing.T) {
	t.Parallel()
	started := time.Date(2026, 3, 1, 12, 30, 0, 0, time.UTC)
	job := Job{Every: time.Hour, AtStart: true, AfterStart: time.Minute}
	for after, want := range map[time.Duration]time.Time{
		time.Minute - time.Microsecond: {}, time.Minute: started, time.Hour: started.Add(30 * time.Minute),
		-9 * time.Hour: started.Truncate(time.Hour).Add(-9 * time.Hour), // the clock was ahead when it started
	} {
		if got := job.due(started.Add(after), started); !got.Equal(want) {
			t.Errorf("%s after the start: %s, want %s", after, got, want)
		}
	}
}

// What could not be woken fails the drain, whatever follows it.
func TestDrain_ThatFails_SaysSo(t *testing.T) {
	t.Parallel()
	documents, err := memorystore.Open(nil) // it answers no query
	if err != nil {
		t.Fatal(err)
	}
	p := Timers{Outbox: &outbox.Outbox{Store: documents, Now: time.Now, Log: slog.New(slog.DiscardHandler)}}
	p.Outbox.Add((&scheduler.Service{}).Intents())
	if did, err := p.RunNow(t.Context(), Drain, nil); err == nil {
		t.Errorf("%+v", did)
	}
}
