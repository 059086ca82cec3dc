package sqlite_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"questscheduler/fault"
	"questscheduler/internal/store"
	"questscheduler/internal/store/sqlite"
)

func openReader(t *testing.T, path string, queries []*store.Query) *sqlite.Reader {
	t.Helper()
	r, err := sqlite.OpenReader(t.Context(), sqlite.Options{Path: path, Queries: queries})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func TestOpenReader_SeesWhatTheStoreCommits(t *testing.T) {
	t.Parallel()
	path := newFile(t)
	s := openFile(t, path, someQueries)
	put(t, s, "notes/a", map[string]any{"rank": 1, "kind": "k"})
	r := openReader(t, path, someQueries)
	put(t, s, "notes/b", map[string]any{"rank": 2, "kind": "k"})

	if got, err := r.Get(t.Context(), "notes/b"); err != nil || got.Data["rank"] != int64(2) {
		t.Errorf("got %v, %v", got, err)
	}
	if got, err := r.GetAll(t.Context(), []store.Path{"notes/a", "notes/none"}); err != nil || !got[0].Exists() || got[1].Exists() {
		t.Errorf("got %v, %v", got, err)
	}
	if found, err := r.Query(t.Context(), someQueries[0].With()); err != nil || len(found) != 2 {
		t.Errorf("got %v, %v", found, err)
	}
	if _, err := r.Query(t.Context(), otherQuery.With()); !fault.Is(err, fault.Invalid) {
		t.Errorf("a query that was not declared: %v", err)
	}
	if err := r.Check(t.Context()); err != nil {
		t.Error(err)
	}
	if err := r.QuickCheck(t.Context()); err != nil || r.SchemaVersion() < 1 {
		t.Errorf("schema version %d, %v", r.SchemaVersion(), err)
	}
}

// TestOpenReader_BesideAProcessThatWrites reads and backs up what another
// process has locked, and what it left behind when it was killed.
func TestOpenReader_BesideAProcessThatWrites(t *testing.T) {
	t.Parallel()
	path := newFile(t)
	child, lines := startWriting(t, path, 0)
	acknowledged := map[string]bool{}
	for len(acknowledged) < 100 && lines.Scan() {
		acknowledged[lines.Text()] = true
	}
	wantRead := func(when string) {
		t.Helper()
		r := openReader(t, path, someQueries)
		if err := r.Check(t.Context()); err != nil {
			t.Errorf("%s: %v", when, err)
		}
		for id := range acknowledged {
			got, err := r.Get(t.Context(), store.Doc("notes", id))
			if id != "" && (err != nil || !got.Exists()) {
				t.Fatalf("%s: %s was acknowledged and is not there (%v)", when, id, err)
			}
		}
		file := filepath.Join(t.TempDir(), "backup.db")
		if err := r.Backup(t.Context(), file); err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		if err := openFile(t, file, someQueries).Check(t.Context()); err != nil {
			t.Errorf("%s: the backup: %v", when, err)
		}
	}
	wantRead("while it writes")
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() {
		acknowledged[lines.Text()] = true
	}
	if err := child.Wait(); err == nil {
		t.Fatal("the child ended before it was killed")
	}
	wantRead("after it was killed")
	if _, err := os.Stat(path + "-wal"); err != nil {
		t.Errorf("a reader took the log that the killed process left: %v", err)
	}
}

func TestOpenReader_UnreadableFile_ReturnsHelpfulError(t *testing.T) {
	t.Parallel()
	made := func(t *testing.T, change string) string {
		path := newFile(t)
		s := openFile(t, path, nil)
		if change != "" {
			execute(t, s.Writer(), change)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, test := range map[string]struct {
		prepare func(t *testing.T) string
		kind    fault.Kind
		says    string
	}{
		"no path":   {func(*testing.T) string { return "" }, fault.Invalid, "set its path"},
		"no file":   {newFile, fault.NotFound, "there is no data file yet"},
		"no folder": {func(t *testing.T) string { return filepath.Join(t.TempDir(), "none", "d.db") }, fault.Invalid, "folder"},
		"text": {func(t *testing.T) string {
			path := newFile(t)
			if err := os.WriteFile(path, bytes.Repeat([]byte("no database\n"), 500), 0o600); err != nil {
				t.Fatal(err)
			}
			return path
		}, fault.Invalid, "not a questscheduler database"},
		"a newer questscheduler's": {
			func(t *testing.T) string { return made(t, "PRAGMA user_version = 99") }, fault.Invalid, "newer questscheduler",
		},
		"an older questscheduler's": {
			func(t *testing.T) string { return made(t, "PRAGMA user_version = 0") }, fault.Invalid, "start its server once",
		},
		"without the index of a query": {func(t *testing.T) string { return made(t, "") }, fault.Invalid, "start its server once"},
		"another program's database": {func(t *testing.T) string {
			path := filepath.Join(t.TempDir(), "other.db")
			execute(t, elsewhere(t, path), "CREATE TABLE theirs (x)")
			return path
		}, fault.Invalid, "database of another program"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := test.prepare(t)
			r, err := sqlite.OpenReader(t.Context(), sqlite.Options{Path: path, Queries: someQueries})
			if err == nil {
				t.Fatal("it was opened", r.Close())
			}
			if !fault.Is(err, test.kind) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v", err)
			}
			if name == "no file" {
				if _, err := os.Stat(path); !os.IsNotExist(err) {
					t.Errorf("a file was made (%v)", err)
				}
			}
		})
	}
}

func TestReader_QuickCheckFindsDamagedPages(t *testing.T) {
	t.Parallel()
	path := newFile(t)
	s := openFile(t, path, nil)
	put(t, s, "notes/a", map[string]any{"text": noise(1, 25_000)})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const page = 4096
	copy(content[page:], bytes.Repeat([]byte{0xff}, page)) // behind the first page, which the schema needs
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	r := openReader(t, path, nil)
	if err := r.QuickCheck(t.Context()); !fault.Is(err, fault.Internal) || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("got %v", err)
	}
}

func TestReader_AfterClose_IsUnavailable(t *testing.T) {
	t.Parallel()
	path := newFile(t)
	openFile(t, path, someQueries)
	r := openReader(t, path, someQueries)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	_, getErr := r.Get(t.Context(), "notes/a")
	_, queryErr := r.Query(t.Context(), someQueries[0].With())
	for name, err := range map[string]error{
		"get": getErr, "query": queryErr, "check": r.QuickCheck(t.Context()),
		"backup": r.Backup(t.Context(), filepath.Join(t.TempDir(), "b.db")),
	} {
		if !fault.Is(err, fault.Unavailable) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
