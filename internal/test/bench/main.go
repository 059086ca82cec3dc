// Command bench measures the parts that people wait for, on this machine, and
// prints one line a figure:
//
//	name value unit ratio-to what, and its goal where it has one
//
// The ratio is to something measured in the same run, since a bare number says
// more about the machine than about the program. It asserts nothing about time.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
)

// figure is one line. Ratio is how many times as much as the figure named To;
// To "" leaves both out.
type figure struct {
	name  string
	value float64
	unit  string
	ratio float64
	to    string
}

// report prints figures and knows those that were printed, for ratios.
type report struct {
	out   io.Writer
	known map[string]float64
}

// add prints a figure with its ratio to one that was printed before.
func (r *report) add(name string, value float64, unit, to string) error {
	f := figure{name: name, value: value, unit: unit, to: to}
	if base, ok := r.known[to]; ok && base > 0 {
		f.ratio = value / base
	} else if to != "" {
		return fmt.Errorf("%s is compared with %s, which was not measured", name, to)
	}
	r.known[name] = value
	_, err := io.WriteString(r.out, f.String())
	return err
}

// String is the line.
func (f figure) String() string {
	line := fmt.Sprintf("%-36s %10.4g %-8s", f.name, f.value, f.unit)
	if f.to != "" {
		line += fmt.Sprintf(" %8.3g of %s", f.ratio, f.to)
	}
	return line + goals[f.name].of(f) + "\n"
}

// latencies are how long each of several calls took.
type latencies []time.Duration

// at is the duration that this share of the calls did not exceed, in
// milliseconds.
func (l latencies) at(share float64) float64 {
	sorted := slices.Sorted(slices.Values(l))
	if len(sorted) == 0 {
		return 0
	}
	return float64(sorted[min(int(share*float64(len(sorted))), len(sorted)-1)]) / float64(time.Millisecond)
}

// timed calls do n times and tells how long each call took.
func timed(n int, do func(i int) error) (latencies, error) {
	taken := make(latencies, 0, n)
	for i := range n {
		began := time.Now()
		if err := do(i); err != nil {
			return nil, err
		}
		taken = append(taken, time.Since(began))
	}
	return taken, nil
}

// measures are what is measured, in the order in which it is printed.
var measures = []struct {
	name string
	run  func(ctx context.Context, r *report, folder string) error
}{
	{"the start of the demo", demoStarts},
	{"fingerprints", fingerprints},
	{"the store", storeWrites},
	{"the queue", workStarts},
	{"pushes", func(ctx context.Context, r *report, folder string) error {
		return pushes(ctx, r, folder, 1500, 2*time.Second)
	}},
	{"pushes of many calendars", pushesOfMany},
	{"transitions", transitions},
	{"edits at once", edits},
	{"presses on Discord", presses},
	{"streams", streams},
	{"a page", pages},
	{"flows", flows},
	{"files", fileSizes},
	{"a sweep", sweeps},
	{"sizes", sizes},
	{"syncs before sessions", upcoming},
	{"flows of mirroring", mirrorFlows},
	{"mirroring", mirroring},
	{"mappings", loadMappings},
	{"worlds", worlds},
}

func main() {
	only := flag.String("only", "", "the only measures, by their names with commas between")
	flag.Parse()
	if err := run(context.Background(), os.Stdout, *only); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, only string) error {
	r := &report{out: out, known: map[string]float64{}}
	for _, measure := range measures {
		if only != "" && !slices.Contains(strings.Split(only, ","), measure.name) {
			continue
		}
		folder, err := os.MkdirTemp("", "questscheduler-bench-")
		if err != nil {
			return err
		}
		err = measure.run(ctx, r, folder)
		if removed := os.RemoveAll(folder); err == nil {
			err = removed
		}
		if err != nil {
			return fmt.Errorf("%s: %w", measure.name, err)
		}
	}
	return nil
}
