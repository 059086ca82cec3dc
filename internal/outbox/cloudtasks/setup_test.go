package cloudtasks_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"questscheduler/internal/outbox"
	"questscheduler/internal/outbox/cloudtasks"
	"questscheduler/internal/store"
	"questscheduler/internal/test/memorystore"
)

const account = "tasks@party.example"

var (
	kinds     = []string{"job", "other"}
	jobsDue   = store.Select("jobs that are due", "job", "due", store.Where("due", store.LessOrEqual))
	othersDue = store.Select("others that are due", "other", "due", store.Where("due", store.LessOrEqual))
)

var errUnanswered = errors.New("the store does not answer")

// bench is an outbox with the two kinds, whose handler is the test's.
type bench struct {
	*testing.T
	*outbox.Outbox
	documents *memorystore.Store
	cloud     service
	tasks     *cloudtasks.Waker // nil in a pool
	answer    func(ctx context.Context, item outbox.Item) outbox.Result
	// start and stop are the waker's.
	start, stop func(context.Context) error

	mu     sync.Mutex // guards all below
	logged bytes.Buffer
	broken bool // the store does not answer
}

func newBench(t *testing.T, change func(kind *outbox.Kind)) *bench {
	t.Helper()
	documents, err := memorystore.Open([]*store.Query{jobsDue, othersDue})
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{T: t, documents: documents}
	b.answer = func(context.Context, outbox.Item) outbox.Result { return outbox.Done() }
	b.Outbox = &outbox.Outbox{Store: failing{documents, b}, Now: time.Now, Log: slog.New(slog.NewTextHandler(b, nil))}
	for _, name := range kinds {
		kind := outbox.Kind{
			Name: name, Path: func(id string) store.Path { return store.Doc(name, id) },
			Due: outbox.Query(map[string]*store.Query{"job": jobsDue, "other": othersDue}[name]), Codec: outbox.Fields, Remove: true,
			Handle: func(ctx context.Context, item outbox.Item) outbox.Result { return b.answer(ctx, item) },
		}
		if change != nil {
			change(&kind)
		}
		b.Add(kind)
	}
	return b
}

// onBench runs a test in a bubble of fake time, with a waker that accepts deliveries of tasks
// that the test delivers itself.
func onBench(t *testing.T, change func(kind *outbox.Kind), test func(b *bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, change)
		b.tasks = b.cloud.open(t, b)
		b.must(b.tasks.Start(t.Context()))
		test(b)
		b.must(b.tasks.Stop(context.Background()))
	})
}

// failing is a store that fails while the bench says so.
type failing struct {
	store.Store
	bench *bench
}

func (f failing) err() error {
	f.bench.mu.Lock()
	defer f.bench.mu.Unlock()
	if f.bench.broken {
		return errUnanswered
	}
	return nil
}

func (f failing) Run(ctx context.Context, fn func(context.Context, store.Tx) error) error {
	if err := f.err(); err != nil {
		return err
	}
	return f.Store.Run(ctx, fn)
}

func (f failing) Get(ctx context.Context, path store.Path) (store.Document, error) {
	if err := f.err(); err != nil {
		return store.Document{}, err
	}
	return f.Store.Get(ctx, path)
}

// breaks has the store answer no more, or again.
func (b *bench) breaks(broken bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.broken = broken
}

// Write implements io.Writer, for the log.
func (b *bench) Write(line []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.logged.Write(line)
}

// logs reports whether something was logged.
func (b *bench) logs(text string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Contains(b.logged.String(), text)
}

func (b *bench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// record has an entry due after a while.
func (b *bench) record(kind, id string, after time.Duration) {
	b.Helper()
	b.must(b.documents.Run(b.Context(), func(_ context.Context, tx store.Tx) error {
		return tx.Set(store.Doc(kind, id), map[string]any{"ref": "one", "due": time.Now().Add(after), "trace": "trc_1"})
	}))
}

// state is an entry as it is stored; false: it is done.
func (b *bench) state(kind, id string) (outbox.State, bool) {
	b.Helper()
	doc, err := b.documents.Get(b.Context(), store.Doc(kind, id))
	b.must(err)
	return outbox.Fields.Decode(doc), doc.Exists()
}

// answers sets the handler's answer.
func (b *bench) answers(result outbox.Result) {
	b.answer = func(context.Context, outbox.Item) outbox.Result { return result }
}

// pass lets time go by, and what becomes due run as far as it can.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}
