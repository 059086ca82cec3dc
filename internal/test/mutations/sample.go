package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"slices"
	"time"
)

// draw returns n of the changes, in their order; all if n is 0. Each change draws a lot
// of its own from its name and the seed, so a change of the source elsewhere leaves the
// others in the sample, and a larger sample contains the smaller ones.
func draw(changes []change, n int, seed uint64) []change {
	if n == 0 || n >= len(changes) {
		return changes
	}
	lot := func(c change) []byte {
		sum := sha256.Sum256(fmt.Appendf(nil, "%d %s", seed, c.name()))
		return sum[:]
	}
	drawn := slices.SortedFunc(slices.Values(changes), func(a, b change) int { return bytes.Compare(lot(a), lot(b)) })[:n]
	slices.SortFunc(drawn, func(a, b change) int { return a.number - b.number })
	return drawn
}

// progress returns a function that writes how far a piece of work is, every ten seconds.
func progress(out io.Writer, work string, of int) func(done int) {
	last := time.Now()
	return func(done int) {
		if time.Since(last) >= 10*time.Second {
			last = time.Now()
			fmt.Fprintf(out, "%s %s: %d of %d\n", last.Format(time.TimeOnly), work, done, of)
		}
	}
}
