// Package webapp has the official Firebase client play the web app in tests: its
// scripts stand beside this file, and are bundled with what `make webapp` has
// installed below bin/webapp.
//
// Where that cannot be had, tests are skipped, and `make test` says so in one
// line; where the variable CI is set, they fail.
package webapp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// errAbsent is the error of a client that is not installed.
var errAbsent = errors.New("the official Firebase client is not installed; install Node.js with npm and run make webapp")

// Platform is where a script runs.
type Platform string

// The platforms.
const (
	Node    Platform = "node"
	Browser Platform = "browser"
)

// Find reports whether the client is available: nil, or what is missing on this
// machine.
func Find() error {
	_, err := find()
	return err
}

// find gives the module's top folder.
func find() (root string, err error) {
	root, err = os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		}
		above := filepath.Dir(root)
		if above == root {
			return "", errors.New("no go.mod is above the folder of the test")
		}
		root = above
	}
	if _, err := exec.LookPath("node"); err != nil {
		return "", fmt.Errorf("%w: %w", errAbsent, err)
	}
	if _, err := os.Stat(filepath.Join(modules(root), ".bin", "esbuild")); err != nil {
		return "", errAbsent
	}
	return root, nil
}

func modules(root string) string { return filepath.Join(root, "bin", "webapp", "node_modules") }

// Bundle makes one file of a script of this folder and all it imports, and gives
// its text.
func Bundle(t testing.TB, script string, platform Platform) []byte {
	t.Helper()
	root, err := find()
	switch {
	case errors.Is(err, errAbsent) && os.Getenv("CI") == "":
		t.Skip("skipped: " + err.Error())
	case err != nil:
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), filepath.Join(modules(root), ".bin", "esbuild"),
		filepath.Join(root, "internal", "test", "webapp", script), "--bundle", "--format=esm", "--platform="+string(platform),
		"--log-level=warning",
		// What Node.js has only for scripts of its older form.
		"--banner:js="+map[Platform]string{Node: `import{createRequire as _of}from"node:module";const require=_of(import.meta.url);`}[platform])
	command.Env = append(os.Environ(), "NODE_PATH="+modules(root))
	var said bytes.Buffer
	command.Stderr = &said
	text, err := command.Output()
	if err != nil {
		t.Fatalf("bundle %s: %v\n%s", script, err, said.Bytes())
	}
	return text
}

// Run runs a script in Node.js, gives it input as JSON, and reads what it prints
// as JSON into output.
func Run(t testing.TB, script string, input, output any) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "script.mjs")
	if err := os.WriteFile(path, Bundle(t, script, Node), 0o600); err != nil {
		t.Fatal(err)
	}
	asked, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), "node", path)
	command.Stdin = bytes.NewReader(asked)
	var said bytes.Buffer
	command.Stderr = &said
	text, err := command.Output()
	if err != nil {
		t.Fatalf("run %s: %v\n%s", script, err, said.Bytes())
	}
	if err := json.Unmarshal(text, output); err != nil {
		t.Fatalf("%s printed no JSON: %v\n%s", script, err, text)
	}
}
