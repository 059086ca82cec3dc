package main

import (
	"bufio"
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The build of `make demo` is the whole program without Firebase's Admin SDK.
func TestDemoBuild_RunsAndRefusesRevocations(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it builds the program")
	}
	built := filepath.Join(t.TempDir(), "questscheduler")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-tags", "demo", "-o", built, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	packages, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-tags", "demo", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, heavy := range []string{
		"firebase.google.com/go/v4", "cloud.google.com/go/storage",
		"github.com/envoyproxy/go-control-plane/envoy/config/core/v3",
	} {
		if bytes.Contains(packages, []byte("\n"+heavy+"\n")) {
			t.Errorf("the build has %s", heavy)
		}
	}
	demo := exec.CommandContext(t.Context(), built, "demo", "--json", "--addr", "127.0.0.1:0", "--data", t.TempDir())
	demo.Stderr = testLog{t}
	out, err := demo.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := demo.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = demo.Process.Kill() // an error says that it had already exited
		_ = demo.Wait()         // its error is that it was killed
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || !strings.Contains(line, `"polls"`) {
		t.Errorf("the demo prints %q, %v", line, err)
	}
	serve := exec.CommandContext(t.Context(), built, "serve")
	serve.Env = settings(t.TempDir(), "QS_AUTH=firebase", "QS_FIREBASE_PROJECT=quest-party", "QS_FIREBASE_REVOCATION=on",
		"QS_ADDR=127.0.0.1:0")
	if out, err := serve.CombinedOutput(); err == nil || !strings.Contains(string(out), "built for the demo alone") {
		t.Errorf("serve with revocations: %v, %s", err, out)
	}
}
