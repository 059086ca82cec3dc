package main

import (
	"bytes"
	"flag"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"
)

// first is the seed from which the fresh worlds go on: others every day, and
// those of a day again by the date, as a number such as 20260301 and four zeros.
var first = flag.Uint64("first", today(time.Now()), "the first fresh world's seed; the others follow it")

func today(now time.Time) uint64 {
	year, month, day := now.UTC().Date()
	return uint64((year*100+int(month))*100+day) * 10_000
}

// fresh is how many worlds nobody has tried are lived through beside the
// regressions; `make sim` tries more.
func fresh() uint64 {
	if testing.Short() {
		return 20
	}
	return 300
}

func TestMain(m *testing.M) {
	debug.SetGCPercent(garbage)
	m.Run()
}

func TestWorldsThatOnceFailed_HoldNow(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if failed := repeat(&out); failed > 0 {
		t.Errorf("%s", &out)
	}
}

func TestRegressions_AreTheNumbersBeforeComments(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want []uint64
		good bool
	}{
		{"# a list\n7 # a fault\n\n 1200\n", []uint64{7, 1200}, true},
		{"# 9 is none\n", nil, true},
		{"7\nseven # a fault\n", nil, false},
		{"7 8\n", nil, false},
		{"7\n9\n7 # again\n", nil, false},
	} {
		if got, err := regressions(c.text); !slices.Equal(got, c.want) || (err == nil) != c.good {
			t.Errorf("%q has the seeds %v (%v), want %v", c.text, got, err, c.want)
		}
	}
}

func TestFreshWorlds_Hold(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	t.Logf("%d worlds from seed %d on; again: go test ./internal/test/simulate -first %d", fresh(), *first, *first)
	if failed, _ := explore(&out, following(*first, fresh()), false); failed > 0 {
		t.Errorf("%d of %d worlds from seed %d on failed\n%s", failed, fresh(), *first, &out)
	}
}

func TestOneSeed_IsOneHistory(t *testing.T) {
	t.Parallel()
	for seed := range uint64(12) {
		first, second := live(seed, nil).String(), live(seed, nil).String()
		if first != second {
			t.Errorf("seed %d has two histories:\n%s\n%s", seed, first, second)
		}
		if other := live(seed+1, nil).String(); other == first {
			t.Errorf("seeds %d and %d have the same history", seed, seed+1)
		}
	}
}

// A check after a step reads only what changed, and that is enough.
func TestWhatACheckFinds_IsWhatReadingEverythingFinds(t *testing.T) {
	t.Parallel()
	for seed := range uint64(25) {
		l := unborn(seed, nil)
		l.checked = func(found []string) {
			if anew := l.w.ProblemsAnew(); !slices.Equal(found, anew) {
				t.Errorf("seed %d: a check found %q, and reading everything %q, after\n%s", seed, found, anew, l.history)
			}
		}
		l.live()
	}
}

// A step has draws of its own: leaving one out leaves the steps before it as they
// were.
func TestStep_LeftOut_ChangesNoneBeforeIt(t *testing.T) {
	t.Parallel()
	whole := live(7, nil)
	last := whole.planned - 1
	less := live(7, map[stepKey]bool{{last, 0}: true})
	// The end is the same line in both, but comes sooner without the step.
	end := 0
	for i, line := range less.lines {
		if strings.Contains(line, "the faults end") {
			end = i
		}
	}
	if end == 0 || strings.Join(less.lines[:end], "\n") != strings.Join(whole.lines[:end], "\n") {
		t.Errorf("without its last step the history differs before it:\n%s\n%s", whole, less)
	}
}
