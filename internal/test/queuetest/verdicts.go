package queuetest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"questscheduler/internal/fault"
	"questscheduler/internal/queue"
)

func waitsForNotBefore(t *testing.T, open Open) {
	q := open(t, []string{"sync"})
	s := newScript()
	start(t, q, one("sync", s.handle))
	soon := time.Now().Add(300 * time.Millisecond)
	mustEnqueue(t, q, queue.Task{Kind: "sync", Name: "far", NotBefore: time.Now().Add(queue.MaxAhead - time.Minute)})
	mustEnqueue(t, q, queue.Task{Kind: "sync", Name: "soon", NotBefore: soon})
	mustEnqueue(t, q, queue.Task{Kind: "sync", Name: "past", NotBefore: time.Now().Add(-time.Hour)})
	// On a slow machine both may be due by now, and then no order is promised.
	ran := map[string]bool{}
	for range 2 {
		run := s.next(t)
		ran[run.Name] = true
		if run.Name == "soon" && run.at.Before(soon) {
			t.Errorf("it ran %v early", soon.Sub(run.at))
		}
	}
	if !ran["past"] || !ran["soon"] {
		t.Errorf("%v ran, want the one that was due and the one due soon", ran)
	}
	stop(t, q)
	s.none(t)
}

func laterCountsNoAttempt(t *testing.T, open Open) {
	q := open(t, []string{"sync"})
	const wait = 50 * time.Millisecond
	s := newScript(
		queue.Verdict{Outcome: queue.Later, After: wait},
		queue.Verdict{Outcome: queue.Later},
		queue.Verdict{Outcome: queue.Retry, After: time.Millisecond},
		queue.Verdict{Outcome: queue.Later, After: wait},
	)
	start(t, q, one("sync", s.handle))
	mustEnqueue(t, q, queue.Task{Kind: "sync", Name: "n"})
	first := s.next(t)
	second := s.next(t)
	if early := first.at.Add(wait).Sub(second.at); early > 0 {
		t.Errorf("it ran again %v early", early)
	}
	if enqueue(t, q, queue.Task{Kind: "sync", Name: "n"}) {
		t.Error("its name was free between two runs")
	}
	attempts := []int{first.Attempt, second.Attempt, s.next(t).Attempt, s.next(t).Attempt, s.next(t).Attempt}
	for i, want := range []int{1, 1, 1, 2, 2} {
		if attempts[i] != want {
			t.Fatalf("attempts were %v, want 1 1 1 2 2", attempts)
		}
	}
}

func retryAfterWait(t *testing.T, open Open) {
	q := open(t, []string{"sync"})
	const wait = 100 * time.Millisecond
	s := newScript(queue.Verdict{Outcome: queue.Retry, After: wait, Err: errors.New("busy")})
	start(t, q, one("sync", s.handle))
	mustEnqueue(t, q, queue.Task{Kind: "sync", Name: "n"})
	first, second := s.next(t), s.next(t)
	if early := first.at.Add(wait).Sub(second.at); early > 0 {
		t.Errorf("it ran again %v early", early)
	}
	if first.Attempt != 1 || second.Attempt != 2 {
		t.Errorf("attempts were %d and %d, want 1 and 2", first.Attempt, second.Attempt)
	}
	stop(t, q)
	s.none(t)
}

func retryBacksOff(t *testing.T, open Open) {
	q := open(t, []string{"sync"})
	s := newScript(queue.Verdict{Outcome: queue.Retry})
	start(t, q, one("sync", s.handle))
	mustEnqueue(t, q, queue.Task{Kind: "sync"})
	first, second := s.next(t), s.next(t)
	if waited := second.at.Sub(first.at); waited < queue.BackoffMin/2 {
		t.Errorf("it ran again after %v, before the least backoff", waited)
	}
}

func zeroVerdictRetries(t *testing.T, open Open) {
	q := open(t, []string{"sync"})
	s := newScript(queue.Verdict{})
	start(t, q, one("sync", s.handle))
	mustEnqueue(t, q, queue.Task{Kind: "sync"})
	s.next(t)
	if second := s.next(t); second.Attempt != 2 {
		t.Errorf("attempt %d, want 2", second.Attempt)
	}
}

func panicIsRetry(t *testing.T, open Open) {
	q := open(t, []string{"sync"})
	s := newScript()
	start(t, q, one("sync", func(ctx context.Context, delivery queue.Delivery) queue.Verdict {
		s.handle(ctx, delivery)
		if delivery.Attempt == 1 {
			panic("a nil map")
		}
		return queue.Verdict{Outcome: queue.Done}
	}))
	mustEnqueue(t, q, queue.Task{Kind: "sync"})
	s.next(t)
	if second := s.next(t); second.Attempt != 2 {
		t.Errorf("attempt %d, want 2", second.Attempt)
	}
}

func permanentIsDeadLetter(t *testing.T, open Open) {
	q := open(t, []string{"sync"})
	s := newScript(
		queue.Verdict{Outcome: queue.Retry, After: time.Millisecond, Err: errors.New("busy")},
		queue.Verdict{Outcome: queue.Permanent, Err: errors.New("the calendar is gone")},
	)
	start(t, q, one("sync", s.handle))
	before := time.Now()
	mustEnqueue(t, q, queue.Task{Kind: "sync", Name: "n", Payload: []byte("p")})
	s.next(t)
	s.next(t)
	letter := deadLetters(t, q, 1)[0]
	if letter.Kind != "sync" || letter.Name != "n" || string(letter.Payload) != "p" || letter.Attempt != 2 {
		t.Errorf("the dead letter is %+v", letter)
	}
	if letter.Reason != "the calendar is gone" {
		t.Errorf("reason %q", letter.Reason)
	}
	if letter.At.Before(before.Add(-time.Second)) || letter.At.After(time.Now().Add(time.Second)) {
		t.Errorf("it ended at %v, but the test began at %v", letter.At, before)
	}
	if err := q.Retry(t.Context(), letter.ID+"9"); !fault.Is(err, fault.NotFound) {
		t.Errorf("retry of an unknown id: %v, want not found", err)
	}
	if err := q.Retry(t.Context(), letter.ID); err != nil {
		t.Fatalf("retry: %v", err)
	}
	if again := s.next(t); again.Name != "n" || string(again.Payload) != "p" || again.Attempt != 1 {
		t.Errorf("retried, it came as %+v, want the same task from its first attempt", again.Delivery)
	}
	deadLetters(t, q, 0)
	if err := q.Retry(t.Context(), letter.ID); !fault.Is(err, fault.NotFound) {
		t.Errorf("second retry: %v, want not found", err)
	}
}

func deadLetterAgain(t *testing.T, open Open) {
	q := open(t, []string{"sync"})
	s := newScript(
		queue.Verdict{Outcome: queue.Permanent, Err: errors.New("first")},
		queue.Verdict{Outcome: queue.Permanent, Err: errors.New(strings.Repeat("second", 1000))},
	)
	start(t, q, one("sync", s.handle))
	mustEnqueue(t, q, queue.Task{Kind: "sync", Name: "n"})
	if err := q.Retry(t.Context(), deadLetters(t, q, 1)[0].ID); err != nil {
		t.Fatalf("retry: %v", err)
	}
	s.next(t)
	s.next(t)
	letter := deadLetters(t, q, 1)[0]
	if !strings.HasPrefix(letter.Reason, "second") || len(letter.Reason) > 2000 {
		t.Errorf("reason of %d bytes: %.20q…, want the second's, cut", len(letter.Reason), letter.Reason)
	}
	if err := q.Retry(t.Context(), letter.ID); err != nil {
		t.Fatalf("retry: %v", err)
	}
	s.next(t)
	deadLetters(t, q, 0)
}

func deadLettersInOrder(t *testing.T, open Open) {
	q := open(t, []string{"sync"})
	s := newScript()
	start(t, q, one("sync", func(ctx context.Context, delivery queue.Delivery) queue.Verdict {
		s.handle(ctx, delivery)
		return queue.Verdict{Outcome: queue.Permanent}
	}))
	for i, name := range []string{"a", "b", "c"} {
		mustEnqueue(t, q, queue.Task{Kind: "sync", Name: name})
		s.next(t)
		deadLetters(t, q, i+1)
	}
	letters, err := q.DeadLetters(t.Context(), 2)
	if err != nil || len(letters) != 2 || letters[0].Name != "c" || letters[1].Name != "b" {
		t.Errorf("got %+v, %v; want c and b", letters, err)
	}
	if letters, err := q.DeadLetters(t.Context(), 0); err != nil || len(letters) != 0 {
		t.Errorf("none asked for, got %d, %v", len(letters), err)
	}
}
