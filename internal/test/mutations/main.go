// Command mutations measures what the tests of a package catch. It changes the package
// in many small ways, as a tired author might: conditions negated and dropped, bounds off
// by one, statements and fields left out, zero values returned, arguments swapped. Each
// change is tried against the package's tests and then against those of the packages
// that depend on it, until one fails. A change that no test notices survives.
//
// All changes of a package are in one build: each is behind a switch that an environment
// variable turns on, in files that are laid over the tree (go test -overlay). A first run
// of each test records the changes that it reaches, so a change is tried only with tests
// that can notice it, the fastest first.
//
// A package with IO has thousands of changes and slow tests: -sample tries some of them.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
)

// deciding lists the packages, and files of others, that decide something without IO, which
// every run without a pattern tries.
var deciding = []string{"rules", "transition", "mirrors/plan", "attendees/decide.go", "internal/recurrence", "feed"}

func main() {
	pattern := flag.String("pkg", "", "the packages to change, separated by commas; empty: those that decide")
	with := options{progress: os.Stderr}
	flag.BoolVar(&with.own, "own", false, "run only a package's own tests, not those of its dependants")
	flag.IntVar(&with.sample, "sample", 0, "try this many changes of each package, drawn at random; 0: all")
	flag.Uint64Var(&with.seed, "seed", 1, "draws the sample; a run with the same seed tries the same changes")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Stdout, *pattern, with)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutations:", err)
		os.Exit(1)
	}
}

// options say which changes are tried, and against which tests.
type options struct {
	own      bool
	sample   int // how many changes of each package; 0: all
	seed     uint64
	excused  map[string]string // reasons, by the names of changes that nobody can notice
	progress io.Writer         // gets survivors and how far the work is
}

// run tries the changes of the named packages and prints a row for each package, after
// its survivors. A survivor is no error: the figures are there to be read.
func run(ctx context.Context, out io.Writer, pattern string, with options) error {
	chosen := deciding
	if pattern != "" {
		chosen = strings.Split(pattern, ",")
	}
	tree, err := load(ctx, ".")
	if err != nil {
		return err
	}
	with.excused, err = readEquivalents()
	if err != nil {
		return err
	}
	if with.sample > 0 {
		fmt.Fprintf(out, "# samples of %d changes, drawn with -seed %d\n", with.sample, with.seed)
	}
	var rows []score
	for _, name := range chosen {
		s, err := tree.try(ctx, out, strings.Trim(strings.TrimPrefix(name, "./"), "/"), with)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		rows = append(rows, s)
	}
	fmt.Fprintf(out, "\n%-24s %14s %7s %8s %9s %13s %11s %8s\n", "package", "changes", "killed", "by time", "survived",
		"not executed", "equivalent", "killed %")
	for _, s := range rows {
		fmt.Fprintf(out, "%-24s %14s %7d %8d %9d %13d %11d %8.1f\n", s.name, s.size(), s.killed, s.byTime, s.survived,
			s.unexecuted, s.equivalent, s.percent())
	}
	return nil
}

// score counts what became of the changes of a package. What no test executes is part of
// survived; what a test noticed only by not ending is part of killed; what cannot be
// noticed is in equivalent alone.
type score struct {
	name                                                      string
	of                                                        int // changes, with those that are not in the sample
	changes, killed, byTime, survived, unexecuted, equivalent int
}

// size is the number of changes that were tried, with that of all where it is a sample.
func (s score) size() string {
	if s.changes == s.of {
		return strconv.Itoa(s.changes)
	}
	return fmt.Sprintf("%d of %d", s.changes, s.of)
}

// percent is the share of noticeable changes that a test noticed.
func (s score) percent() float64 {
	if s.changes == s.equivalent {
		return 100
	}
	return 100 * float64(s.killed) / float64(s.changes-s.equivalent)
}
