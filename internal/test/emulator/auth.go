package emulator

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// errNoAuth is the error of an Auth emulator that is not on this machine.
var errNoAuth = errors.New("there is no Firebase Auth emulator; install Node.js 20 or newer with npm, and run make webapp")

// People are those who can sign in at the Auth emulator of this process. It has
// them in one project, since it knows no other from what a page asks: those of
// each test have uids of their own.
type People struct {
	t testing.TB
	// Host is the emulator's host:port.
	Host string
	// Project is whose ID tokens it makes: not one that begins with demo-, since web
	// apps come to emulators under the id that they have in production.
	Project string
}

// authEmulator is the one of this process.
type authEmulator struct{ host, project string }

var startedAuth = sync.OnceValues(startAuth)

// Auth gives the Firebase Auth emulator, which it starts for the first test that
// asks. Where there is none, the test is skipped; with CI set it fails.
func Auth(t testing.TB) *People {
	t.Helper()
	emulator, err := startedAuth()
	switch {
	case err == nil:
	case errors.Is(err, errNoAuth) && os.Getenv("CI") == "":
		t.Skip("skipped: " + err.Error())
	default:
		t.Fatal(err)
	}
	return &People{t: t, Host: emulator.host, Project: emulator.project}
}

// FindAuth tells, without starting it, whether the Auth emulator can be had: nil,
// or what is missing on this machine.
func FindAuth() error {
	_, _, err := findAuth()
	return err
}

// oldestNode is the first Node.js that the emulator's package takes.
const oldestNode = 20

// findAuth gives Node.js and the script of Firebase's own command.
func findAuth() (node, script string, err error) {
	_, here, _, ok := runtime.Caller(0)
	if !ok {
		return "", "", errNoAuth
	}
	script = filepath.Join(filepath.Dir(here), "..", "..", "..", "bin", "emulators", "node_modules", "firebase-tools", "lib",
		"bin", "firebase.js")
	if _, err := os.Stat(script); err != nil {
		return "", "", errNoAuth
	}
	node, err = exec.LookPath("node")
	if err != nil {
		return "", "", fmt.Errorf("%w: %w", errNoAuth, err)
	}
	version, err := exec.Command(node, "--version").Output() //nolint:noctx // it ends at once
	if err != nil {
		return "", "", fmt.Errorf("%w: %w", errNoAuth, err)
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(string(version), "v"), ".")
	if number, err := strconv.Atoi(first); err != nil || number < oldestNode {
		return "", "", fmt.Errorf("%w: Node.js is %s", errNoAuth, strings.TrimSpace(string(version)))
	}
	return node, script, nil
}

func startAuth() (authEmulator, error) {
	node, script, err := findAuth()
	if err != nil {
		return authEmulator{}, err
	}
	// A port that was free may be taken before the emulator has it.
	for range 3 {
		var emulator authEmulator
		emulator, err = launchAuth(node, script)
		if err == nil {
			return emulator, nil
		}
	}
	return authEmulator{}, err
}

// authSettings are the file firebase.json: the emulator, and the two that the
// command starts beside it, on free ports.
func authSettings() (host string, text []byte, err error) {
	emulators := map[string]any{"singleProjectMode": false, "ui": map[string]any{"enabled": false}}
	for _, name := range []string{"hub", "logging", "auth"} {
		host, err = FreeAddress()
		if err != nil {
			return "", nil, err
		}
		address, port, err := net.SplitHostPort(host)
		if err != nil {
			return "", nil, err
		}
		emulators[name] = map[string]any{"host": address, "port": json.Number(port)}
	}
	text, err = json.Marshal(map[string]any{"emulators": emulators})
	return host, text, err
}

// launchAuth starts the emulator and waits until the command says that it can be
// used. Until then it reads and writes files in a folder that is its own, which
// stands for its home too.
func launchAuth(node, script string) (emulator authEmulator, err error) {
	folder, err := os.MkdirTemp("", "auth-emulator-")
	if err != nil {
		return authEmulator{}, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	host, settings, err := authSettings()
	if err != nil {
		return authEmulator{}, err
	}
	if err := os.WriteFile(filepath.Join(folder, "firebase.json"), settings, 0o600); err != nil {
		return authEmulator{}, err
	}
	emulator = authEmulator{host: host, project: "party-" + strings.ToLower(rand.Text()[:20])}
	said := &tail{}
	//nolint:noctx // it lives as long as this process
	command := exec.Command(node, script, "emulators:start", "--only", "auth", "--project", emulator.project, "--non-interactive")
	command.Dir, command.Stdout, command.Stderr = folder, said, said
	// Of the environment it has what it needs. In CI it asks nobody for news of
	// itself, and for no update; there is no editor to tell.
	command.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + folder, "TMPDIR=" + folder, "CI=1", "NO_UPDATE_NOTIFIER=1",
		"VSCODE_WEBHOOK_PORT=0",
	}
	ended, err := startBound(command)
	if err != nil {
		return authEmulator{}, fmt.Errorf("start the Auth emulator: %w", err)
	}
	err = awaitThat(ended, func(ctx context.Context) error {
		if !strings.Contains(said.String(), "All emulators ready") {
			return errors.New("it is not ready")
		}
		return get(ctx, "http://"+host+"/")
	})
	if err != nil {
		_ = command.Process.Kill() // an error means that it has already ended
		return authEmulator{}, fmt.Errorf("the Auth emulator did not start: %w\n%s", err, said)
	}
	return emulator, nil
}
