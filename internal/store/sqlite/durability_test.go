package sqlite_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"questscheduler/fault"
	"questscheduler/internal/store"
	"questscheduler/internal/store/sqlite"
)

// childFile tells a child process which data file to write to until it is
// killed.
const childFile = "SQLITE_TEST_CHILD_FILE"

// startWriting starts a child process that writes to a file and prints what
// was acknowledged, a line each, after a first line "open".
func startWriting(t *testing.T, path string, run int) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestChildThatWrites$", "-test.v")
	child.Env = append(os.Environ(), childFile+"="+path, fmt.Sprintf("SQLITE_TEST_CHILD_RUN=%d", run))
	child.Stderr = os.Stderr
	output, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		if lines.Text() == "open" {
			return child, lines
		}
	}
	t.Fatalf("the child did not open the file: %v", child.Wait())
	return nil, nil
}

func TestRun_ProcessKilledDuringWrites_KeepsAcknowledgedOnes(t *testing.T) {
	t.Parallel()
	path := newFile(t)
	acknowledged := map[string]bool{}
	for run := range 3 {
		child, lines := startWriting(t, path, run)
		_, err := sqlite.Open(t.Context(), sqlite.Options{Path: path})
		if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "in use by another questscheduler process") {
			t.Errorf("a second process opened the file: %v", err)
		}
		for want := len(acknowledged) + 300; len(acknowledged) < want && lines.Scan(); {
			acknowledged[lines.Text()] = true
		}
		if err := child.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for lines.Scan() { // what it said before it died counts too
			acknowledged[lines.Text()] = true
		}
		if err := child.Wait(); err == nil {
			t.Fatal("the child ended before it was killed")
		}
		wantAll(t, path, acknowledged)
	}
}

// wantAll opens the file, which nothing but the death of its process closed.
func wantAll(t *testing.T, path string, acknowledged map[string]bool) {
	t.Helper()
	s, err := sqlite.Open(t.Context(), sqlite.Options{Path: path, Queries: someQueries})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := s.Check(t.Context()); err != nil {
		t.Error(err)
	}
	found, err := s.Query(t.Context(), someQueries[0].With())
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	for _, document := range found {
		there[document.Path.ID()] = true
		pair, err := s.Get(t.Context(), store.Doc("pairs", document.Path.ID()))
		if err != nil || !pair.Exists() {
			t.Errorf("half of a transaction is there: %s (%v)", document.Path, err)
		}
	}
	for id := range acknowledged {
		if id != "" && !there[id] {
			t.Errorf("%s was acknowledged and is not there", id)
		}
	}
}

// TestChildThatWrites is what the child processes run; here it has nothing to
// do.
func TestChildThatWrites(t *testing.T) {
	path := os.Getenv(childFile)
	if path == "" {
		t.Skip("runs in child processes that are killed")
	}
	s, err := sqlite.Open(t.Context(), sqlite.Options{Path: path, Queries: someQueries})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("open")
	var all sync.WaitGroup
	for writer := range 8 {
		all.Go(func() {
			for i := 0; ; i++ {
				id := fmt.Sprintf("%s-%d-%d", os.Getenv("SQLITE_TEST_CHILD_RUN"), writer, i)
				err := s.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
					if err := tx.Create(store.Doc("notes", id), map[string]any{"rank": i, "kind": "k"}); err != nil {
						return err
					}
					return tx.Create(store.Doc("pairs", id), nil)
				})
				if err != nil {
					t.Error(err)
					return
				}
				// One write call a line, so that no line is torn but the last.
				if _, err := os.Stdout.WriteString(id + "\n"); err != nil {
					return // the parent has gone
				}
			}
		})
	}
	all.Wait()
}
