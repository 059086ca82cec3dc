package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/outbox"
	"questscheduler/internal/store"
)

// depth is that of the stage's kind.
func (s *stage) depth() outbox.Depth {
	s.Helper()
	depths, err := s.Depths(s.T.Context())
	s.must(err)
	if len(depths) != 1 {
		s.Fatalf("the depths are %+v", depths)
	}
	return depths[0]
}

func TestDepths_CountWhatIsDue(t *testing.T) {
	t.Parallel()
	for name, planned := range map[string]bool{"any kind": false, "a planned one": true} {
		s := newStage(t, func(k *outbox.Kind) { k.Planned = planned })
		s.Add(outbox.Kind{Name: "hint", Unclaimed: true, Handle: func(context.Context, outbox.Item) outbox.Result { return outbox.Done() }})
		if got := s.depth(); got.Kind != "job" || got.Does != "jobs" || got.Due != 0 || !got.Oldest.IsZero() {
			t.Errorf("%s: without entries: %+v", name, got)
		}
		s.record("later", "one", noon.Add(time.Hour))
		if got := s.depth(); got.Due != 0 || !got.Oldest.IsZero() {
			t.Errorf("%s: with one that is not due: %+v", name, got)
		}
		s.record("b", "one", noon)
		s.record("a", "one", noon.Add(-time.Minute))
		if got := s.depth(); got.Due != 2 || !got.Oldest.Equal(noon.Add(-time.Minute)) || len(got.Failing) > 0 {
			t.Errorf("%s: with two that are due: %+v", name, got)
		}
	}
}

// What keeps failing shows until it succeeds, whenever it is tried next.
func TestDepths_ListWhatNeedsAPerson(t *testing.T) {
	t.Parallel()
	s := newStage(t, func(k *outbox.Kind) { k.Retry.Error = 3 })
	s.record("other", "one", noon.Add(time.Hour))
	s.record("a", "one", noon)
	s.answers(outbox.Failed(fault.New(fault.Provider, "The calendar of gm@party.example is gone.")))
	for failures := 1; failures <= 14; failures++ {
		_, err := s.run("a")
		s.must(err)
		got := s.depth().Failing
		if (len(got) == 1) != (failures >= 3) {
			t.Fatalf("after %d failures: %+v", failures, got)
		}
		if len(got) == 1 {
			want := outbox.FailingEntry{
				ID: "job:a", Kind: "job", Error: "provider", Attempts: int64(failures), FailedSince: noon,
				Due: outbox.Fields.Decode(s.document("a")).Due,
			}
			if got[0] != want {
				t.Errorf("it shows as %+v, want %+v", got[0], want)
			}
		}
		s.now = outbox.Fields.Decode(s.document("a")).Due
	}
	s.answers(outbox.Again(s.now.Add(time.Minute)))
	_, err := s.run("a")
	s.must(err)
	if got := s.depth().Failing; len(got) > 0 {
		t.Errorf("after it went on: %+v", got)
	}
}

// A count of runs is no count of failures.
func TestDepths_OfACountedKindThatGoesOn_ListNothing(t *testing.T) {
	t.Parallel()
	s := newStage(t, func(k *outbox.Kind) { k.CountFirst, k.Retry.Error = true, 3 })
	s.record("a", "one", noon)
	s.answers(outbox.Again(noon))
	for range 5 {
		_, err := s.run("a")
		s.must(err)
	}
	s.shows("a", "one due 0s, 5")
	if got := s.depth().Failing; len(got) > 0 {
		t.Errorf("%+v need a person", got)
	}
}

func TestDepths_OfALongBacklog_ReadItsBeginning(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	for i := range outbox.MostCounted + 10 {
		s.record(fmt.Sprintf("j%04d", i), "one", noon.Add(-time.Duration(i)*time.Second))
	}
	if got := s.depth(); got.Due != outbox.MostCounted || !got.Oldest.Equal(noon.Add(-(outbox.MostCounted+9)*time.Second)) {
		t.Errorf("%d are due, since %v", got.Due, got.Oldest)
	}
	s.Store = broken{s.documents}
	if _, err := s.Depths(t.Context()); !errors.Is(err, errRefused) {
		t.Errorf("while the store does not answer: %v", err)
	}
}

// An id may be more than the last part of a path.
func TestDepths_OfAKindWithItsOwnIDs_NameThem(t *testing.T) {
	t.Parallel()
	s := newStage(t, func(k *outbox.Kind) {
		k.Retry.Error = 1
		k.Path = func(id string) store.Path { return jobPath(strings.TrimPrefix(id, "job-")) }
		k.ID = func(doc store.Document) string { return "job-" + doc.Path.ID() }
	})
	s.record("a", "one", noon)
	s.answers(outbox.Failed(errRefused))
	_, err := s.run("job-a")
	s.must(err)
	if got := s.depth().Failing; len(got) != 1 || got[0].ID != "job:job-a" {
		t.Fatalf("it shows as %+v", got)
	}
	s.must(s.Retry(t.Context(), "job:job-a"))
	s.wakes("job job-a")
	_, err = s.Drain(t.Context())
	s.must(err)
	if len(s.woken) != 1 || !strings.HasPrefix(s.woken[0], "job job-a job-a/") {
		t.Errorf("the drain woke %q", s.woken)
	}
}

func TestLastDrain_IsTheLastThatWokeAll(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	if at := s.LastDrain(); !at.IsZero() {
		t.Errorf("before the first: %v", at)
	}
	s.record("a", "one", noon)
	_, err := s.Drain(t.Context())
	s.must(err)
	s.now = noon.Add(time.Minute)
	s.refuses = true
	if _, err := s.Drain(t.Context()); err == nil || !s.LastDrain().Equal(noon) {
		t.Errorf("after one that failed: %v, %v", s.LastDrain(), err)
	}
	s.refuses = false
	_, err = s.Drain(t.Context())
	s.must(err)
	if at := s.LastDrain(); !at.Equal(noon.Add(time.Minute)) {
		t.Errorf("after one that did not: %v", at)
	}
}

func TestRetry_OfAnEntryThatWaits_WakesItNow(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(k *outbox.Kind){
		"claimed":   nil,
		"unclaimed": func(k *outbox.Kind) { k.Unclaimed, k.Codec = true, outbox.DueAt("due", "trace") },
	} {
		s := newStage(t, change)
		s.record("a", "one", noon.Add(time.Hour))
		s.must(s.Retry(t.Context(), "job:a"))
		s.wakes("job a")
		s.shows("a", "one due 0s, 0")
		if doc := s.document("a"); doc.Data["owner"] != "ana" {
			t.Errorf("%s: the document is now %v", name, doc.Data)
		}
		if err := s.Retry(t.Context(), "job:a"); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: once more: %v", name, err)
		}
		s.wakes()
		s.record("a", "one", noon.Add(time.Hour))
		s.refuses = true // the drain finds it
		s.must(s.Retry(t.Context(), "job:a"))
		s.shows("a", "one due 0s, 0")
	}
}

func TestRetry_OfAnIDThatIsNone_IsNotFound(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	s.Add(outbox.Kind{Name: "hint", Unclaimed: true, Handle: func(context.Context, outbox.Item) outbox.Result { return outbox.Done() }})
	s.record("due", "one", noon)
	s.record("over", "one", noon)
	s.must(s.documents.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
		return tx.Update(jobPath("over"), store.Set("due", nil))
	}))
	for _, id := range []string{
		"", "job", "job:", "job:missing", "job:due", "job:over", "job:a/b", "job:..", "hint:a", "other:a", "a:job",
		"job:" + strings.Repeat("i", 2000),
	} {
		if err := s.Retry(t.Context(), id); !fault.Is(err, fault.NotFound) {
			t.Errorf("%.20q: %v", id, err)
		}
	}
	s.wakes()
}

// What the settings have rest is due for as long as they say, and no alarm.
func TestDepths_OfAKindThatRests_CountNothing(t *testing.T) {
	t.Parallel()
	for mode, due := range map[outbox.Mode]int{outbox.Works: 1, outbox.Observes: 0, outbox.Rests: 0} {
		s := newStage(t, func(k *outbox.Kind) { k.Mode = func() outbox.Mode { return mode } })
		s.record("a", "one", noon.Add(-time.Hour))
		depths, err := s.Depths(t.Context())
		s.must(err)
		if depths[0].Due != due || depths[0].Oldest.IsZero() != (due == 0) {
			t.Errorf("mode %d: %+v", mode, depths[0])
		}
	}
}
