package main

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
)

// untilFailure lives through at most n worlds, one a core at a time, and stops
// at the first that fails; live lives through the world of a seed. Worlds are taken in the order of their seeds, and
// those that are under way are lived to their end, so what is given is the
// failing world of the lowest seed, however many cores there are.
func untilFailure(first, n uint64, live func(seed uint64) history) (failing history, failed bool) {
	var taking sync.Mutex
	next := first
	take := func() (seed uint64, more bool) {
		taking.Lock()
		defer taking.Unlock()
		if failed || next-first >= n {
			return 0, false
		}
		next++
		return next - 1, true
	}
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for seed, more := take(); more; seed, more = take() {
				lived := live(seed)
				if len(lived.problems) == 0 {
					continue
				}
				taking.Lock()
				if !failed || seed < failing.seed {
					failing, failed = lived, true
				}
				taking.Unlock()
			}
		})
	}
	workers.Wait()
	return failing, failed
}

// reportUntil prints the result of untilFailure in one line and returns the exit code.
func reportUntil(out io.Writer, first, n uint64) int {
	failing, failed := untilFailure(first, n, func(seed uint64) history { return live(seed, nil) })
	if !failed {
		fmt.Fprintf(out, "%d worlds from seed %d hold\n", n, first)
		return 0
	}
	problem, _, _ := strings.Cut(failing.problems[0], "\n")
	fmt.Fprintf(out, "seed %d: %s\n", failing.seed, problem)
	return 1
}
