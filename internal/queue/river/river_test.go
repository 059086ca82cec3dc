package river_test

import (
	"context"
	"database/sql"
	"net/url"
	"path/filepath"
	"testing"
	_ "time/tzdata" // for the test of zones, on machines without

	_ "modernc.org/sqlite"

	"questscheduler/internal/queue"
	"questscheduler/internal/queue/river"
	"questscheduler/internal/test/queuetest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	queuetest.Run(t, func(t *testing.T, kinds []string) queue.Queue {
		return open(t, filepath.Join(t.TempDir(), "data.sqlite"), kinds)
	})
}

// open opens a queue in a file as the embedded default does.
func open(t testing.TB, file string, kinds []string) *river.Queue {
	t.Helper()
	return openWith(t, river.Options{DB: openFile(t, file), Kinds: kinds})
}

func openWith(t testing.TB, options river.Options) *river.Queue {
	t.Helper()
	q, err := river.New(t.Context(), options)
	if err != nil {
		t.Fatalf("open the queue: %v", err)
	}
	return q
}

// openFile opens a file's writer connection, until the test ends.
func openFile(t testing.TB, file string) *sql.DB {
	t.Helper()
	db, err := openDatabase(file)
	if err != nil {
		t.Fatalf("open the file: %v", err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("close the file: %v", err)
		}
	})
	return db
}

// openDatabase opens a file's writer connection as the store does.
func openDatabase(file string) (*sql.DB, error) {
	pragmas := url.Values{"_pragma": {"journal_mode(WAL)", "synchronous(FULL)", "busy_timeout(5000)"}}
	db, err := sql.Open("sqlite", "file:"+file+"?"+pragmas.Encode())
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}

// start starts a queue, and stops it at the end of the test.
func start(t testing.TB, q queue.Queue, handlers map[string]queue.Handler) {
	t.Helper()
	if err := q.Start(t.Context(), queue.Config{Handlers: handlers}); err != nil {
		t.Fatalf("start: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
		defer cancel()
		if err := q.Stop(ctx); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
}
