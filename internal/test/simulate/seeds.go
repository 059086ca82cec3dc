package main

import (
	_ "embed"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
)

//go:embed testdata/seeds.txt
var onceFailed string

// regressions are the seeds of testdata/seeds.txt, one a line before a comment. A line that is
// no number and a seed that is there twice are errors.
func regressions(text string) (seeds []uint64, err error) {
	for line := range strings.Lines(text) {
		said, _, _ := strings.Cut(line, "#")
		said = strings.TrimSpace(said)
		if said == "" {
			continue
		}
		seed, err := strconv.ParseUint(said, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("testdata/seeds.txt: %w", err)
		}
		if slices.Contains(seeds, seed) {
			return nil, fmt.Errorf("testdata/seeds.txt: seed %d is there twice", seed)
		}
		seeds = append(seeds, seed)
	}
	return seeds, nil
}

// following are n seeds from the first on.
func following(first, n uint64) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for i := range n {
			if !yield(first + i) {
				return
			}
		}
	}
}
