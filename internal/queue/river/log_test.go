package river_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"questscheduler/internal/queue"
	"questscheduler/internal/queue/river"
)

// lines is a log in memory.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func TestLog_Verdicts_AreLoggedOnceWithoutPayload(t *testing.T) {
	t.Parallel()
	var log lines
	q := openWith(t, river.Options{
		DB: openFile(t, filepath.Join(t.TempDir(), "data.sqlite")), Kinds: []string{"look"},
		Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	attempts := make(chan int, 10)
	err := q.Start(t.Context(), queue.Config{Handlers: map[string]queue.Handler{
		"look": func(_ context.Context, delivery queue.Delivery) queue.Verdict {
			attempts <- delivery.Attempt
			switch delivery.Attempt {
			case 1:
				return queue.Verdict{Outcome: queue.Retry, After: time.Millisecond, Err: errors.New("busy")}
			case 2:
				panic("a nil map")
			}
			return queue.Verdict{Outcome: queue.Permanent, Err: errors.New("hopeless")}
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = q.Enqueue(t.Context(), queue.Task{Kind: "look", Name: "private-name", Payload: []byte("private-payload")})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		receive(t, attempts)
	}
	onlyDeadLetter(t, q)
	if err := q.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	text := log.text.String()
	if strings.Contains(text, "private") {
		t.Errorf("the log tells a name or payload:\n%s", text)
	}
	for _, want := range []string{
		`level=DEBUG msg="queue: a task will be tried again" kind=look attempt=1 reason=busy`,
		`level=ERROR msg="queue: a handler panicked" kind=look attempt=2`,
		`level=WARN msg="queue: a task ended as a dead letter" kind=look attempt=3 reason=hopeless`,
	} {
		if strings.Count(text, want) != 1 {
			t.Errorf("not once in the log: %s\n%s", want, text)
		}
	}
	if got := strings.Count(text, "level="); got != 3 {
		t.Errorf("%d lines, want 3:\n%s", got, text)
	}
}
