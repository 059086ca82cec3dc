package main

import (
	"io"
	"testing"
)

func TestPresses_AreAnsweredAndVotesStored(t *testing.T) {
	t.Parallel()
	r := &report{out: io.Discard, known: map[string]float64{}}
	if err := pressesOf(t.Context(), r, t.TempDir(), 2, 4); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"health_50_a_second_p99", "press_to_answer_50_a_second_p99", "press_processor_time"} {
		if r.known[name] <= 0 {
			t.Errorf("%s is %v ms", name, r.known[name])
		}
	}
}
