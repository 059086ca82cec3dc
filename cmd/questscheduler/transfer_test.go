package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"questscheduler/demo"
	"questscheduler/internal/store"
	"questscheduler/internal/store/sqlite"
)

// TestMove_FromOneFileToFirestore: what a server stored, in the other store, tells the same of each
// poll, and the work goes on there.
func TestMove_FromOneFileToFirestore(t *testing.T) {
	t.Parallel()
	dir, pollID := t.TempDir(), ""
	t.Run("until the old server stops", func(t *testing.T) {
		job := newMainJob(&outside{t, startDemo(t, dir)})
		walk(t, job)
		pollID = job.pollID
	})
	embedded, cloud := []string{"QS_SQLITE_PATH=" + filepath.Join(dir, demo.StoreFile)}, onFirestore(t)
	file := filepath.Join(t.TempDir(), "all.export")

	run(t, embedded, "export", file).want(t, exitOK, `run "questscheduler import `+file)
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file's mode is %v (%v)", info.Mode(), err)
	}
	run(t, embedded, "export", file).want(t, exitUsage, "is there already; name another file")
	run(t, cloud, "import", file).want(t, exitOK, "were read back as they are in", "questscheduler doctor")
	run(t, cloud, "import", file).want(t, exitOK, "nothing was written")
	explained := run(t, embedded, "explain", pollID, "--replay")
	explained.want(t, exitOK, "agrees: the journal gives back the stored poll")
	if moved := run(t, cloud, "explain", pollID, "--replay"); moved.out != explained.out {
		t.Errorf("the moved poll is explained by\n%s\nwant\n%s", moved.out, explained.out)
	}
	run(t, settings(t.TempDir(), cloud...), "sweep", "drain").want(t, exitOK, "HANDED OVER")

	back := []string{"QS_SQLITE_PATH=" + filepath.Join(t.TempDir(), "back.db")}
	again := filepath.Join(t.TempDir(), "again.export")
	run(t, cloud, "export", again).want(t, exitOK)
	run(t, back, "import", again).want(t, exitOK)
	run(t, settings(t.TempDir(), back...), "doctor").want(t, exitOK, "is sound")
	if moved := run(t, back, "explain", pollID); moved.out != run(t, embedded, "explain", pollID).out {
		t.Errorf("the poll that was moved back is explained by\n%s", moved.out)
	}
}

func TestImport_BadFile_TouchesNoStore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	target := filepath.Join(dir, "data.db")
	for name, row := range map[string]struct {
		text, says string
		code       int
	}{
		"no export": {"Dear diary\n", `make one with "questscheduler export FILE"`, exitFailed},
		"cut short": {`{"export":"questscheduler","version":1,"at":"2026-03-01T12:00:00Z"}` + "\n", "the file lacks its end", exitFailed},
		"a later version": {
			`{"export":"questscheduler","version":2}` + "\n", "import it with the version of questscheduler that wrote it", exitFailed,
		},
	} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(row.text), 0o600); err != nil {
			t.Fatal(err)
		}
		run(t, []string{"QS_SQLITE_PATH=" + target}, "import", file).want(t, row.code, row.says, file)
	}
	run(t, []string{"QS_SQLITE_PATH=" + target}, "import", filepath.Join(dir, "none")).want(t, exitUsage, "no such file")
	if found, err := filepath.Glob(target + "*"); err != nil || len(found) > 0 {
		t.Errorf("a store was made: %v (%v)", found, err)
	}
}

func TestExport_NotWritten_SaysWhatToDo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	startDemo(t, dir)
	environ := []string{"QS_SQLITE_PATH=" + filepath.Join(dir, demo.StoreFile)}
	run(t, environ, "export", filepath.Join(dir, "none", "all.export")).want(t, exitFailed, "check its folder and the space on its disk")

	file := filepath.Join(dir, "all.export")
	err := writeNew(file, func(out io.Writer) error {
		_, err := out.Write([]byte("half"))
		return errors.Join(err, &fs.PathError{Op: "write", Path: file, Err: syscall.ENOSPC})
	})
	if err == nil || !strings.Contains(err.Error(), "check its folder and the space on its disk") {
		t.Errorf("on a full disk it returns %v", err)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("half a file is there")
	}
}

// TestImport_OfAPipe_IsRefused: the file is read several times.
func TestImport_OfAPipe_IsRefused(t *testing.T) {
	t.Parallel()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = reader.Close() })
	target := filepath.Join(t.TempDir(), "data.db")
	pipe := "/dev/fd/" + strconv.Itoa(int(reader.Fd()))
	if _, err := os.Stat(pipe); err != nil {
		t.Skip("this system does not name open files: ", err)
	}
	run(t, []string{"QS_SQLITE_PATH=" + target}, "import", pipe).want(t, exitUsage, "name a regular file")
	if _, err := os.Stat(target); err == nil {
		t.Error("a store was made")
	}
}

// TestImport_Unfinished_KeepsTheServerAway, and the commands that work as it does: on half of the documents they would repair
// what is no fault.
func TestImport_Unfinished_KeepsTheServerAway(t *testing.T) {
	t.Parallel()
	const says = `run "questscheduler import" with the same file again`
	unfinished := func(s store.Store) {
		err := s.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
			return tx.Set("transfers/import", map[string]any{"file": "x", "done": false})
		})
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	file, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(dir, "questscheduler.db"), Queries: queries()})
	if err != nil {
		t.Fatal(err)
	}
	unfinished(file)
	run(t, settings(dir), "serve").want(t, exitFailed, says)
	run(t, settings(dir), "sweep", "drain").want(t, exitFailed, says)
	run(t, settings(dir), "backfill", "tokens").want(t, exitFailed, says)
	run(t, settings(dir), "doctor").want(t, exitFailed, "wrong    store", says)
	copied := filepath.Join(dir, "all.export")
	run(t, settings(dir), "export", copied).want(t, exitFailed, says)
	if _, err := os.Stat(copied); err == nil {
		t.Error("what was not exported is there")
	}

	cloud := slices.Concat(settings(dir), onFirestore(t))
	cfg, err := loadSome(cloud, storeSettings...)
	if err != nil {
		t.Fatal(err)
	}
	documents, err := openFirestore(t.Context(), cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	unfinished(documents)
	run(t, cloud, "serve").want(t, exitFailed, says)
	run(t, cloud, "sweep", "drain").want(t, exitFailed, says)
	run(t, cloud, "doctor").want(t, exitFailed, "wrong    store", says)
}

func TestExport_OfARunningServer_PrintsNoDocument(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	startDemo(t, dir)
	got := run(t, []string{"QS_SQLITE_PATH=" + filepath.Join(dir, demo.StoreFile)}, "export", filepath.Join(dir, "all.export"))
	got.want(t, exitOK)
	if strings.Contains(got.out+got.errors, "@") || strings.Count(got.out, "\n") != 1 {
		t.Errorf("it prints %s%s", got.out, got.errors)
	}
}
