package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"questscheduler/demo"
	"questscheduler/internal/store/sqlite"
	"questscheduler/internal/test/worldtest"
)

// dataDir is a folder for the data of servers and demos. After the test, each poll in
// it must equal the replay of its journal.
func dataDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Cleanup(func() {
		path := filepath.Join(dir, demo.StoreFile)
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return // nothing ran
		}
		ctx := context.WithoutCancel(t.Context())
		documents, err := sqlite.Open(ctx, sqlite.Options{Path: path, Queries: append(queries(), worldtest.AllPolls)})
		if err != nil {
			t.Fatal(err)
		}
		problems, err := worldtest.ReplayEach(ctx, documents, nil)
		err = errors.Join(err, documents.Close())
		if err != nil {
			t.Fatal(err)
		}
		for _, problem := range problems {
			t.Errorf("at the end of the test %s", problem)
		}
	})
	return dir
}
