// Command simulate searches for histories that break an invariant of
// docs/architecture.md. It lives through worlds of the real program on memory drivers
// and simulators (package worldtest): each draws, from its seed alone, polls,
// commands, acts in people's calendars, faults and deaths of the program. Several
// operations may be concurrent; then the seed draws, between any two calls of the
// store, the queue or Google, which of them continues. The invariants are checked
// after every step, and at a share of those points; then the faults end, and the
// conditions of a world at rest are checked.
//
// A world that fails is shrunk: steps that the failure does not need are left out,
// and the rest is printed with the command that repeats it. One seed is one history,
// byte for byte.
package main

import (
	"flag"
	"fmt"
	"io"
	"iter"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"questscheduler/internal/test/worldtest"
)

// garbage is the GC percentage, higher than Go's default: worlds are small and become
// garbage as a whole.
const garbage = 800

func main() {
	seeds := flag.Uint64("seeds", 1000, "how many worlds to live through")
	first := flag.Uint64("first", 1, "the first world's seed; the others follow it")
	all := flag.Bool("print", false, "print the history of every world, whether it fails or not")
	until := flag.Bool("until-failure", false, "stop at the first world that fails, and print its seed and its first problem in one line")
	flag.Parse()
	debug.SetGCPercent(garbage)
	if *until {
		os.Exit(reportUntil(os.Stdout, *first, *seeds))
	}
	again := 0
	if *seeds > 1 { // one world alone is a failure that is looked into
		again = repeat(os.Stdout)
	}
	began := time.Now()
	failed, spent := explore(os.Stdout, following(*first, *seeds), *all)
	took := time.Since(began)
	rate := float64(*seeds) / took.Seconds()
	fmt.Printf("%d worlds from seed %d in %v: %.0f a second, %.0f a second and core; %d failed\n",
		*seeds, *first, took.Round(time.Millisecond), rate, rate/float64(runtime.GOMAXPROCS(0)), failed)
	fmt.Println(shares(spent))
	if failed+again > 0 {
		os.Exit(1)
	}
}

// repeat lives through the worlds that once failed, and says how many fail again.
func repeat(out io.Writer) (failed int) {
	known, err := regressions(onceFailed)
	if err != nil {
		fmt.Fprintln(out, err)
		return 1
	}
	failed, _ = explore(out, slices.Values(known), false)
	fmt.Fprintf(out, "%d worlds that once failed; %d fail again\n", len(known), failed)
	return failed
}

// shares says where the time went.
func shares(spent worldtest.Spent) string {
	whole := float64(max(1, spent.Program+spent.Simulator+spent.Checks))
	percent := func(d time.Duration) float64 { return 100 * float64(d) / whole }
	return fmt.Sprintf("of the time %.0f%% went into the program with its store and queue, %.0f%% into Google's simulator, "+
		"%.0f%% into checking",
		percent(spent.Program), percent(spent.Simulator), percent(spent.Checks))
}

// explore lives through the worlds of some seeds, one a core at a time, and prints those
// that fail, or all; the result is how many failed and where the time went. A world
// shares nothing with another, so which of them run together changes none.
func explore(out io.Writer, of iter.Seq[uint64], all bool) (failed int, spent worldtest.Spent) {
	seeds := make(chan uint64)
	var printing sync.Mutex
	var workers sync.WaitGroup
	tell := func(lived history) {
		printing.Lock()
		defer printing.Unlock()
		spent = spent.Add(lived.spent)
		if len(lived.problems) > 0 {
			failed++
		}
		if all || len(lived.problems) > 0 {
			fmt.Fprintln(out, lived)
		}
	}
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for seed := range seeds {
				lived := live(seed, nil)
				if len(lived.problems) > 0 {
					lived = shrink(lived)
				}
				tell(lived)
			}
		})
	}
	for seed := range of {
		seeds <- seed
	}
	close(seeds)
	workers.Wait()
	return failed, spent
}
