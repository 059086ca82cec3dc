package transfer_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"questscheduler/internal/store"
	"questscheduler/internal/store/sqlite"
	"questscheduler/internal/store/typedjson"
	"questscheduler/operations/transfer"
)

// openFile opens a new data file until the test ends.
func openFile(t *testing.T) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(t.TempDir(), "data.db"), Disposable: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// documents are fields by path.
type documents map[store.Path]map[string]any

// values has a value of each type that a store keeps, and those of each that are easily lost.
func values() documents {
	return documents{
		"books/none": {},
		"books/one": {
			"null": nil, "true": true, "false": false, "zero": int64(0), "largest": int64(math.MaxInt64), "smallest": int64(math.MinInt64),
			"no double": int64(1<<53 + 1), "whole": 5.0, "double": 0.1, "huge": 1e300, "tiny": math.SmallestNonzeroFloat64,
			"infinite": math.Inf(1), "below": math.Inf(-1), "none": math.NaN(), "minus zero": math.Copysign(0, -1),
			"at": time.Date(2026, 3, 1, 17, 0, 0, 1000, time.UTC), "first": time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC),
			"last": time.Date(9999, 12, 31, 23, 59, 59, 999999000, time.UTC), "like a time": "2026-03-01T17:00:00Z", "like a number": "1.0",
			"text": "Sword & <Sorcery> \u2028 \"né\" 🎲\n\\\x00", "empty": "", "list": []any{int64(1), 1.0, "1", nil, map[string]any{}},
			"no items": []any{}, "map": map[string]any{"a.b": map[string]any{"c/d": int64(1)}, "`": "x", "$time": "y", "$": int64(2)},
		},
		"books/one/pages/1":           {"n": int64(1)},
		"books/absent/pages/1":        {"n": int64(1)},
		"books/é 🎲 with.dots/pages/p": {},
	}
}

// polls has a number of documents of each of two collections and one below.
func polls(n int) documents {
	all := documents{}
	for i := range n {
		id := fmt.Sprintf("%04d", i)
		all[store.Doc("announcements", id)] = map[string]any{"pollId": id}
		all[store.Doc("schedulers", id)] = map[string]any{"title": "Poll " + id}
		all[store.Doc("schedulers", id, "slots", "s")] = map[string]any{"n": int64(i)}
	}
	return all
}

func (d documents) write(t *testing.T, to store.Store) {
	t.Helper()
	for paths := range slices.Chunk(slices.Sorted(maps.Keys(d)), 400) {
		err := to.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
			for _, path := range paths {
				if err := tx.Set(path, d[path]); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// in requires that a source has exactly these documents, beside the mark of an import.
func (d documents) in(t *testing.T, from transfer.Source) {
	t.Helper()
	found := documents{}
	err := from.EachDocument(t.Context(), func(document store.Document) error {
		found[document.Path] = document.Data
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	delete(found, "transfers/import")
	for path := range found {
		if _, ok := d[path]; !ok {
			t.Errorf("%s is there", path)
		}
	}
	for path, data := range d {
		if got, want := textOf(t, found[path]), textOf(t, data); got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
}

// textOf tells types apart.
func textOf(t *testing.T, data map[string]any) string {
	t.Helper()
	if data == nil {
		return "absent"
	}
	text, err := typedjson.Encode(data)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func quiet(string, int) {}

// export returns the file of a source.
func export(t *testing.T, from transfer.Source) []byte {
	t.Helper()
	var file bytes.Buffer
	if _, err := transfer.Export(t.Context(), from, &file, noon, quiet); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// exported returns the file of a new store with these documents.
func exported(t *testing.T, d documents) []byte {
	t.Helper()
	from := openFile(t)
	d.write(t, from)
	return export(t, from)
}

// into imports a file.
func into(t *testing.T, file []byte, target transfer.Target) (contents transfer.Contents, before bool, err error) {
	t.Helper()
	job := &transfer.Import{
		Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(file)), nil }, Into: target, First: "schedulers",
		Progress: quiet,
	}
	if err := job.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	return job.Run(t.Context())
}

// target is a store whose commits may fail.
type target struct {
	transfer.Target
	commits int
	// reads counts the calls of GetAll.
	reads int
	// commit, where set, makes the n-th commit, counted from 1.
	commit func(n int, run func() error) error
	// created are the documents that were committed, in their order.
	created []store.Path
}

// Run implements store.Store.
func (s *target) Run(ctx context.Context, fn func(context.Context, store.Tx) error) error {
	s.commits++
	run := func() error {
		var made []store.Path
		err := s.Target.Run(ctx, func(ctx context.Context, tx store.Tx) error {
			made = nil
			return fn(ctx, recorded{tx, &made})
		})
		if err == nil {
			s.created = append(s.created, made...)
		}
		return err
	}
	if s.commit == nil {
		return run()
	}
	return s.commit(s.commits, run)
}

// GetAll implements store.Reader.
func (s *target) GetAll(ctx context.Context, paths []store.Path) ([]store.Document, error) {
	s.reads++
	return s.Target.GetAll(ctx, paths)
}

// recorded notes the documents that a transaction creates, without the mark of the import.
type recorded struct {
	store.Tx
	made *[]store.Path
}

func (r recorded) Create(path store.Path, data map[string]any) error {
	if path != "transfers/import" {
		*r.made = append(*r.made, path)
	}
	return r.Tx.Create(path, data)
}

var errKilled = errors.New("killed")
