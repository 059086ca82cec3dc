package sqlite_test

import (
	"encoding/base64"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"questscheduler/internal/store"
	"questscheduler/internal/store/sqlite"
	"questscheduler/internal/test/storetest"
)

func openFile(t *testing.T, path string, queries []*store.Query) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), sqlite.Options{Path: path, Queries: queries})
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

// noise is a text that takes its length in the file, the same for a seed.
func noise(seed, length int) string {
	bytes := make([]byte, length)
	_, _ = rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)}).Read(bytes) // it cannot fail
	return base64.StdEncoding.EncodeToString(bytes)[:length]
}

func newFile(t *testing.T) string { return filepath.Join(t.TempDir(), "data ?#%é.db") }

func TestConformance(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T, queries []*store.Query) store.Store {
		return openFile(t, newFile(t), queries)
	})
}

func TestConformance_Durable(t *testing.T) {
	t.Parallel()
	storetest.RunDurable(t, func(t *testing.T) storetest.Place { return file(newFile(t)) })
}

// file is a data file as a place of the suite.
type file string

func (f file) Open(t *testing.T, queries []*store.Query) store.Store {
	t.Helper()
	return openFile(t, string(f), queries)
}

// Crash copies the files as they are now, as the next process would find them. It copies
// the data file before its log: a concurrent write goes to the log's end, where SQLite
// detects a torn record.
func (f file) Crash(t *testing.T) storetest.Place {
	t.Helper()
	left := file(newFile(t))
	for _, suffix := range []string{"", "-wal"} {
		content, err := os.ReadFile(string(f) + suffix)
		if errors.Is(err, fs.ErrNotExist) && suffix != "" {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(string(left)+suffix, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return left
}
