package main

import (
	"strings"
	"testing"
)

// The lines that the demo prints for mirrors run as they are, and end with the copy.
func TestDemo_MirrorLines_Run(t *testing.T) {
	t.Parallel()
	ready := startDemo(t, t.TempDir())
	lines, err := ready.Mirrors()
	if err != nil {
		t.Fatal(err)
	}
	output := runDemoLines(t, ready, lines, "bash", "curl", "grep", "date")
	for _, want := range []string{`"summary":"Busy"`, `"title":"Dentist"`, `"state":"`, `"detail":"BUSY"`} {
		if !strings.Contains(output, want) {
			t.Errorf("the output does not hold %s:\n%s", want, output)
		}
	}
}
