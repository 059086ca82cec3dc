package main

import (
	"io"
	"testing"
)

func TestStreams_TellEachChangeToThoseWhomItConcerns(t *testing.T) {
	t.Parallel()
	r := &report{out: io.Discard, known: map[string]float64{}}
	if err := streamsOf(t.Context(), r, t.TempDir(), 5, 60); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"change_without_streams", "change_with_5_streams"} {
		if r.known[name] <= 0 {
			t.Errorf("%s took %v ms", name, r.known[name])
		}
	}
}
