package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestTry_Sample_TriesThatManyAndSaysOfHowMany(t *testing.T) {
	t.Parallel()
	of := open(t)
	var out, told bytes.Buffer
	s, err := of.try(t.Context(), &out, "limits", options{own: true, sample: 5, seed: 1, progress: &told})
	if err != nil {
		t.Fatal(err)
	}
	if s.changes != 5 || s.of <= 5 || s.killed+s.survived != 5 || strings.Count(out.String(), "limits.go:") != s.survived {
		t.Errorf("the score is %+v after\n%s", s, &out)
	}
	if size := s.size(); !strings.HasPrefix(size, "5 of ") {
		t.Errorf("the row says %q", size)
	}
	if !strings.Contains(told.String(), "building the tests of sample/limits") {
		t.Errorf("the progress is %q", &told)
	}
}

func TestDraw_OneSeed_DrawsTheSameFromAChangedSource(t *testing.T) {
	t.Parallel()
	all := make([]change, 100)
	for i := range all {
		all[i] = change{number: i + 1, file: "a.go", line: i, what: strings.Repeat("x", i)}
	}
	drawn := draw(all, 20, 7)
	if len(drawn) != 20 || !slices.IsSortedFunc(drawn, func(a, b change) int { return a.number - b.number }) {
		t.Fatalf("drawn are %v", drawn)
	}
	larger := draw(all, 30, 7)
	for _, c := range drawn {
		if !slices.Contains(larger, c) {
			t.Errorf("%v is in the sample of 20 and not in that of 30", c)
		}
	}
	moved := slices.Clone(all)
	for i := range moved {
		moved[i].number, moved[i].line = moved[i].number+3, moved[i].line+9
	}
	for i, c := range draw(moved, 20, 7) {
		if c.name() != drawn[i].name() {
			t.Error("other changes are drawn after lines moved")
		}
	}
	if slices.Equal(draw(all, 20, 8), drawn) {
		t.Error("another seed draws the same")
	}
	if len(draw(all, 0, 7)) != 100 || len(draw(all, 200, 7)) != 100 {
		t.Error("without a bound below their number not all are tried")
	}
}

// script stands for a built suite: notices needs only its exit code and its time.
func script(t *testing.T, text string) *suite {
	t.Helper()
	s := &suite{folder: t.TempDir(), least: time.Second, progress: io.Discard}
	s.binary = filepath.Join(s.folder, "suite")
	if err := os.WriteFile(s.binary, []byte("#!/bin/sh\n"+text), 0o700); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestNotices_RunThatNeverEnds_CountsOnlyIfTheChangeIsTheReason(t *testing.T) {
	t.Parallel()
	waits := script(t, `[ "$MUTATION" = 0 ] || exec sleep 600`)
	if !waits.notices(t.Context(), 1, nil) || waits.late.Load() != 1 {
		t.Error("a change with which the tests wait for ever is not noticed by time")
	}
	busy := script(t, `[ "$MUTATION" = 0 ] && exec sleep 0.5; [ -e again ] || { touch again; exec sleep 600; }`)
	if busy.notices(t.Context(), 1, nil) || busy.late.Load() != 0 {
		t.Error("a change counts as noticed because the machine was busy")
	}
	fails := script(t, "exit 1")
	if !fails.notices(t.Context(), 1, nil) || fails.late.Load() != 0 {
		t.Error("a failing test does not notice")
	}
}
