package outbox_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"questscheduler/internal/outbox"
	"questscheduler/internal/store"
	"questscheduler/internal/test/memorystore"
)

var (
	noon    = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	jobsDue = store.Select("jobs that are due", "jobs", "due", store.Where("due", store.LessOrEqual))
)

func jobPath(id string) store.Path { return store.Doc("jobs", id) }

// stage is an outbox with one kind of work, "job", whose handler answers what answer says.
type stage struct {
	*testing.T
	*outbox.Outbox
	documents *memorystore.Store
	now       time.Time
	woken     []string
	refuses   bool // the waker does not answer
	answer    func(ctx context.Context, item outbox.Item) outbox.Result
	mu        sync.Mutex // guards runs and logged
	runs      int
	ran       []outbox.Outcome
	logged    bytes.Buffer
}

// Write implements io.Writer, for the log.
func (s *stage) Write(line []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.logged.Write(line)
}

// log is what was logged so far.
func (s *stage) log() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.logged.String()
}

func newStage(t *testing.T, change func(kind *outbox.Kind)) *stage {
	t.Helper()
	documents, err := memorystore.Open([]*store.Query{jobsDue})
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{T: t, documents: documents, now: noon}
	s.answer = func(context.Context, outbox.Item) outbox.Result { return outbox.Done() }
	s.Outbox = &outbox.Outbox{
		Store: documents, Waker: s, Now: func() time.Time { return s.now }, Log: slog.New(slog.NewTextHandler(s, nil)),
		Meter: func(event any) { s.ran = append(s.ran, event.(outbox.Ran).Outcome) },
	}
	kind := outbox.Kind{Name: "job", Does: "jobs", Path: jobPath, Due: outbox.Query(jobsDue), Codec: outbox.Fields, Remove: true}
	kind.Handle = func(ctx context.Context, item outbox.Item) outbox.Result {
		s.mu.Lock()
		s.runs++
		s.mu.Unlock()
		return s.answer(ctx, item)
	}
	if change != nil {
		change(&kind)
	}
	s.Add(kind)
	return s
}

// Wake implements outbox.Waker.
func (s *stage) Wake(_ context.Context, kind, id, name string, at time.Time) error {
	if s.refuses {
		return errors.New("the waker does not answer")
	}
	wake := kind + " " + id + " " + name
	if !at.IsZero() {
		wake += " in " + at.Sub(s.now).String()
	}
	s.woken = append(s.woken, strings.Join(strings.Fields(wake), " "))
	return nil
}

// record has a job due at a time for a change.
func (s *stage) record(id, ref string, due time.Time) {
	s.Helper()
	s.must(s.documents.Run(s.T.Context(), func(_ context.Context, tx store.Tx) error {
		return tx.Set(jobPath(id), map[string]any{"ref": ref, "due": due, "trace": "trc_1", "owner": "ana"})
	}))
}

// recordOf has a job of an account due.
func (s *stage) recordOf(owner, id string, due time.Time) {
	s.Helper()
	s.must(s.documents.Run(s.T.Context(), func(_ context.Context, tx store.Tx) error {
		return tx.Set(jobPath(id), map[string]any{"ref": "one", "due": due, "owner": owner})
	}))
}

// run runs an entry, and returns after how long it wants to be run again.
func (s *stage) run(id string) (again time.Duration, err error) {
	s.Helper()
	at, err := s.Outbox.Run(s.T.Context(), "job", id)
	if at.IsZero() {
		return 0, err
	}
	return at.Sub(s.now), err
}

func (s *stage) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *stage) document(id string) store.Document {
	s.Helper()
	doc, err := s.documents.Get(s.T.Context(), jobPath(id))
	s.must(err)
	return doc
}

// shows fails unless an entry is stored as said: in how long it is due, its count, and its error.
func (s *stage) shows(id, want string) {
	s.Helper()
	doc := s.document(id)
	got := "gone"
	if doc.Exists() {
		state := outbox.Fields.Decode(doc)
		due := "never"
		if !state.Due.IsZero() {
			due = state.Due.Sub(s.now).String()
		}
		got = strings.TrimSpace(fmt.Sprintf("%s due %s, %d %s", state.Ref, due, state.Attempts, state.Error))
	}
	if got != want {
		s.Errorf("entry %s: %s, want %s", id, got, want)
	}
}

func (s *stage) answers(result outbox.Result) {
	s.answer = func(context.Context, outbox.Item) outbox.Result { return result }
}

// wakes fails unless these wakes were made since the last call.
func (s *stage) wakes(want ...string) {
	s.Helper()
	if !slices.Equal(s.woken, want) {
		s.Errorf("woken %q, want %q", s.woken, want)
	}
	s.woken = nil
}
