package main

import (
	"context"
	"html"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// The lines that the demo prints for second addresses run as they are, and end with the
// event without the one that was added.
func TestDemo_AttendeeLines_Run(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"bash", "curl", "grep", "date", "sed", "cut", "wc"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("skipped: the demo's lines, since there is no %s", tool)
		}
	}
	ready := startDemo(t, t.TempDir())
	lines, err := ready.SecondAddresses()
	_, shown, _ := strings.Cut(textAt(t, ready.Page), `<pre id="attendees">`)
	shown, _, _ = strings.Cut(shown, "</pre>")
	if err != nil || lines == "" || html.UnescapeString(shown) != lines {
		t.Fatalf("the page shows %s, want %s: %v", shown, lines, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", lines)
	command.Env = append(os.Environ(), "no_proxy=*")
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	output := string(out)
	for _, want := range []string{`["finn@north.example","finn@south.example","inactive"]`, `"email":"dora@south.example"`, "\n1\n", `"mappings":1`, `"held":null`} {
		if !strings.Contains(output, want) {
			t.Errorf("the output does not hold %s:\n%s", want, output)
		}
	}
	last := output[strings.LastIndex(output, `{"kind":"calendar#event"`):]
	if !strings.Contains(last, `"email":"dora@north.example"`) || strings.Contains(last, "south.example") {
		t.Errorf("at the end the event is %s", last)
	}
}
