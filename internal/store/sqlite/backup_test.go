package sqlite_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"questscheduler/fault"
	"questscheduler/internal/store"
	"questscheduler/internal/store/sqlite"
)

func TestBackup_WhileOthersWrite_IsOneWholeState(t *testing.T) {
	t.Parallel()
	s := openFile(t, newFile(t), someQueries)
	put(t, s, "notes/before", map[string]any{"rank": -1})
	execute(t, s.Writer(), "CREATE TABLE jobs (id INTEGER PRIMARY KEY)")
	stop := make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			err := s.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
				if err := tx.Set(store.Doc("notes", fmt.Sprint(i%50)), map[string]any{"rank": i}); err != nil {
					return err
				}
				return tx.Set("pairs/last", map[string]any{"rank": i})
			})
			if err != nil {
				t.Error(err)
				return
			}
		}
	})
	folder := t.TempDir()
	for i := range 3 {
		file := filepath.Join(folder, fmt.Sprintf("backup %d.db", i))
		if err := s.Backup(t.Context(), file); err != nil {
			t.Error(err)
			continue
		}
		wantWhole(t, file)
	}
	close(stop)
	all.Wait()
}

// wantWhole opens a backup and checks for the last write on both of its sides.
func wantWhole(t *testing.T, file string) {
	t.Helper()
	s := openFile(t, file, someQueries)
	if err := s.Check(t.Context()); err != nil {
		t.Error(err)
	}
	found, err := s.Query(t.Context(), someQueries[0].With())
	if err != nil || len(found) == 0 || found[0].Path != "notes/before" {
		t.Fatalf("got %v, %v", found, err)
	}
	last, err := s.Get(t.Context(), "pairs/last")
	if err != nil {
		t.Fatal(err)
	}
	if last.Exists() && found[len(found)-1].Data["rank"] != last.Data["rank"] {
		t.Errorf("the backup holds half a transaction: %v and %v", found[len(found)-1], last)
	}
	if _, err := s.Writer().ExecContext(t.Context(), "SELECT * FROM jobs"); err != nil {
		t.Errorf("another library's table is missing: %v", err)
	}
}

func TestBackup_WhatCannotBeWritten_LeavesNothingBehind(t *testing.T) {
	t.Parallel()
	s := openFile(t, newFile(t), nil)
	put(t, s, "notes/a", nil)
	folder := t.TempDir()
	there := filepath.Join(folder, "there")
	if err := os.WriteFile(there, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	tests := []struct {
		name string
		ctx  context.Context
		file string
		kind fault.Kind
	}{
		{"no name", t.Context(), "", fault.Invalid},
		{"a file that is there", t.Context(), there, fault.Conflict},
		{"a folder that is not there", t.Context(), filepath.Join(folder, "none", "b.db"), fault.Invalid},
		{"a context that has ended", cancelled, filepath.Join(folder, "b.db"), fault.Unavailable},
	}
	for _, test := range tests {
		if err := s.Backup(test.ctx, test.file); !fault.Is(err, test.kind) {
			t.Errorf("%s: got %v, want %s", test.name, err, test.kind)
		}
	}
	if text, err := os.ReadFile(there); err != nil || string(text) != "kept" {
		t.Errorf("the file that was there holds %q (%v)", text, err)
	}
	names, err := os.ReadDir(folder)
	if err != nil || !slices.EqualFunc(names, []string{"there"}, func(e os.DirEntry, name string) bool { return e.Name() == name }) {
		t.Errorf("the folder holds %v (%v)", names, err)
	}
}

func TestBackup_OfAStoreThatIsClosed_Refused(t *testing.T) {
	t.Parallel()
	s, err := sqlite.Open(t.Context(), sqlite.Options{Path: newFile(t)})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Backup(t.Context(), filepath.Join(t.TempDir(), "b.db")); !fault.Is(err, fault.Unavailable) {
		t.Errorf("got %v", err)
	}
}
