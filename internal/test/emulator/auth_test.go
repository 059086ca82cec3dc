package emulator_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"questscheduler/internal/test/emulator"
)

// No host of a registry is named: who installs chooses where from.
func TestLock_NamesNoRegistry(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../tools/emulators/package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), `"resolved"`) || !strings.Contains(string(text), `"integrity"`) {
		t.Error("the lock names where packages come from, or not what they are; make it anew with: npm install " +
			"--package-lock-only --omit-lockfile-registry-resolved, and the same with prune in the place of install")
	}
}

// TestAuth_AsOneWantsIt is what a child process runs; here it has nothing to do.
func TestAuth_AsOneWantsIt(t *testing.T) {
	if os.Getenv(childVariable) == "" {
		t.Skip("runs in a child process")
	}
	emulator.Auth(t)
}

// Each row is an environment in which the emulator cannot be had, and how a
// test that wants it ends.
func TestAuth_CannotBeHad(t *testing.T) {
	t.Parallel()
	if err := emulator.FindAuth(); err != nil {
		t.Skip("skipped: " + err.Error())
	}
	// node makes a Node.js that does what a line of shell says.
	node := func(does string) string {
		folder := t.TempDir()
		if err := os.WriteFile(filepath.Join(folder, "node"), []byte("#!/bin/sh\n"+does+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		return "PATH=" + folder
	}
	const old = "echo v18.20.4"
	for name, row := range map[string]struct {
		environ []string
		fails   bool
		says    string
	}{
		"no Node.js":           {[]string{"PATH=", "CI="}, false, "skipped: there is no Firebase Auth emulator"},
		"no Node.js in CI":     {[]string{"PATH=", "CI=true"}, true, "there is no Firebase Auth emulator"},
		"an old Node.js":       {[]string{node(old), "CI="}, false, "Node.js is v18.20.4"},
		"an old Node.js in CI": {[]string{node(old), "CI=true"}, true, "Node.js is v18.20.4"},
		"one that does not start": {
			[]string{node(`test "$1" = --version && echo v20.1.0 || { echo out of order; exit 3; }`), "CI="}, true, "out of order",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestAuth_AsOneWantsIt$", "-test.v")
			child.Env = append(append(os.Environ(), childVariable+"=1"), row.environ...)
			output, err := child.CombinedOutput()
			var ended *exec.ExitError
			if errors.As(err, &ended) != row.fails || !strings.Contains(string(output), row.says) {
				t.Fatalf("it ended with %v and said\n%s", err, output)
			}
		})
	}
}
