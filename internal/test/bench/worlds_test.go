package main

import (
	"io"
	"testing"
)

func TestWorlds_AreLivedThrough(t *testing.T) {
	t.Parallel()
	r := &report{out: io.Discard, known: map[string]float64{}}
	if err := worldsOf(t.Context(), r, t.TempDir(), 4); err != nil {
		t.Fatal(err)
	}
	if r.known["simulated_worlds"] <= 0 {
		t.Errorf("%v worlds a second", r.known["simulated_worlds"])
	}
}
