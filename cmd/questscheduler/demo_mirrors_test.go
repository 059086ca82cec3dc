package main

import (
	"context"
	"html"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// The lines that the demo prints for mirrors run as they are, and end with the copy.
func TestDemo_MirrorLines_Run(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"bash", "curl", "grep", "date"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("skipped: the demo's lines, since there is no %s", tool)
		}
	}
	ready := startDemo(t, t.TempDir())
	answer, err := http.Get(ready.Page)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	page, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	_, shown, _ := strings.Cut(string(page), `<pre id="mirrors">`)
	shown, _, _ = strings.Cut(shown, "</pre>")
	lines, err := ready.Mirrors()
	if err != nil || lines == "" || html.UnescapeString(shown) != lines {
		t.Fatalf("the page shows %s, want %s: %v", shown, lines, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", lines)
	command.Env = append(os.Environ(), "no_proxy=*")
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	for _, want := range []string{`"summary":"Busy"`, `"title":"Dentist"`, `"state":"`, `"detail":"BUSY"`} {
		if !strings.Contains(string(output), want) {
			t.Errorf("the output does not hold %s:\n%s", want, output)
		}
	}
}
