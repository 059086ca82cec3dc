package sqlite_test

import (
	"bytes"
	"context"
	"database/sql"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/store"
	"questscheduler/internal/store/sqlite"
)

// elsewhere opens a file the way another program would.
func elsewhere(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func execute(t *testing.T, db *sql.DB, statement string) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

func TestOpen_UnusableFile_ReturnsHelpfulError(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		prepare func(t *testing.T, folder string) (path string)
		kind    fault.Kind
		says    string
	}{
		{"no path", func(*testing.T, string) string { return "" }, fault.Invalid, "set its path"},
		{"no folder", func(_ *testing.T, folder string) string {
			return filepath.Join(folder, "none", "data.db")
		}, fault.Invalid, "folder of the data file does not exist"},
		{"a folder", func(_ *testing.T, folder string) string { return folder }, fault.Invalid, "is a folder"},
		{"text", func(t *testing.T, folder string) string {
			path := filepath.Join(folder, "notes.txt")
			if err := os.WriteFile(path, bytes.Repeat([]byte("no database at all\n"), 500), 0o600); err != nil {
				t.Fatal(err)
			}
			return path
		}, fault.Invalid, "not a questscheduler database"},
		{"another program's database", func(t *testing.T, folder string) string {
			path := filepath.Join(folder, "other.db")
			execute(t, elsewhere(t, path), "CREATE TABLE theirs (x)")
			return path
		}, fault.Invalid, "database of another program"},
		{"a newer questscheduler's", func(t *testing.T, folder string) string {
			path := filepath.Join(folder, "data.db")
			if err := openFile(t, path, nil).Close(); err != nil {
				t.Fatal(err)
			}
			execute(t, elsewhere(t, path), "PRAGMA user_version = 99")
			return path
		}, fault.Invalid, "newer questscheduler"},
		{"locked by another program", func(t *testing.T, folder string) string {
			path := filepath.Join(folder, "data.db")
			if err := openFile(t, path, nil).Close(); err != nil {
				t.Fatal(err)
			}
			conn, err := elsewhere(t, path).Conn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := conn.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if _, err := conn.ExecContext(context.Background(), "ROLLBACK"); err != nil {
					t.Error(err)
				}
				if err := conn.Close(); err != nil {
					t.Error(err)
				}
			})
			return path
		}, fault.Unavailable, "locked by another program"},
		{"open already", func(t *testing.T, folder string) string {
			path := filepath.Join(folder, "data.db")
			openFile(t, path, nil)
			return path
		}, fault.Unavailable, "in use by another questscheduler process"},
		{"open already under another name", func(t *testing.T, folder string) string {
			path, other := filepath.Join(folder, "data.db"), filepath.Join(folder, "other.db")
			openFile(t, path, nil)
			if err := os.Symlink(path, other); err != nil {
				t.Fatal(err)
			}
			return other
		}, fault.Unavailable, "in use by another questscheduler process"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			path := test.prepare(t, t.TempDir())
			before, readable := os.ReadFile(path)
			s, err := sqlite.Open(t.Context(), sqlite.Options{Path: path, Queries: someQueries, BusyWait: time.Millisecond})
			if err == nil {
				t.Error("it was opened", s.Close())
			}
			if !fault.Is(err, test.kind) || !strings.Contains(err.Error(), test.says) {
				t.Fatalf("got %v", err)
			}
			if after, err := os.ReadFile(path); readable == nil && (err != nil || !bytes.Equal(before, after)) {
				t.Fatalf("the file was changed (%v)", err)
			}
		})
	}
}

func TestOpen_AfterAFailure_TheLockIsFree(t *testing.T) {
	t.Parallel()
	path := newFile(t)
	bad := &store.Query{Name: "bad", Collection: "notes"}
	if _, err := sqlite.Open(t.Context(), sqlite.Options{Path: path, Queries: []*store.Query{bad, bad}}); err == nil {
		t.Fatal("two queries of one name were let through")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := sqlite.Open(ctx, sqlite.Options{Path: path}); !fault.Is(err, fault.Unavailable) {
		t.Fatalf("got %v", err)
	}
	openFile(t, path, nil)
}

func TestOpen_EveryConnectionIsDurableAndReadersOnlyRead(t *testing.T) {
	t.Parallel()
	s := openFile(t, newFile(t), nil)
	for pragma, want := range map[string]string{
		"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1", "busy_timeout": "5000", "query_only": "0",
	} {
		var got string
		if err := s.Writer().QueryRowContext(t.Context(), "PRAGMA "+pragma).Scan(&got); err != nil || got != want {
			t.Errorf("%s is %q (%v), want %q", pragma, got, err, want)
		}
	}
	if open := s.Writer().Stats().MaxOpenConnections; open != 1 {
		t.Errorf("the writer has %d connections", open)
	}
}

func TestOpen_Disposable_WaitsForNoDisk(t *testing.T) {
	t.Parallel()
	s, err := sqlite.Open(t.Context(), sqlite.Options{Path: newFile(t), Disposable: true})
	if err != nil {
		t.Fatal(err)
	}
	var got string
	err = s.Writer().QueryRowContext(t.Context(), "PRAGMA synchronous").Scan(&got)
	if closed := s.Close(); err != nil || closed != nil || got != "0" {
		t.Errorf("synchronous is %q: %v, %v", got, err, closed)
	}
}

// What stands in the files is nobody else's on the machine: sealed tokens,
// people's addresses, titles.
func TestOpen_FilesAndBackups_AreReadableByOwnerAlone(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("files have no such rights there")
	}
	path := newFile(t)
	s := openFile(t, path, nil)
	copied := filepath.Join(filepath.Dir(path), "copy.db")
	if err := s.Backup(t.Context(), copied); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{path, path + "-wal", path + "-shm", copied} {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s may be read as %v", filepath.Base(file), info.Mode().Perm())
		}
	}
}

var (
	someQueries = []*store.Query{
		{Name: "by rank", Collection: "notes", Order: []store.Order{{Path: store.Field("rank")}}},
		{Name: "of kind", Collection: "notes", Group: true, Filters: []store.Filter{{Path: store.Field("kind"), Op: store.Equal}}},
	}
	otherQuery = &store.Query{Name: "by kind", Collection: "notes", Order: []store.Order{{Path: store.Field("kind")}}}
)

func TestOpen_WhenDeclaredQueriesChange_BuildsTheNewIndexesAlone(t *testing.T) {
	t.Parallel()
	path := newFile(t)
	renamed := *someQueries[0]
	renamed.Name = "another name for by rank"
	steps := []struct {
		queries []*store.Query
		says    string
	}{
		{someQueries, "indexes=2"},
		{someQueries, ""},
		{[]*store.Query{&renamed, otherQuery}, "indexes=1"},
		{[]*store.Query{someQueries[1], otherQuery}, "indexes=1"},
		{nil, ""},
		{[]*store.Query{&renamed, otherQuery, someQueries[1]}, "indexes=3"},
	}
	for i, step := range steps {
		var log bytes.Buffer
		s, err := sqlite.Open(t.Context(), sqlite.Options{
			Path: path, Queries: step.queries, Log: slog.New(slog.NewTextHandler(&log, nil)),
		})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(log.String(), step.says) || (step.says == "" && log.Len() > 0) {
			t.Errorf("step %d logged %q, want %q", i, log.String(), step.says)
		}
		put(t, s, store.Doc("notes", string(rune('a'+i))), map[string]any{"rank": -i, "kind": "k"})
		if err := s.Check(t.Context()); err != nil {
			t.Errorf("step %d: %v", i, err)
		}
		for _, query := range step.queries {
			bound := query.With()
			if len(query.Filters) > 0 {
				bound = query.With("k")
			}
			if found, err := s.Query(t.Context(), bound); err != nil || len(found) != i+1 {
				t.Errorf("step %d: %q gave %d documents (%v), want %d", i, query.Name, len(found), err, i+1)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestClose_LeavesOneFileWithEverything(t *testing.T) {
	t.Parallel()
	path := newFile(t)
	s := openFile(t, path, someQueries)
	put(t, s, "notes/a", map[string]any{"rank": 1})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path + "-wal"); !os.IsNotExist(err) {
		t.Errorf("the write-ahead log is still there (%v)", err)
	}
	s = openFile(t, path, someQueries)
	if got, err := s.Get(t.Context(), "notes/a"); err != nil || !got.Exists() {
		t.Fatalf("got %v, %v", got, err)
	}
}

func TestCheck_FindsDamage(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]string{
		"an entry is missing":        `DELETE FROM entries`,
		"an entry is too many":       `INSERT INTO entries SELECT index_id, 'x', key, document FROM entries LIMIT 1`,
		"an entry is another's":      `INSERT INTO documents (path, data) VALUES ('pens/b', '{}'); UPDATE entries SET document = last_insert_rowid()`,
		"an entry is of no document": `UPDATE entries SET document = 99`,
		"a document cannot be read":  `UPDATE documents SET data = '{"at":{"$time":"yesterday"}}'`,
		"a document is no map":       `UPDATE documents SET data = 'null'`,
		"a document was changed":     `UPDATE documents SET data = '{"rank":2,"kind":"k"}'`,
		"a document was taken away":  `DELETE FROM documents`,
		"a document came on the sly": `INSERT INTO documents (path, data) VALUES ('notes/z', '{"rank":1}')`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openFile(t, newFile(t), someQueries)
			put(t, s, "notes/a", map[string]any{"rank": 1, "kind": "k"})
			if err := s.Check(t.Context()); err != nil {
				t.Fatal(err)
			}
			execute(t, s.Writer(), damage)
			if err := s.Check(t.Context()); !fault.Is(err, fault.Internal) || !strings.Contains(err.Error(), "damaged") {
				t.Fatalf("got %v", err)
			}
		})
	}
}

func put(t *testing.T, s store.Store, path store.Path, data map[string]any) {
	t.Helper()
	if err := s.Run(t.Context(), func(_ context.Context, tx store.Tx) error { return tx.Set(path, data) }); err != nil {
		t.Fatal(err)
	}
}
