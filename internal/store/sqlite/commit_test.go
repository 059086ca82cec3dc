package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	driver "modernc.org/sqlite"

	"questscheduler/fault"
	"questscheduler/internal/store"
	"questscheduler/internal/store/sqlite"
)

// onCommit has SQLite call before each commit of the writer; a false answer
// makes the commit fail.
func onCommit(t *testing.T, s *sqlite.Store, before func() bool) {
	t.Helper()
	conn, err := s.Writer().Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	err = conn.Raw(func(raw any) error {
		raw.(driver.HookRegisterer).RegisterCommitHook(func() int32 {
			if before() {
				return 0
			}
			return 1
		})
		return nil
	})
	if err := errors.Join(err, conn.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestRun_ConcurrentWriters_ShareCommits(t *testing.T) {
	t.Parallel()
	s := openFile(t, newFile(t), someQueries)
	var commits atomic.Int64
	onCommit(t, s, func() bool { commits.Add(1); return true })
	const writers, each = 64, 10
	var all sync.WaitGroup
	for writer := range writers {
		all.Go(func() {
			for i := range each {
				path := store.Doc("notes", fmt.Sprintf("%d-%d", writer, i))
				err := s.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
					return tx.Create(path, map[string]any{"rank": i})
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if got := commits.Load(); got >= writers*each {
		t.Errorf("%d transactions took %d commits", writers*each, got)
	}
	if found, err := s.Query(t.Context(), someQueries[0].With()); err != nil || len(found) != writers*each {
		t.Errorf("%d documents are there (%v)", len(found), err)
	}
	if err := s.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestRun_NoCallerIsAnsweredBeforeTheCommit(t *testing.T) {
	t.Parallel()
	s := openFile(t, newFile(t), nil)
	var answered, early atomic.Int64
	own := errors.New("the caller's own")
	inside, commit := make(chan struct{}), make(chan struct{})
	var first sync.Once
	onCommit(t, s, func() bool {
		first.Do(func() {
			<-commit
			early.Store(answered.Load())
		})
		return true
	})
	var all sync.WaitGroup
	all.Go(func() {
		err := s.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
			close(inside)
			return tx.Create("notes/a", nil)
		})
		answered.Add(1)
		if err != nil {
			t.Error(err)
		}
	})
	<-inside
	// One that fails waits as well: what it failed on may come to nothing.
	all.Go(func() {
		err := s.Run(t.Context(), func(context.Context, store.Tx) error { return own })
		answered.Add(1)
		if !errors.Is(err, own) {
			t.Errorf("got %v", err)
		}
	})
	if got, err := s.Get(t.Context(), "notes/a"); err != nil || got.Exists() {
		t.Errorf("a reader saw %v (%v) before the commit", got, err)
	}
	close(commit)
	all.Wait()
	if got := early.Load(); got > 0 {
		t.Errorf("%d were answered before the commit", got)
	}
}

func TestRun_CommitFails_AllCallersGetErrorsAndNoWrites(t *testing.T) {
	t.Parallel()
	s := openFile(t, newFile(t), someQueries)
	var broken atomic.Bool
	broken.Store(true)
	onCommit(t, s, func() bool { return !broken.Load() })
	const writers = 16
	var all sync.WaitGroup
	for writer := range writers {
		all.Go(func() {
			err := s.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
				return tx.Create(store.Doc("notes", fmt.Sprint(writer)), map[string]any{"rank": writer})
			})
			if err == nil {
				t.Error("a transaction was acknowledged whose commit failed")
			}
		})
	}
	all.Wait()
	broken.Store(false)
	if found, err := s.Query(t.Context(), someQueries[0].With()); err != nil || len(found) != 0 {
		t.Errorf("%d documents were written (%v)", len(found), err)
	}
	put(t, s, "notes/a", nil) // the store goes on
}

func TestRun_OneOfABatchFails_OthersAreWritten(t *testing.T) {
	t.Parallel()
	s := openFile(t, newFile(t), someQueries)
	put(t, s, "notes/there", nil)
	failures := []func(context.CancelFunc, store.Tx) error{
		func(_ context.CancelFunc, tx store.Tx) error { return tx.Create("notes/there", nil) },
		func(context.CancelFunc, store.Tx) error { return errors.New("changed its mind") },
		func(leave context.CancelFunc, _ store.Tx) error {
			leave()
			return context.Canceled
		},
		func(context.CancelFunc, store.Tx) error { panic("a slip") },
		func(context.CancelFunc, store.Tx) error { runtime.Goexit(); return nil },
	}
	var all sync.WaitGroup
	for round := range 20 {
		for i, fail := range failures {
			all.Go(func() {
				defer func() {
					if slip := recover(); slip != nil && slip != "a slip" {
						t.Errorf("panic: %v", slip)
					}
				}()
				ctx, leave := context.WithCancel(t.Context())
				defer leave()
				err := s.Run(ctx, func(_ context.Context, tx store.Tx) error {
					if err := tx.Set(store.Doc("notes", fmt.Sprintf("bad-%d-%d", round, i)), map[string]any{"rank": 0}); err != nil {
						return err
					}
					return fail(leave, tx)
				})
				if err == nil {
					t.Errorf("failure %d was acknowledged", i)
				}
			})
		}
		all.Go(func() {
			err := s.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
				return tx.Create(store.Doc("notes", fmt.Sprintf("good-%d", round)), map[string]any{"rank": round})
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	found, err := s.Query(t.Context(), someQueries[0].With())
	if err != nil || len(found) != 20 {
		t.Fatalf("%d documents are there (%v), want 20", len(found), err)
	}
	for _, document := range found {
		if !strings.HasPrefix(document.Path.ID(), "good-") {
			t.Errorf("%s was written", document.Path)
		}
	}
}

func TestRun_CallerLeavesBeforeItsTurn_FnIsNotRun(t *testing.T) {
	t.Parallel()
	s := openFile(t, newFile(t), nil)
	tx, err := s.Writer().BeginTx(t.Context(), nil) // somebody else has the connection
	if err != nil {
		t.Fatal(err)
	}
	ctx, leave := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		done <- s.Run(ctx, func(context.Context, store.Tx) error { t.Error("the function ran"); return nil })
	}()
	leave()
	if err := <-done; !fault.Is(err, fault.Unavailable) || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	put(t, s, "notes/a", nil)
}

func TestRun_DiskIsFull_FailsUntilThereIsSpace(t *testing.T) {
	t.Parallel()
	s := openFile(t, newFile(t), someQueries)
	put(t, s, "notes/before", map[string]any{"rank": 1})
	execute(t, s.Writer(), "PRAGMA max_page_count = 40")
	large := map[string]any{"rank": 2, "text": noise(1, 500_000)}
	err := s.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
		return errors.Join(tx.Set("notes/small", map[string]any{"rank": 3}), tx.Set("notes/large", large))
	})
	if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "disk that holds the data file is full") {
		t.Fatalf("got %v", err)
	}
	if found, err := s.Query(t.Context(), someQueries[0].With()); err != nil || len(found) != 1 {
		t.Errorf("%d documents are there (%v)", len(found), err)
	}
	put(t, s, "notes/after", map[string]any{"rank": 4})
	execute(t, s.Writer(), "PRAGMA max_page_count = 100000")
	put(t, s, "notes/large", large)
	if err := s.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestRun_SQLiteRollsABatchBack_NoneIsAcknowledged(t *testing.T) {
	t.Parallel()
	s := openFile(t, newFile(t), someQueries)
	// SQLite rolls back like this on some failures of disk and memory.
	execute(t, s.Writer(), `CREATE TRIGGER poison BEFORE INSERT ON documents WHEN NEW.path LIKE '%poison%'
		BEGIN SELECT RAISE(ROLLBACK, 'the batch is gone'); END`)
	var acknowledged sync.Map
	var all sync.WaitGroup
	for writer := range 16 {
		all.Go(func() {
			for round := range 10 {
				id := fmt.Sprintf("%d-%d", writer, round)
				if writer%5 == 0 {
					id = "poison-" + id
				}
				err := s.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
					return errors.Join(tx.Create(store.Doc("notes", "with-"+id), map[string]any{"rank": round}),
						tx.Create(store.Doc("notes", id), map[string]any{"rank": round}))
				})
				switch {
				case err == nil:
					acknowledged.Store(id, true)
					acknowledged.Store("with-"+id, true)
				case writer%5 != 0 && !fault.Is(err, fault.Unavailable):
					t.Errorf("a writer without a fault got %v", err)
				case writer%5 == 0 && !strings.Contains(err.Error(), "the batch is gone"):
					t.Errorf("the writer at fault got %v", err)
				}
			}
		})
	}
	all.Wait()
	found, err := s.Query(t.Context(), someQueries[0].With())
	if err != nil {
		t.Fatal(err)
	}
	for _, document := range found {
		if _, ok := acknowledged.LoadAndDelete(document.Path.ID()); !ok {
			t.Errorf("%s was not acknowledged and is there", document.Path)
		}
	}
	acknowledged.Range(func(id, _ any) bool { t.Errorf("%s was acknowledged and is not there", id); return true })
	put(t, s, "notes/after", map[string]any{"rank": 1})
	if err := s.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestWriter_SharedWithAnotherLibrary_BothProceed(t *testing.T) {
	t.Parallel()
	s := openFile(t, newFile(t), someQueries)
	execute(t, s.Writer(), "CREATE TABLE jobs (id INTEGER PRIMARY KEY, done INTEGER NOT NULL)")
	const rounds = 30
	var all sync.WaitGroup
	for worker := range 4 {
		all.Go(func() {
			for i := range rounds {
				path := store.Doc("notes", fmt.Sprintf("%d-%d", worker, i))
				err := s.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
					return tx.Create(path, map[string]any{"rank": i})
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
		all.Go(func() {
			for range rounds {
				if err := enqueue(t.Context(), s.Writer()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	var jobs int
	if err := s.Writer().QueryRowContext(t.Context(), "SELECT count(*) FROM jobs").Scan(&jobs); err != nil || jobs != 4*rounds {
		t.Errorf("%d jobs are there (%v)", jobs, err)
	}
	if found, err := s.Query(t.Context(), someQueries[0].With()); err != nil || len(found) != 4*rounds {
		t.Errorf("%d documents are there (%v)", len(found), err)
	}
}

func enqueue(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // after the commit it does nothing
	if _, err := tx.ExecContext(ctx, "INSERT INTO jobs (done) VALUES (0)"); err != nil {
		return err
	}
	return tx.Commit()
}

func TestClose_ConcurrentWrites_AreWrittenOrRefused(t *testing.T) {
	t.Parallel()
	path := newFile(t)
	s := openFile(t, path, nil)
	var acknowledged sync.Map
	started := make(chan struct{}, 1000)
	var all sync.WaitGroup
	for writer := range 8 {
		all.Go(func() {
			for i := 0; ; i++ {
				at := store.Doc("notes", fmt.Sprintf("%d-%d", writer, i))
				err := s.Run(t.Context(), func(_ context.Context, tx store.Tx) error { return tx.Create(at, nil) })
				if fault.Is(err, fault.Unavailable) {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
				acknowledged.Store(at, true)
				select {
				case started <- struct{}{}:
				default:
				}
			}
		})
	}
	for range 50 {
		<-started
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	all.Wait()
	s = openFile(t, path, nil)
	acknowledged.Range(func(at, _ any) bool {
		if got, err := s.Get(t.Context(), at.(store.Path)); err != nil || !got.Exists() {
			t.Errorf("%s was acknowledged and is not there (%v)", at, err)
		}
		return true
	})
}
