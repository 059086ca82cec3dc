package keyfile_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"questscheduler/internal/config/keyfile"
)

func fixed(content string) func() ([]byte, error) {
	return func() ([]byte, error) { return []byte(content), nil }
}

func TestLoadOrCreate_SecondStart_ReadsTheKeyOfTheFirst(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "new", "folder")
	path := filepath.Join(folder, "key")
	first, err := keyfile.LoadOrCreate(path, fixed("one"))
	if err != nil || string(first) != "one" {
		t.Fatalf("first: %q, %v", first, err)
	}
	second, err := keyfile.LoadOrCreate(path, fixed("two"))
	if err != nil || string(second) != "one" {
		t.Errorf("second: %q, %v", second, err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, want 0600", info.Mode().Perm())
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) != 1 {
		t.Errorf("the folder holds %v (%v), want the key alone", left, err)
	}
}

func TestLoadOrCreate_ConcurrentStarts_EndWithOneKey(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "key")
	var count atomic.Int32
	keys := make([][]byte, 8)
	var group sync.WaitGroup
	for i := range keys {
		group.Go(func() {
			key, err := keyfile.LoadOrCreate(path, func() ([]byte, error) {
				return fmt.Appendf(nil, "key %d", count.Add(1)), nil
			})
			if err != nil {
				t.Errorf("start %d: %v", i, err)
			}
			keys[i] = key
		})
	}
	group.Wait()
	for i, key := range keys {
		if !bytes.Equal(key, keys[0]) {
			t.Errorf("start %d has %q, start 0 %q", i, key, keys[0])
		}
	}
}

func TestLoadOrCreate_OtherFile_IsRefused(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		content string
		mode    os.FileMode
		want    error
	}{
		"open to the group":  {"key", 0o640, keyfile.ErrReadable},
		"open to all":        {"key", 0o604, keyfile.ErrReadable},
		"empty":              {"", 0o600, nil},
		"far larger than it": {string(make([]byte, 70<<10)), 0o600, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "key")
			if err := os.WriteFile(path, []byte(tc.content), tc.mode); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, tc.mode); err != nil {
				t.Fatal(err)
			}
			_, err := keyfile.LoadOrCreate(path, fixed("other"))
			if err == nil || tc.want != nil && !errors.Is(err, tc.want) {
				t.Errorf("got %v", err)
			}
			if kept, _ := os.ReadFile(path); string(kept) != tc.content {
				t.Error("the file was changed")
			}
		})
	}
	t.Run("a folder", func(t *testing.T) {
		t.Parallel()
		if _, err := keyfile.LoadOrCreate(t.TempDir(), fixed("other")); err == nil {
			t.Error("a folder was accepted as a key")
		}
	})
}

func TestLoadOrCreate_FailedGeneration_LeavesNoFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "key")
	broken := errors.New("no randomness")
	if _, err := keyfile.LoadOrCreate(path, func() ([]byte, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("stat: %v", err)
	}
}
