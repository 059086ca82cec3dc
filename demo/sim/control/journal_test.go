package control_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"questscheduler/demo/sim/control"
)

// reopen opens the journal and gives its lines.
func reopen(t *testing.T, path string) (*control.Journal, []string) {
	t.Helper()
	var lines []string
	j, err := control.OpenJournal(path, func(line []byte) error {
		lines = append(lines, strings.TrimSpace(string(line)))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() }) // a test may have closed it already
	return j, lines
}

func TestJournal(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "deep", "state.jsonl")
	j, lines := reopen(t, path)
	if len(lines) != 0 {
		t.Fatalf("a new journal holds %q", lines)
	}
	for _, record := range []string{"a", "b"} {
		if err := j.Append(record); err != nil {
			t.Fatal(err)
		}
	}

	t.Log("a line that was being written when the process was killed is cut off")
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteString(`"half`); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	j, lines = reopen(t, path)
	if !slices.Equal(lines, []string{`"a"`, `"b"`}) || j.Lines() != 2 {
		t.Fatalf("reopened: %q, %d lines", lines, j.Lines())
	}
	if err := j.Append("c"); err != nil {
		t.Fatal(err)
	}

	t.Log("what a rewrite leaves is followed by what comes after")
	if err := j.Rewrite(slices.Values([]any{"all"})); err != nil {
		t.Fatal(err)
	}
	if err := j.Append("d"); err != nil {
		t.Fatal(err)
	}
	_, lines = reopen(t, path)
	if !slices.Equal(lines, []string{`"all"`, `"d"`}) {
		t.Fatalf("after the rewrite: %q", lines)
	}

	t.Log("a closed journal takes nothing")
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if j.Append("e") == nil {
		t.Error("appended to a closed journal")
	}
}

func TestOpenJournal_DamagedLine_IsNamed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.jsonl")
	if err := os.WriteFile(path, []byte("{}\nrubbish\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := control.OpenJournal(path, func(line []byte) error {
		if line[0] != '{' {
			return os.ErrInvalid
		}
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("got %v", err)
	}
}
