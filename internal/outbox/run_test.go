package outbox_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/outbox"
	"questscheduler/internal/store"
)

var errRefused = fault.New(fault.Unavailable, "Discord did not answer.")

func TestRun_ARow_IsRecorded(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		result outbox.Result
		keeps  bool // the document is more than the work
		counts bool
		want   string
		again  time.Duration
	}{
		"done":                    {result: outbox.Done(), want: "gone"},
		"done, of more than work": {result: outbox.Done(), keeps: true, want: "one due never, 0"},
		"done, of a counted kind": {result: outbox.Done(), keeps: true, counts: true, want: "one due never, 1"},
		"goes on soon":            {result: outbox.Again(noon.Add(time.Second)), want: "one due 1s, 0", again: time.Second},
		"goes on at the drain's":  {result: outbox.Again(noon.Add(time.Hour)), want: "one due 1h0m0s, 0"},
		"failed":                  {result: outbox.Failed(errRefused), want: "one due 10s, 1 unavailable", again: 10 * time.Second},
		"failed, of a counted one": {
			result: outbox.Failed(errRefused), counts: true, want: "one due 10s, 1 unavailable", again: 10 * time.Second,
		},
		"without a reason": {result: outbox.Result{}, want: "one due 10s, 1 internal", again: 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, func(k *outbox.Kind) { k.Remove, k.CountFirst = !row.keeps, row.counts })
			s.record("a", "one", noon)
			s.answers(row.result)
			if again, err := s.run("a"); err != nil || again != row.again {
				t.Errorf("again after %v, %v", again, err)
			}
			s.shows("a", row.want)
		})
	}
}

func TestRun_WithUpdates_WritesThemWithTheOutcome(t *testing.T) {
	t.Parallel()
	for name, result := range map[string]outbox.Result{"again": outbox.Again(noon.Add(time.Hour)), "failed": outbox.Failed(errRefused)} {
		s := newStage(t, nil)
		s.record("a", "one", noon)
		s.answers(result.Writing(store.Set("place", "page 2")))
		_, err := s.run("a")
		s.must(err)
		if got := s.document("a").Data["place"]; got != "page 2" {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestRun_OfNothingToDo_CallsNobody(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	s.record("later", "one", noon.Add(10*time.Second))
	s.record("much later", "one", noon.Add(2*time.Minute))
	s.record("over", "one", time.Time{})
	s.must(s.documents.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
		return tx.Update(jobPath("over"), store.Set("due", nil))
	}))
	for id, want := range map[string]time.Duration{"later": 10 * time.Second, "much later": 0, "over": 0, "missing": 0, "no/path": 0, "": 0} {
		if again, err := s.run(id); err != nil || again != want {
			t.Errorf("%q: again after %v, %v", id, again, err)
		}
	}
	if s.runs != 0 || len(s.ran) != 0 {
		t.Errorf("%d runs", s.runs)
	}
	if _, err := s.Outbox.Run(t.Context(), "other", "a"); !fault.Is(err, fault.NotFound) {
		t.Errorf("of a kind that is not there: %v", err)
	}
}

// A claim is what a second wake finds, on another machine too.
func TestRun_WhileAnotherIsUnderWay_IsRefused(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	s.record("a", "one", noon)
	s.answer = func(context.Context, outbox.Item) outbox.Result {
		s.shows("a", "one due 2m0s, 0")
		if again, err := s.run("a"); err != nil || again != 0 {
			t.Errorf("the second: %v, %v", again, err)
		}
		return outbox.Done()
	}
	_, err := s.run("a")
	s.must(err)
	if s.runs != 1 {
		t.Errorf("%d runs", s.runs)
	}
}

func TestRun_ThatDied_IsRepeatedAfterItsClaim(t *testing.T) {
	t.Parallel()
	s := newStage(t, func(k *outbox.Kind) { k.Lease = 3 * time.Minute })
	s.record("a", "one", noon)
	s.answers(outbox.Broken(errors.New("the store did not answer")))
	if _, err := s.run("a"); err == nil {
		t.Error("a broken store is no error")
	}
	s.shows("a", "one due 3m0s, 0")
	s.now = noon.Add(3 * time.Minute)
	s.answers(outbox.Done())
	_, err := s.run("a")
	s.must(err)
	s.shows("a", "gone")
}

// The count is what proves that something may have been made.
func TestRun_OfACountedKind_CommitsTheCountBeforeTheCall(t *testing.T) {
	t.Parallel()
	for _, alone := range []bool{false, true} { // a count in memory would die with the process
		s := newStage(t, func(k *outbox.Kind) { k.CountFirst = true })
		s.Alone = alone
		s.record("a", "one", noon)
		s.answer = func(_ context.Context, item outbox.Item) outbox.Result {
			s.shows("a", "one due 2m0s, 1")
			if item.State.Attempts != 1 {
				t.Errorf("the handler sees %d attempts", item.State.Attempts)
			}
			return outbox.Again(noon)
		}
		_, err := s.run("a")
		s.must(err)
		s.shows("a", "one due 0s, 1") // going on does not forget that it was tried
	}
}

func TestRun_AChangeDuringIt_IsNotSettled(t *testing.T) {
	t.Parallel()
	for name, result := range map[string]outbox.Result{
		"done": outbox.Done(), "again": outbox.Again(noon.Add(time.Hour)), "failed": outbox.Failed(errRefused),
	} {
		s := newStage(t, nil)
		s.record("a", "one", noon)
		s.answer = func(ctx context.Context, item outbox.Item) outbox.Result {
			s.record("a", "two", noon)
			if same, err := s.Keep(ctx, item, store.Set("place", "page 2")); err != nil || same {
				t.Errorf("%s: progress is kept for an earlier change: %v", name, err)
			}
			return result
		}
		if at, err := s.Outbox.Run(t.Context(), "job", "a"); err != nil || !at.Equal(noon) {
			t.Errorf("%s: again at %v, %v", name, at, err)
		}
		s.shows("a", "two due 0s, 0")
	}
}

// A run whose claim was over may end after another one that did the work.
func TestRun_OfWorkThatAnotherRunEnded_DoesNotReviveIt(t *testing.T) {
	t.Parallel()
	for name, result := range map[string]outbox.Result{"again": outbox.Again(noon.Add(time.Hour)), "failed": outbox.Failed(errRefused)} {
		s := newStage(t, nil)
		s.record("a", "one", noon)
		s.answer = func(ctx context.Context, item outbox.Item) outbox.Result {
			s.must(s.documents.Run(ctx, func(_ context.Context, tx store.Tx) error {
				return tx.Update(jobPath("a"), store.Set("due", nil))
			}))
			if same, err := s.Keep(ctx, item, store.Set("place", "page 2")); err != nil || same {
				t.Errorf("%s: progress is kept of what ended: %v", name, err)
			}
			return result
		}
		_, err := s.run("a")
		s.must(err)
		s.shows("a", "one due never, 0")
	}
}

func TestKeep_RenewsTheClaim(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	s.record("a", "one", noon)
	s.answer = func(ctx context.Context, item outbox.Item) outbox.Result {
		s.now = s.now.Add(time.Minute)
		if same, err := s.Keep(ctx, item, store.Set("place", "page 2")); err != nil || !same {
			t.Errorf("%v, %v", same, err)
		}
		s.shows("a", "one due 2m0s, 0")
		if got := s.document("a").Data["place"]; got != "page 2" {
			t.Errorf("the progress is %v", got)
		}
		return outbox.Kept(noon)
	}
	_, err := s.run("a")
	s.must(err)
}

func TestRun_Panics_IsAFailureOfItsEntryAlone(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	s.record("poison", "one", noon)
	s.record("sound", "one", noon)
	s.answer = func(_ context.Context, item outbox.Item) outbox.Result {
		if item.ID == "poison" {
			panic("no such slot")
		}
		return outbox.Done()
	}
	for _, id := range []string{"poison", "sound"} {
		_, err := s.run(id)
		s.must(err)
	}
	s.shows("poison", "one due 10s, 1 internal")
	s.shows("sound", "gone")
	if log := s.logged.String(); !strings.Contains(log, "work panicked") || !strings.Contains(log, "run_test.go") {
		t.Errorf("the log lacks the panic or its place: %s", log)
	}
}

func TestRun_WhenTheProgramStops_IsNoFailure(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	s.record("a", "one", noon)
	ctx, cancel := context.WithCancel(t.Context())
	s.answer = func(ctx context.Context, _ outbox.Item) outbox.Result {
		cancel()
		return outbox.Failed(ctx.Err())
	}
	if _, err := s.Outbox.Run(ctx, "job", "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	s.shows("a", "one due 0s, 0") // for the next start
	if log := s.logged.String(); !strings.Contains(log, `level=INFO msg="work interrupted"`) || strings.Contains(log, "WARN") {
		t.Errorf("the log: %s", log)
	}
}

func TestRun_WhoseTimeIsOver_RecordsItsFailure(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	s.record("a", "one", noon)
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	s.answer = func(ctx context.Context, _ outbox.Item) outbox.Result { return outbox.Failed(ctx.Err()) }
	s.Store = &expiring{Store: s.documents}
	_, err := s.Outbox.Run(ctx, "job", "a")
	s.must(err)
	s.shows("a", "one due 10s, 1 internal")
}

// expiring is a store for whose first transaction a context is not over yet.
type expiring struct {
	store.Store
	later bool
}

func (e *expiring) Run(ctx context.Context, fn func(context.Context, store.Tx) error) error {
	if e.later && ctx.Err() != nil {
		return ctx.Err()
	}
	e.later = true
	return e.Store.Run(context.WithoutCancel(ctx), fn)
}

func TestRun_KeepsFailing_IsLoggedOnceAsAnError(t *testing.T) {
	t.Parallel()
	s := newStage(t, func(k *outbox.Kind) { k.Retry.Error = 3 })
	s.record("a", "one", noon)
	s.answers(outbox.Failed(fault.New(fault.Provider, "Google refused it.")))
	for range 6 {
		_, err := s.run("a")
		s.must(err)
		s.now = outbox.Fields.Decode(s.document("a")).Due
	}
	s.shows("a", "one due 0s, 6 provider")
	if n := strings.Count(s.logged.String(), "needs a person"); n != 1 {
		t.Errorf("logged %d times", n)
	}
	s.answers(outbox.Again(s.now))
	_, err := s.run("a")
	s.must(err)
	s.shows("a", "one due 0s, 0") // success forgets the failures
	if !outbox.Fields.Decode(s.document("a")).FailedSince.IsZero() {
		t.Error("it still fails")
	}
}

func TestRun_OfACountedKindThatKeepsFailing_IsLoggedByItsCount(t *testing.T) {
	t.Parallel()
	s := newStage(t, func(k *outbox.Kind) { k.CountFirst, k.Retry.Error = true, 3 })
	s.record("a", "one", noon)
	s.answers(outbox.Failed(errRefused))
	for attempts := 1; attempts <= 4; attempts++ {
		_, err := s.run("a")
		s.must(err)
		if logged := strings.Contains(s.logged.String(), "needs a person"); logged != (attempts >= 3) {
			t.Errorf("after %d attempts: %v", attempts, logged)
		}
		s.now = outbox.Fields.Decode(s.document("a")).Due
	}
}

// A failure may be the reason of the change: it is on the log all the same.
func TestRun_FailedAndOvertaken_IsLogged(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	s.record("a", "one", noon)
	s.answer = func(context.Context, outbox.Item) outbox.Result {
		s.record("a", "two", noon)
		return outbox.Failed(errRefused)
	}
	_, err := s.run("a")
	s.must(err)
	if log := s.logged.String(); !strings.Contains(log, "work failed") || !strings.Contains(log, "outcome=overtaken") {
		t.Errorf("the log: %s", log)
	}
}

func TestRun_FailedSince_IsTheFirstFailure(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	s.record("a", "one", noon)
	s.answers(outbox.Failed(errRefused))
	for range 3 {
		_, err := s.run("a")
		s.must(err)
		s.now = outbox.Fields.Decode(s.document("a")).Due
	}
	if since := outbox.Fields.Decode(s.document("a")).FailedSince; !since.Equal(noon) {
		t.Errorf("it fails since %v", since)
	}
}

func TestRun_OfAKindThatRests_TakesNothing(t *testing.T) {
	t.Parallel()
	mode := outbox.Rests
	s := newStage(t, func(k *outbox.Kind) { k.Mode = func() outbox.Mode { return mode } })
	s.record("a", "one", noon)
	if again, err := s.run("a"); err != nil || again != 0 || s.runs != 0 {
		t.Errorf("%v, %v, %d runs", again, err, s.runs)
	}
	s.shows("a", "one due 0s, 0")
	if woken, err := s.Drain(t.Context()); err != nil || len(woken) != 0 {
		t.Errorf("the drain: %v, %v", woken, err)
	}
	mode = outbox.Works // it is asked when work is taken
	_, err := s.run("a")
	s.must(err)
	s.shows("a", "gone")
}

func TestRun_OfAKindThatObserves_SaysSo(t *testing.T) {
	t.Parallel()
	s := newStage(t, func(k *outbox.Kind) { k.Mode = func() outbox.Mode { return outbox.Observes } })
	s.record("a", "one", noon)
	s.answer = func(_ context.Context, item outbox.Item) outbox.Result {
		if !item.Observing {
			t.Error("the handler would do it")
		}
		return outbox.Kept(time.Time{})
	}
	_, err := s.run("a")
	s.must(err)
	if woken, err := s.Drain(t.Context()); err != nil || len(woken) != 0 {
		t.Errorf("the drain: %v, %v", woken, err)
	}
}

// The handler of an unclaimed kind settles by a version of its own.
func TestRun_OfAnUnclaimedKind_WritesNothing(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		result outbox.Result
		again  time.Duration
		fails  bool
	}{
		"kept":   {result: outbox.Kept(noon.Add(5 * time.Second)), again: 5 * time.Second},
		"done":   {result: outbox.Done()},
		"failed": {result: outbox.Failed(errRefused)},
		"broken": {result: outbox.Broken(errRefused), fails: true},
		// A transaction of its own recorded when to try again.
		"postponed": {result: outbox.Postponed(noon.Add(20*time.Second), errRefused), again: 20 * time.Second},
		"panic":     {},
	} {
		s := newStage(t, func(k *outbox.Kind) { k.Unclaimed = true })
		s.record("a", "one", noon)
		s.answer = func(_ context.Context, item outbox.Item) outbox.Result {
			if item.ID != "a" || item.Document.Exists() {
				t.Errorf("%s: %+v", name, item)
			}
			if name == "panic" {
				panic("no such slot")
			}
			return row.result
		}
		again, err := s.run("a")
		if again != row.again || (err != nil) != row.fails {
			t.Errorf("%s: %v, %v", name, again, err)
		}
		s.shows("a", "one due 0s, 0")
		if logged := strings.Contains(s.logged.String(), "level="); logged != (row.fails || name == "postponed" ||
			name == "failed" || name == "panic") {
			t.Errorf("%s: the log: %s", name, s.logged.String())
		}
	}
}
