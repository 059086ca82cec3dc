package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"questscheduler/internal/store"
	"questscheduler/internal/store/sqlite"
)

// asStored fails where the store reads anything else than what is in its file, by one document, by
// several, or in a transaction.
func asStored(t *testing.T, s *sqlite.Store, file *sqlite.Reader, paths []store.Path) {
	t.Helper()
	together, err := s.GetAll(t.Context(), paths)
	if err != nil {
		t.Fatal(err)
	}
	for i, path := range paths {
		want, err := file.Get(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		alone, err := s.Get(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		var inside store.Document
		if err := s.Run(t.Context(), func(ctx context.Context, tx store.Tx) (err error) {
			inside, err = tx.Get(ctx, path)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		for how, got := range map[string]store.Document{"alone": alone, "together": together[i], "in a transaction": inside} {
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("%s, read %s, is %v, and in the file %v", path, how, got.Data, want.Data)
			}
		}
	}
}

// errMind ends a transaction after its writes.
var errMind = errors.New("it changed its mind")

// writesAtRandom writes a few documents or deletes them in one transaction, which may fail.
func writesAtRandom(ctx context.Context, r *rand.Rand, s *sqlite.Store, paths []store.Path) error {
	return s.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		chosen := paths[r.IntN(len(paths))]
		if _, err := tx.Get(ctx, chosen); err != nil {
			return err
		}
		for range r.IntN(4) {
			path := paths[r.IntN(len(paths))]
			err := tx.Set(path, map[string]any{"rank": r.IntN(100), "list": []any{"a", map[string]any{"b": 1.5}}})
			if r.IntN(3) == 0 {
				err = tx.Delete(path)
			}
			if err != nil {
				return err
			}
		}
		if r.IntN(5) == 0 {
			return errMind
		}
		if r.IntN(5) == 0 {
			return tx.Create(chosen, map[string]any{"rank": -1}) // which may be there
		}
		return nil
	})
}

func TestStore_AfterAnyWrites_ReadsWhatTheFileHas(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 0))
			at := newFile(t)
			s := openFile(t, at, someQueries)
			file := openReader(t, at, someQueries)
			var commits atomic.Bool
			onCommit(t, s, commits.Load)
			paths := []store.Path{"notes/a", "notes/b", "notes/c", "notes/a/below/d", "notes/a/below/e", "notes/none"}
			for range 25 {
				commits.Store(r.IntN(4) > 0)
				var all sync.WaitGroup
				for range 1 + r.IntN(4) { // those of one commit
					mine := rand.New(rand.NewPCG(r.Uint64(), 0))
					all.Go(func() { _ = writesAtRandom(t.Context(), mine, s, paths[:5]) }) // some are to fail
				}
				all.Wait()
				if r.IntN(8) == 0 {
					_ = s.DeleteTree(t.Context(), "notes/a")
				}
				commits.Store(true)
				asStored(t, s, file, paths)
			}
		})
	}
}

// Who has read a state of the file never reads an older one from the store.
func TestStore_WhileItCommits_ReadsNothingOlderThanTheFile(t *testing.T) {
	t.Parallel()
	at := newFile(t)
	s := openFile(t, at, someQueries)
	file := openReader(t, at, someQueries)
	pair := []store.Path{"notes/a", "notes/b"}
	rank := func(document store.Document, err error) int64 {
		if err != nil {
			t.Error(err)
			return 0
		}
		return store.Fields(document.Data).Int("rank")
	}
	var ended atomic.Bool
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			for !ended.Load() {
				stored := rank(file.Get(t.Context(), "notes/a"))
				if got := rank(s.Get(t.Context(), "notes/a")); got < stored {
					t.Errorf("the store reads %d after %d was in the file", got, stored)
				}
				both, err := s.GetAll(t.Context(), pair)
				if err != nil || rank(both[0], nil) != rank(both[1], nil) {
					t.Errorf("of two documents that are written together, %v are read (%v)", both, err)
				}
			}
		})
	}
	for n := range 600 {
		if err := s.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
			return errors.Join(tx.Set(pair[0], map[string]any{"rank": n}), tx.Set(pair[1], map[string]any{"rank": n}))
		}); err != nil {
			t.Error(err)
		}
		if got := rank(s.Get(t.Context(), "notes/b")); got != int64(n) {
			t.Errorf("after %d was written, %d is read", n, got)
		}
	}
	ended.Store(true)
	all.Wait()
}

func TestStore_OfManyAndLargeDocuments_KeepsFewInMemory(t *testing.T) {
	t.Parallel()
	s := openFile(t, newFile(t), someQueries)
	const many = 2 * sqlite.MostRecent
	for from := range 4 {
		if err := s.Run(t.Context(), func(_ context.Context, tx store.Tx) (err error) {
			for i := range many / 4 {
				err = errors.Join(err, tx.Set(store.Doc("notes", fmt.Sprint(from, "-", i)), map[string]any{"rank": i}))
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	put(t, s, "notes/large", map[string]any{"text": strings.Repeat("a", sqlite.MostRecentBytes)})
	put(t, s, "notes/last", map[string]any{"rank": 1})
	if count, kept := s.Recent("notes/last"); count != sqlite.MostRecent || !kept {
		t.Errorf("%d are kept, and %t: the last", count, kept)
	}
	if _, kept := s.Recent("notes/large"); kept {
		t.Error("the large one is kept")
	}
}

// A write that SQLite refuses leaves the others of its transaction undone, in memory too.
func TestStore_AWriteIsRefused_ReadsWhatTheFileHas(t *testing.T) {
	t.Parallel()
	at := newFile(t)
	s := openFile(t, at, someQueries)
	put(t, s, "notes/a", map[string]any{"rank": 1})
	execute(t, s.Writer(), `CREATE TRIGGER refuse BEFORE INSERT ON documents WHEN NEW.path = 'notes/refused'
		BEGIN SELECT RAISE(ABORT, 'no'); END`)
	if err := s.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
		return errors.Join(tx.Set("notes/a", map[string]any{"rank": 2}), tx.Set("notes/refused", nil))
	}); err == nil {
		t.Error("a transaction was acknowledged whose write was refused")
	}
	asStored(t, s, openReader(t, at, someQueries), []store.Path{"notes/a", "notes/refused"})
}

// What is in memory is read under the same conditions as what is not.
func TestStore_OfARecentDocument_RefusesTheSameReads(t *testing.T) {
	t.Parallel()
	s := openFile(t, newFile(t), someQueries)
	put(t, s, "notes/a", map[string]any{"rank": 1})
	if _, kept := s.Recent("notes/a"); !kept {
		t.Fatal("it is not in memory")
	}
	refused := func(ctx context.Context, when string) {
		if _, err := s.Get(ctx, "notes/a"); err == nil {
			t.Errorf("%s it is read", when)
		}
		if _, err := s.GetAll(ctx, []store.Path{"notes/a"}); err == nil {
			t.Errorf("%s it is read among others", when)
		}
	}
	if err := s.Run(t.Context(), func(ctx context.Context, _ store.Tx) error {
		refused(ctx, "inside a transaction")
		return nil
	}); err != nil {
		t.Error(err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	refused(ended, "after its context ended")
}

func TestStore_OfABatchThatReadsMuch_KeepsFewInMemory(t *testing.T) {
	t.Parallel()
	if kept := sqlite.ReadInABatch(3 * sqlite.MostRecent); kept != sqlite.MostRecent {
		t.Errorf("%d are kept", kept)
	}
}

// Transactions of one batch read what those before them wrote, however large it became.
func TestStore_OfADocumentThatGrowsAndShrinks_LosesNoWrite(t *testing.T) {
	t.Parallel()
	s := openFile(t, newFile(t), someQueries)
	put(t, s, "notes/a", map[string]any{"rank": 0})
	const writers, each = 16, 40
	var all sync.WaitGroup
	for writer := range writers {
		all.Go(func() {
			for i := range each {
				size := (writer + i) % 2 * sqlite.MostRecentBytes
				if err := s.Run(t.Context(), func(ctx context.Context, tx store.Tx) error {
					found, err := tx.Get(ctx, "notes/a")
					rank := store.Fields(found.Data).Int("rank")
					return errors.Join(err, tx.Set("notes/a", map[string]any{"rank": rank + 1, "text": strings.Repeat("a", size)}))
				}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	found, err := s.Get(t.Context(), "notes/a")
	if rank := store.Fields(found.Data).Int("rank"); err != nil || rank != writers*each {
		t.Errorf("%d of %d writes are in the document, %v", rank, writers*each, err)
	}
}
