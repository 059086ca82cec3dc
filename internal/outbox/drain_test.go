package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/outbox"
	"questscheduler/internal/store"
)

func TestDrain_WakesWhatIsDue_OnceAMinute(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	s.record("late", "one", noon.Add(-time.Hour))
	s.record("now", "one", noon)
	s.record("soon", "one", noon.Add(time.Second))
	woken, err := s.Drain(t.Context())
	if err != nil || fmt.Sprint(woken) != "[{job jobs 2 false}]" {
		t.Errorf("%v, %v", woken, err)
	}
	first := s.woken
	if len(first) != 2 || !strings.HasPrefix(first[0], "job late late/") || !strings.HasPrefix(first[1], "job now now/") {
		t.Fatalf("woken: %q", first)
	}
	s.woken, s.now = nil, noon.Add(30*time.Second)
	_, err = s.Drain(t.Context())
	s.must(err)
	if s.woken[0] != first[0] {
		t.Errorf("within a minute a name changed: %q, %q", s.woken[0], first[0])
	}
	s.woken, s.now = nil, noon.Add(time.Minute)
	_, err = s.Drain(t.Context())
	s.must(err)
	if s.woken[0] == first[0] {
		t.Errorf("an ended task may hold the name %q", first[0])
	}
	s.record("late", "two", noon)
	before := s.woken
	s.woken = nil
	_, err = s.Drain(t.Context())
	s.must(err)
	if strings.Contains(strings.Join(s.woken, "\n"), before[0]) {
		t.Errorf("work that is due anew has the name of the old: %q", s.woken)
	}
}

func TestDrain_OfALongBacklog_WakesTheLongestDue(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	for i := range outbox.DrainMost + 10 {
		s.record(fmt.Sprintf("j%04d", i), "one", noon.Add(-time.Duration(i)*time.Second))
	}
	woken, err := s.Drain(t.Context())
	if err != nil || woken[0].N != outbox.DrainMost || len(s.woken) != outbox.DrainMost {
		t.Fatalf("%v, %v", woken, err)
	}
	if !strings.HasPrefix(s.woken[0], "job j0509 ") {
		t.Errorf("the first is %s", s.woken[0])
	}
}

func TestDrain_OfAKindThatFails_WakesTheOthers(t *testing.T) {
	t.Parallel()
	s := newStage(t, func(k *outbox.Kind) {
		k.Due = func(context.Context, store.Reader, time.Time) iter.Seq2[store.Document, error] {
			return func(yield func(store.Document, error) bool) { yield(store.Document{}, errRefused) }
		}
	})
	done := func(context.Context, outbox.Item) outbox.Result { return outbox.Done() }
	s.Add(outbox.Kind{Name: "other", Path: jobPath, Due: outbox.Query(jobsDue), Codec: outbox.Fields, Handle: done})
	s.record("a", "one", noon)
	woken, err := s.Drain(t.Context())
	if !errors.Is(err, errRefused) || fmt.Sprint(woken) != "[{job jobs 0 false} {other  1 false}]" {
		t.Errorf("%v, %v", woken, err)
	}
}

// Entries of an account whose quota is used up would only be refused once more.
func TestAccount_WhoseQuotaIsUsedUp_Rests(t *testing.T) {
	t.Parallel()
	for kind, rests := range map[fault.Kind]bool{
		fault.RateLimited: true, fault.Exhausted: true, fault.Unavailable: false, fault.Provider: false,
	} {
		s := newStage(t, func(k *outbox.Kind) {
			k.Account = func(doc store.Document) string { return store.Fields(doc.Data).String("owner") }
		})
		s.record("a", "one", noon)
		s.record("b", "one", noon)
		s.answers(outbox.Failed(&fault.Error{Kind: kind, RetryAfter: 5 * time.Minute}))
		_, err := s.run("a")
		s.must(err)
		_, err = s.run("b")
		s.must(err)
		if (s.runs == 1) != rests {
			t.Errorf("%v: %d runs", kind, s.runs)
		}
		woken, err := s.Drain(t.Context())
		s.must(err)
		if (woken[0].N == 0) != rests && rests {
			t.Errorf("%v: the drain woke %v", kind, woken)
		}
		s.now = noon.Add(5 * time.Minute)
		s.answers(outbox.Done())
		_, err = s.run("b")
		s.must(err)
		s.shows("b", "gone")
	}
}

// A backlog of one kind, which may have a part of the quota, delays no other kind.
func TestAccount_ThatRestsForAKind_DoesAnother(t *testing.T) {
	t.Parallel()
	owner := func(doc store.Document) string { return store.Fields(doc.Data).String("owner") }
	s := newStage(t, func(k *outbox.Kind) { k.Account = owner })
	other := 0
	s.Add(outbox.Kind{
		Name: "other", Path: jobPath, Due: outbox.Query(jobsDue), Codec: outbox.Fields, Account: owner,
		Handle: func(context.Context, outbox.Item) outbox.Result { other++; return outbox.Done() },
	})
	s.record("a", "one", noon)
	s.record("b", "one", noon)
	s.answers(outbox.Failed(&fault.Error{Kind: fault.Exhausted, RetryAfter: time.Hour}))
	_, err := s.run("a")
	s.must(err)
	_, err = s.Outbox.Run(t.Context(), "other", "b")
	s.must(err)
	if other != 1 {
		t.Error("the other kind rests too")
	}
}

func TestSoon_WakesWhatIsDueSoon(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	s.Soon(t.Context(), "job", "a", noon.Add(10*time.Second))
	s.Soon(t.Context(), "job", "b", noon.Add(-time.Minute))
	s.wakes("job a in 10s", "job b")
	s.Soon(t.Context(), "job", "a", noon.Add(outbox.Soon+time.Second))
	s.Soon(t.Context(), "job", "a", time.Time{})
	s.wakes()
	s.refuses = true
	s.Soon(t.Context(), "job", "a", noon)
	if !strings.Contains(s.logged.String(), "work is left to the drain") {
		t.Errorf("the log: %s", s.logged.String())
	}
}

func TestAdd_OfAKindThatLacksSomething_Panics(t *testing.T) {
	t.Parallel()
	whole := outbox.Kind{
		Name: "other", Path: jobPath, Due: outbox.Query(jobsDue), Codec: outbox.Fields,
		Handle: func(context.Context, outbox.Item) outbox.Result { return outbox.Done() },
	}
	for name, change := range map[string]func(k *outbox.Kind){
		"a name of its own": func(k *outbox.Kind) { k.Name = "job" },
		"a name":            func(k *outbox.Kind) { k.Name = "" },
		"a handler":         func(k *outbox.Kind) { k.Handle = nil },
		"a query":           func(k *outbox.Kind) { k.Due = nil },
		"a path":            func(k *outbox.Kind) { k.Path = nil },
		"a codec":           func(k *outbox.Kind) { k.Codec = outbox.Codec{} },
	} {
		s, kind := newStage(t, nil), whole
		change(&kind)
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("a kind without %s is taken", name)
				}
			}()
			s.Add(kind)
		}()
	}
	s := newStage(t, nil)
	s.Add(whole)
	if fmt.Sprint(s.Kinds()) != "[job other]" || s.Workers("other") != outbox.DefaultWorkers {
		t.Errorf("%v", s.Kinds())
	}
}

// broken is a store that does not answer.
type broken struct{ store.Store }

func (broken) Run(context.Context, func(context.Context, store.Tx) error) error { return errRefused }

func (broken) Query(context.Context, store.Bound) ([]store.Document, error) { return nil, errRefused }
