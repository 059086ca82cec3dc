package river_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"questscheduler/internal/fault"
	"questscheduler/internal/queue"
	"questscheduler/internal/queue/river"
)

func TestGiveUp_OldAndOftenTried_IsDeadLetterUntilRetry(t *testing.T) {
	t.Parallel()
	db := openFile(t, filepath.Join(t.TempDir(), "data.sqlite"))
	attempts := make(chan int, 10)
	q := openWith(t, river.Options{
		DB: db, Kinds: []string{"look"},
		Now: func() time.Time { return time.Now().Add(2 * queue.GiveUpAge) },
	})
	if _, err := q.Enqueue(t.Context(), queue.Task{Kind: "look", Name: "n"}); err != nil {
		t.Fatal(err)
	}
	// As if it had been tried for days: by its row it was handed over long ago
	// for the queue's clock, and this is all but the last attempt.
	if _, err := db.ExecContext(t.Context(), `UPDATE river_job SET attempt = ?`, queue.GiveUpAttempts-1); err != nil {
		t.Fatal(err)
	}
	start(t, q, map[string]queue.Handler{"look": func(_ context.Context, delivery queue.Delivery) queue.Verdict {
		attempts <- delivery.Attempt
		return queue.Verdict{Outcome: queue.Retry, After: time.Millisecond, Err: errors.New("still busy")}
	}})
	if got := receive(t, attempts); got != queue.GiveUpAttempts {
		t.Fatalf("attempt %d, want %d", got, queue.GiveUpAttempts)
	}
	letter := onlyDeadLetter(t, q)
	if letter.Reason != "still busy" || letter.Attempt != queue.GiveUpAttempts {
		t.Errorf("the dead letter is %+v", letter)
	}
	if err := q.Retry(t.Context(), letter.ID); err != nil {
		t.Fatal(err)
	}
	for want := 1; want <= 2; want++ {
		if got := receive(t, attempts); got != want {
			t.Errorf("attempt %d after the retry, want %d", got, want)
		}
	}
}

// A task that is at its last attempt is not given up for a run that Stop cut off.
func TestStop_CancelsTheLastAttempt_WhichIsMadeAgain(t *testing.T) {
	t.Parallel()
	db := openFile(t, filepath.Join(t.TempDir(), "data.sqlite"))
	q := openWith(t, river.Options{
		DB: db, Kinds: []string{"look"},
		Now: func() time.Time { return time.Now().Add(2 * queue.GiveUpAge) },
	})
	if _, err := q.Enqueue(t.Context(), queue.Task{Kind: "look", Name: "n"}); err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), `UPDATE river_job SET attempt = ?`, queue.GiveUpAttempts-1); err != nil {
		t.Fatal(err)
	}
	attempts := make(chan int, 10)
	start(t, q, map[string]queue.Handler{"look": func(ctx context.Context, delivery queue.Delivery) queue.Verdict {
		attempts <- delivery.Attempt
		<-ctx.Done()
		return queue.Verdict{Outcome: queue.Retry, Err: ctx.Err()}
	}})
	receive(t, attempts)
	impatient, cancel := context.WithCancel(t.Context())
	cancel()
	if err := q.Stop(impatient); err != nil {
		t.Fatalf("stop: %v", err)
	}
	letters, err := q.DeadLetters(t.Context(), 10)
	if err != nil || len(letters) != 0 {
		t.Fatalf("the dead letters are %+v, %v; want none", letters, err)
	}
	start(t, q, map[string]queue.Handler{"look": func(_ context.Context, delivery queue.Delivery) queue.Verdict {
		attempts <- delivery.Attempt
		return queue.Verdict{Outcome: queue.Done}
	}})
	if got := receive(t, attempts); got != queue.GiveUpAttempts {
		t.Errorf("attempt %d after the stop, want %d again", got, queue.GiveUpAttempts)
	}
}

func receive(t *testing.T, from <-chan int) int {
	t.Helper()
	select {
	case value := <-from:
		return value
	case <-time.After(patience):
		t.Fatal("the task was not run")
		return 0
	}
}

func onlyDeadLetter(t *testing.T, q queue.Queue) queue.DeadLetter {
	t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		letters, err := q.DeadLetters(t.Context(), 10)
		if err != nil {
			t.Fatal(err)
		}
		if len(letters) == 1 {
			return letters[0]
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("%d dead letters, want 1", len(letters))
		}
	}
}

func TestFileGone_AllCallsAreUnavailable(t *testing.T) {
	t.Parallel()
	db, err := openDatabase(filepath.Join(t.TempDir(), "data.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	q := openWith(t, river.Options{DB: db, Kinds: []string{"look"}})
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	handler := func(context.Context, queue.Delivery) queue.Verdict { return queue.Verdict{} }
	_, enqueued := q.Enqueue(t.Context(), queue.Task{Kind: "look"})
	_, listed := q.DeadLetters(t.Context(), 1)
	_, counted := q.Depths(t.Context())
	_, opened := river.New(t.Context(), river.Options{DB: db, Kinds: []string{"look"}})
	for what, err := range map[string]error{
		"enqueue": enqueued, "dead letters": listed, "depths": counted, "open": opened,
		"retry": q.Retry(t.Context(), "1"),
		"start": q.Start(t.Context(), queue.Config{Handlers: map[string]queue.Handler{"look": handler}}),
	} {
		if !fault.Is(err, fault.Unavailable) {
			t.Errorf("%s: %v, want it unavailable", what, err)
		}
	}
}

func TestOpen_BadKinds_AreInvalid(t *testing.T) {
	t.Parallel()
	_, err := river.New(t.Context(), river.Options{DB: openFile(t, filepath.Join(t.TempDir(), "data.sqlite"))})
	if !fault.Is(err, fault.Invalid) {
		t.Errorf("got %v, want it invalid", err)
	}
}
