package main

import (
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"questscheduler/demo"
)

// runDemoLines runs lines that the demo prints, as they are, and returns what they
// print.
func runDemoLines(t *testing.T, ready demo.Ready, lines string, tools ...string) (output string) {
	t.Helper()
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("skipped: the demo's lines, since there is no %s", tool)
		}
	}
	if shown := page(t, ready.API+"/demo/commands"); lines == "" || !strings.Contains(shown, lines) {
		t.Fatalf("the demo shows %s, want %s in it", shown, lines)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", lines)
	command.Env = append(os.Environ(), "no_proxy=*")
	text, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return string(text)
}

// page is what an address answers.
func page(t *testing.T, address string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s answers %d (%v)", address, response.StatusCode, err)
	}
	return string(text)
}
