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

	"questscheduler/internal/sim/control"
	"questscheduler/internal/sim/google"
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
	_, shown, _ := strings.Cut(page(t, ready.Page), `<pre id="attendees">`)
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

// serviceKey is the JSON key of a service account, as Google gives it.
func serviceKey(t *testing.T) string {
	t.Helper()
	sim, err := google.New(google.Options{Clock: control.NewClock(nil)})
	if err != nil {
		t.Fatal(err)
	}
	key, err := sim.AddServiceAccount(google.ServiceAccount{Email: "sync@quests-example.iam.gserviceaccount.com"})
	if err != nil {
		t.Fatal(err)
	}
	return string(key)
}
