package main

import (
	"strings"
	"testing"
	"time"
)

func TestReport_SetsEachFigureAgainstOneOfTheSameRun(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	r := &report{out: &out, known: map[string]float64{}}
	for _, f := range []figure{{name: "bare", value: 2, unit: "ms"}, {name: "ours", value: 3, unit: "ms", to: "bare"}} {
		if err := r.add(f.name, f.value, f.unit, f.to); err != nil {
			t.Fatal(err)
		}
	}
	var lines []string
	for line := range strings.Lines(out.String()) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	if got, want := strings.Join(lines, "\n"), "bare 2 ms\nours 3 ms 1.5 of bare"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if err := r.add("other", 1, "ms", "unknown"); err == nil {
		t.Error("a figure was set against one that was not measured")
	}
}

func TestLatencies_AreToldByTheirShare(t *testing.T) {
	t.Parallel()
	var hundred latencies
	for i := range 100 {
		hundred = append(hundred, time.Duration(100-i)*time.Millisecond)
	}
	for share, want := range map[float64]float64{0: 1, 0.5: 51, 0.99: 100, 1: 100} {
		if got := hundred.at(share); got != want {
			t.Errorf("at %v: %v ms, want %v", share, got, want)
		}
	}
	if got := (latencies{}).at(0.5); got != 0 {
		t.Errorf("of no calls: %v", got)
	}
}
