package sqlite_test

import (
	"path/filepath"
	"testing"

	"questscheduler/store"
	"questscheduler/store/sqlite"
	"questscheduler/store/storetest"
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

func newFile(t *testing.T) string { return filepath.Join(t.TempDir(), "data ?#%é.db") }

func TestConformance(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T, queries []*store.Query) store.Store {
		return openFile(t, newFile(t), queries)
	})
}
