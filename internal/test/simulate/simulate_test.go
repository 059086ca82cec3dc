package main

import (
	"bytes"
	"flag"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
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

// regressions are the seeds of testdata/seeds.txt.
func regressions(t *testing.T) (seeds []uint64) {
	t.Helper()
	text, err := os.ReadFile("testdata/seeds.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		said, _, _ := strings.Cut(line, "#")
		said = strings.TrimSpace(said)
		if said == "" {
			continue
		}
		seed, err := strconv.ParseUint(said, 10, 64)
		if err != nil {
			t.Fatalf("testdata/seeds.txt: %v", err)
		}
		seeds = append(seeds, seed)
	}
	return seeds
}

func TestWorldsThatOnceFailed_HoldNow(t *testing.T) {
	t.Parallel()
	for _, seed := range regressions(t) {
		if lived := live(seed, nil); len(lived.problems) > 0 {
			t.Errorf("%s", shrink(lived))
		}
	}
}

func TestFreshWorlds_Hold(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	t.Logf("%d worlds from seed %d on; again: go test ./internal/test/simulate -first %d", fresh(), *first, *first)
	if failed, _ := explore(&out, *first, fresh(), false); failed > 0 {
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
