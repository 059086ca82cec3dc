// Command mutants shows that the simulation would notice. It plants one fault at
// a time into the program, each of which breaks an invariant of docs/architecture.md in a
// way that somebody might, and lives through random worlds (internal/test/simulate)
// until one of them finds it. A fault that no world finds says that the worlds
// are not good enough yet.
//
// Nothing is written into the tree: the changed files are laid over it for one
// build (go build -overlay), so what did not change comes from the build cache.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() {
	seeds := flag.Uint64("seeds", 10_000, "how many worlds may be lived through until one finds a fault")
	name := flag.String("mutant", "", "plant this one alone; empty: each in turn")
	flag.Parse()
	if err := run(context.Background(), os.Stdout, *name, *seeds); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

// run plants one fault after the other and prints a line for each. It is an
// error where one is not found, cannot be planted or does not compile.
func run(ctx context.Context, out io.Writer, name string, seeds uint64) (err error) {
	chosen := slices.DeleteFunc(all(), func(m mutant) bool { return name != "" && m.name != name })
	if len(chosen) == 0 {
		return fmt.Errorf("there is no mutant %q; those there are: %s", name, strings.Join(names(all()), ", "))
	}
	top, err := os.MkdirTemp("", "questscheduler-mutants-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(top)) }()
	sound := filepath.Join(top, "simulate")
	if err := build(ctx, ".", sound); err != nil {
		return err
	}
	var missed []string
	for _, m := range chosen {
		folder, began := filepath.Join(top, m.name), time.Now()
		if err := os.Mkdir(folder, 0o700); err != nil {
			return err
		}
		f, err := m.try(ctx, ".", folder, sound, seeds)
		if err != nil || f.seed == 0 {
			missed = append(missed, m.name)
		}
		fmt.Fprintf(out, "%-34s %5.0fs  %s\n", m.name, time.Since(began).Seconds(), outcome(m, f, err, seeds))
		if err := os.RemoveAll(folder); err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "%d of %d planted faults were found within %d worlds each\n", len(chosen)-len(missed), len(chosen), seeds)
	if len(missed) > 0 {
		return fmt.Errorf("no world finds %s", strings.Join(missed, ", "))
	}
	return nil
}

// outcome says in a line what became of a planted fault.
func outcome(m mutant, f found, err error, seeds uint64) string {
	switch {
	case err != nil:
		return "could not be tried: " + err.Error()
	case f.seed == 0:
		return fmt.Sprintf("not found in %d worlds: %s", seeds, m.breaks)
	default:
		return fmt.Sprintf("seed %d, after %d worlds: %s", f.seed, f.seed, f.problem)
	}
}

func names(mutants []mutant) []string {
	var list []string
	for _, m := range mutants {
		list = append(list, m.name)
	}
	return list
}
