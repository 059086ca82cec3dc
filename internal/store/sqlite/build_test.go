package sqlite_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/store"
	"questscheduler/internal/store/sqlite"
	"questscheduler/internal/test/memorystore"
)

// newQueries are of an index that someQueries have none of: in one collection at the top and below
// others, of a group, with lists, ranges, orders and their opposites, and no order at all.
var newQueries = []*store.Query{
	{Name: "all by kind", Collection: "notes", Order: []store.Order{{Path: store.Field("kind")}}},
	{
		Name: "of a kind, latest rank first", Collection: "notes", Filters: []store.Filter{{Path: store.Field("kind"), Op: store.In}},
		Order: []store.Order{{Path: store.Field("rank"), Descending: true}},
	},
	{Name: "with a tag", Collection: "notes", Group: true, Filters: []store.Filter{{Path: store.Field("tags"), Op: store.ArrayContains}}},
	{
		Name: "by rank from", Collection: "notes", Group: true, Order: []store.Order{{Path: store.Field("rank")}},
		Filters: []store.Filter{{Path: store.Field("rank"), Op: store.GreaterOrEqual}, {Path: store.Field("rank"), Op: store.Less}},
	},
	{
		Name: "down from a rank", Collection: "notes", Group: true, Order: []store.Order{{Path: store.Field("rank"), Descending: true}},
		Filters: []store.Filter{{Path: store.Field("rank"), Op: store.LessOrEqual}},
	},
	{
		Name: "of a kind, first rank first", Collection: "notes", Filters: []store.Filter{{Path: store.Field("kind"), Op: store.In}},
		Order: []store.Order{{Path: store.Field("rank")}},
	},
	{Name: "of a kind", Collection: "notes", Filters: []store.Filter{{Path: store.Field("kind"), Op: store.Equal}}},
	{Name: "all", Collection: "notes"},
	{Name: "all everywhere", Collection: "notes", Group: true},
}

// bound are bound queries of them.
func bound() []store.Bound {
	return []store.Bound{
		newQueries[0].With(), newQueries[0].With().Below("books/b1"),
		newQueries[1].With([]any{"a", "c"}), newQueries[1].With([]any{"b"}).Below("books/b1"),
		newQueries[2].With("x"), newQueries[3].With(10, 30),
		newQueries[4].With(40), newQueries[5].With([]any{"c", "a"}), newQueries[5].With([]any{"a"}).Below("books/b1-2"),
		newQueries[6].With("a"), newQueries[6].With("b").Below("books/b1-2"),
		newQueries[7].With(), newQueries[7].With().Below("books/b1"), newQueries[8].With(),
	}
}

// asked are bound queries with each limit, from the beginning and from behind a document.
func (w *twins) asked() (all []store.Bound) {
	w.t.Helper()
	for _, one := range bound() {
		found, err := w.memory.Query(w.t.Context(), one)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, limit := range []int{0, 1, 7, 300} {
			from := one.First(limit)
			if len(found) > 0 && w.random.IntN(2) == 0 {
				from = from.From(one.Query.CursorAt(found[w.random.IntN(len(found))]))
			}
			all = append(all, from)
		}
	}
	return all
}

// twins are a file and a store in memory that get the same writes.
type twins struct {
	t      *testing.T
	file   *sqlite.Store
	memory store.Store
	random *rand.Rand
}

func (w *twins) write(do func(tx store.Tx) error) {
	w.t.Helper()
	for _, s := range []store.Store{w.file, w.memory} {
		if err := s.Run(w.t.Context(), func(_ context.Context, tx store.Tx) error { return do(tx) }); err != nil {
			w.t.Fatal(err)
		}
	}
}

func (w *twins) note(n int) (store.Path, map[string]any) {
	at := []string{"notes/%s", "books/b1/notes/%s", "books/b1-2/notes/%s", "pens/%s"}[n%4]
	id := fmt.Sprintf("a-note-of-number-%04d", n) // its end is not in cut keys
	return store.Path(fmt.Sprintf(at, id)), map[string]any{
		"kind": string("abc"[w.random.IntN(3)]), "rank": w.random.IntN(50), "tags": []any{string("xyz"[w.random.IntN(3)]), "w"},
	}
}

// change writes, changes and deletes documents all over the collection.
func (w *twins) change(most int) {
	w.t.Helper()
	for range 20 {
		path, data := w.note(w.random.IntN(most + 50))
		w.write(func(tx store.Tx) error {
			if data["rank"] == 7 || len(data["kind"].(string)) == 0 {
				return tx.Delete(path)
			}
			return tx.Set(path, data)
		})
	}
	path, _ := w.note(w.random.IntN(most))
	w.write(func(tx store.Tx) error { return tx.Delete(path) })
}

// compare asks both, inside and outside of a transaction, and checks the file.
func (w *twins) compare(when string) {
	w.t.Helper()
	for _, bound := range w.asked() {
		want, err := w.memory.Query(w.t.Context(), bound)
		if err != nil {
			w.t.Fatal(err)
		}
		got, err := w.file.Query(w.t.Context(), bound)
		var inside []store.Document
		ran := w.file.Run(w.t.Context(), func(ctx context.Context, tx store.Tx) (err error) {
			inside, err = tx.Query(ctx, bound)
			return err
		})
		if err != nil || ran != nil || !sameDocuments(got, want) || !sameDocuments(inside, want) {
			w.t.Fatalf("%s: %q below %q, limit %d: %d documents, %d in a transaction, want %d (%v, %v)",
				when, bound.Query.Name, bound.Parent, bound.Limit, len(got), len(inside), len(want), err, ran)
		}
	}
	if err := w.file.Check(w.t.Context()); err != nil {
		w.t.Fatalf("%s: %v", when, err)
	}
}

func sameDocuments(a, b []store.Document) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Path != b[i].Path || !reflect.DeepEqual(a[i].Data, b[i].Data) {
			return false
		}
	}
	return true
}

// large skips a test of many documents in which no goroutines meet.
func large(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("it is of many documents")
	}
}

// filled is a file with that many documents and the queries of before, and its twin.
func filled(t *testing.T, path string, count int) *twins {
	t.Helper()
	memory, err := memorystore.Open(newQueries)
	if err != nil {
		t.Fatal(err)
	}
	w := &twins{t, openFile(t, path, someQueries), memory, rand.New(rand.NewPCG(1, 2))}
	for first := 0; first < count; first += 100 {
		notes := map[store.Path]map[string]any{}
		for n := first; n < min(first+100, count); n++ {
			at, data := w.note(n)
			notes[at] = data
		}
		w.write(func(tx store.Tx) error {
			for at, data := range notes {
				if err := tx.Create(at, data); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return w
}

// reopen opens the file anew, with the queries of before and the new ones.
func (w *twins) reopen(path string, held bool, log *slog.Logger) {
	w.t.Helper()
	options := sqlite.Options{Path: path, Queries: slices.Concat(newQueries, someQueries), Log: log}
	if held {
		options = sqlite.Held(options)
	}
	s, err := sqlite.Open(w.t.Context(), options)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = s.Close() })
	w.file = s
}

// The answers are those of a store that has the indexes, before the first step, between two, and
// after the last, whatever is written meanwhile.
func TestBuild_AnswersAreTheSameThroughout(t *testing.T) {
	t.Parallel()
	large(t)
	path := newFile(t)
	w := filled(t, path, 1400)
	if err := w.file.Close(); err != nil {
		t.Fatal(err)
	}
	w.reopen(path, true, nil)
	w.compare("before")
	steps := 0
	for more := true; more; steps++ {
		w.change(1400)
		w.compare(fmt.Sprintf("before step %d", steps+1))
		var err error
		more, err = w.file.BuildStep(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		w.compare(fmt.Sprintf("after step %d", steps+1))
	}
	if want := 1000 / sqlite.StepDocuments; steps < want {
		t.Errorf("%d steps", steps)
	}
	w.change(1400)
	w.compare("after")
}

// The process is killed after each step: the next one goes on where it was, whoever wrote meanwhile.
func TestBuild_KilledBetweenSteps_GoesOn(t *testing.T) {
	t.Parallel()
	large(t)
	path := newFile(t)
	w := filled(t, path, 1400)
	if err := w.file.Close(); err != nil {
		t.Fatal(err)
	}
	steps := 0
	for more := true; more; steps++ {
		left, is := file(path).Crash(t).(file)
		if !is {
			t.Fatal("no file is left")
		}
		if steps > 0 {
			if err := w.file.Close(); err != nil {
				t.Fatal(err)
			}
		}
		path = string(left)
		w.reopen(path, true, nil)
		w.change(1400)
		var err error
		more, err = w.file.BuildStep(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		w.compare(fmt.Sprintf("after step %d", steps+1))
	}
	if most := 1400/sqlite.StepDocuments + 1; steps > most {
		t.Errorf("%d steps, which is more than %d: some were taken again", steps, most)
	}
}

// The server answers while the background builds, and what is written then is found.
func TestBuild_InTheBackground_ComesToItsEnd(t *testing.T) {
	t.Parallel()
	path := newFile(t)
	w := filled(t, path, 1400)
	if err := w.file.Close(); err != nil {
		t.Fatal(err)
	}
	var log lines
	w.reopen(path, false, slog.New(slog.NewTextHandler(&log, nil)))
	w.change(1400)
	w.compare("during")
	w.file.Built()
	w.compare("after")
	for _, line := range []string{
		`msg="building indexes of newly declared queries" indexes=7`, `msg="built indexes of newly declared queries" indexes=7 documents=1`,
	} {
		if !strings.Contains(log.String(), line) {
			t.Errorf("logged %q, which lacks %q", log.String(), line)
		}
	}
}

// What an unfinished index should have already is checked.
func TestBuild_EntryLostDuringIt_IsDamage(t *testing.T) {
	t.Parallel()
	path := newFile(t)
	w := filled(t, path, 1400)
	if err := w.file.Close(); err != nil {
		t.Fatal(err)
	}
	w.reopen(path, true, nil)
	if more, err := w.file.BuildStep(t.Context()); err != nil || !more {
		t.Fatalf("more: %v, %v", more, err)
	}
	execute(t, w.file.Writer(), `DELETE FROM entries WHERE document = (SELECT id FROM documents WHERE path = 'books/b1-2/notes/a-note-of-number-0002')
		AND index_id IN (SELECT id FROM document_indexes WHERE built IS NOT NULL)`)
	if err := w.file.Check(t.Context()); !fault.Is(err, fault.Internal) || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("got %v", err)
	}
}

// One query at a time reads the rest of a collection: others wait, without a connection.
func TestBuild_QueryOfACollection_WaitsForItsTurn(t *testing.T) {
	t.Parallel()
	path := newFile(t)
	w := filled(t, path, 40)
	if err := w.file.Close(); err != nil {
		t.Fatal(err)
	}
	w.reopen(path, true, nil)
	release := w.file.HoldRest()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if found, err := w.file.Query(ctx, newQueries[0].With()); !fault.Is(err, fault.Unavailable) {
		t.Errorf("%d documents, %v", len(found), err)
	}
	if found, err := w.file.Query(t.Context(), newQueries[0].With().Below("books/b1")); err != nil || len(found) != 10 {
		t.Errorf("below a document: %d documents, %v", len(found), err)
	}
	release()
	w.compare("after the turn")
}

// A Reader beside the server gives the same answers, during the build and after it.
func TestBuild_ReaderBesideIt_GivesTheSameAnswers(t *testing.T) {
	t.Parallel()
	path := newFile(t)
	w := filled(t, path, 1400)
	if err := w.file.Close(); err != nil {
		t.Fatal(err)
	}
	w.reopen(path, true, nil)
	reader, err := sqlite.OpenReader(t.Context(), sqlite.Options{Path: path, Queries: newQueries})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := reader.Close(); err != nil {
			t.Error(err)
		}
	}()
	for more := true; more; {
		more, err = w.file.BuildStep(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, bound := range w.asked() {
			want, failed := w.memory.Query(t.Context(), bound)
			got, err := reader.Query(t.Context(), bound)
			if err != nil || failed != nil || !sameDocuments(got, want) {
				t.Fatalf("%q: %d documents, want %d (%v, %v)", bound.Query.Name, len(got), len(want), err, failed)
			}
		}
	}
}

// Documents of other collections are not read.
func TestBuild_ReadsItsCollectionAlone(t *testing.T) {
	t.Parallel()
	path := newFile(t)
	w := filled(t, path, 40)
	execute(t, w.file.Writer(), `UPDATE documents SET data = 'damaged' WHERE path LIKE 'pens/%'`)
	if err := w.file.Close(); err != nil {
		t.Fatal(err)
	}
	var log lines
	w.reopen(path, false, slog.New(slog.NewTextHandler(&log, nil)))
	if !strings.Contains(log.String(), "documents=30") {
		t.Errorf("logged %q", log.String())
	}
}

// A document that cannot be read stops the build and not the server, whose end waits for no retry.
func TestBuild_ThatFails_IsLoggedAndEndsWithTheServer(t *testing.T) {
	t.Parallel()
	path := newFile(t)
	w := filled(t, path, 1400)
	execute(t, w.file.Writer(), `UPDATE documents SET data = 'damaged' WHERE path = 'notes/a-note-of-number-1200'`)
	if err := w.file.Close(); err != nil {
		t.Fatal(err)
	}
	log := lines{wrote: make(chan struct{}, 100)}
	w.reopen(path, false, slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn})))
	<-log.wrote
	if !strings.Contains(log.String(), `msg="indexes cannot be built; trying again"`) || !strings.Contains(log.String(), "number-1200") {
		t.Errorf("logged %q", log.String())
	}
	if _, err := w.file.Get(t.Context(), "notes/a-note-of-number-0000"); err != nil {
		t.Error(err)
	}
	began := time.Now()
	if err := w.file.Close(); err != nil || time.Since(began) > 30*time.Second {
		t.Errorf("closed with %v after %v", err, time.Since(began))
	}
}

// lines are a log that several goroutines write.
type lines struct {
	mu    sync.Mutex
	text  bytes.Buffer
	wrote chan struct{} // nil: nobody waits
}

func (l *lines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.wrote != nil {
		l.wrote <- struct{}{}
	}
	return l.text.Write(line)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
