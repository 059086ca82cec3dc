// Package emulator runs Google's emulators for tests: one process for each test
// binary, shared by its tests, and gone with it.
//
// Where an emulator cannot be had, its tests are skipped, and `make test` says
// so in one line; where the variable CI is set, they fail.
package emulator

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// The variables that say where the Firestore emulator is.
const (
	// JarVariable is the path of its jar.
	JarVariable = "FIRESTORE_EMULATOR_JAR"
	// HostVariable is the host:port of one that runs already.
	HostVariable = "FIRESTORE_EMULATOR_HOST"
)

// packaged is where google-cloud-cli-firestore-emulator puts the jar.
const packaged = "/usr/lib/google-cloud-sdk/platform/cloud-firestore-emulator/cloud-firestore-emulator.jar"

// errAbsent is the error of an emulator that is not on this machine.
var errAbsent = errors.New("there is no Firestore emulator; install google-cloud-cli-firestore-emulator and a Java " +
	"runtime, or set " + JarVariable)

// started is the emulator of this process.
var started = sync.OnceValues(startFirestore)

// Firestore gives the host:port of the emulator, which it starts for the first
// test that asks. Where there is none, the test is skipped; with CI set it
// fails. Data of tests that share it are kept apart by Project.
func Firestore(t testing.TB) string {
	t.Helper()
	host, err := started()
	switch {
	case err == nil:
		return host
	case errors.Is(err, errAbsent) && os.Getenv("CI") == "":
		t.Skip("skipped: " + err.Error())
	default:
		t.Fatal(err)
	}
	return ""
}

// Find tells, without starting it, whether the emulator can be had: nil, or what
// is missing on this machine.
func Find() error {
	if os.Getenv(HostVariable) != "" {
		return nil
	}
	_, _, err := find()
	return err
}

// find gives Java and the jar.
func find() (java, jar string, err error) {
	jar = os.Getenv(JarVariable)
	if jar == "" {
		jar = packaged
	}
	if _, err := os.Stat(jar); err != nil {
		if os.Getenv(JarVariable) != "" {
			return "", "", fmt.Errorf("%s: %w", JarVariable, err)
		}
		return "", "", errAbsent
	}
	java, err = exec.LookPath("java")
	if err != nil {
		return "", "", fmt.Errorf("%w: %w", errAbsent, err)
	}
	return java, jar, nil
}

func startFirestore() (host string, err error) {
	if host := os.Getenv(HostVariable); host != "" {
		return host, nil
	}
	java, jar, err := find()
	if err != nil {
		return "", err
	}
	// A port that was free may be taken before the emulator has it.
	for range 3 {
		host, err = FreeAddress()
		if err != nil {
			return "", err
		}
		err = launch(java, jar, host)
		if err == nil {
			return host, nil
		}
	}
	return "", err
}

// openRules let everybody do everything; tests of rules set their own.
const openRules = "rules_version = '2';\nservice cloud.firestore { match /databases/{d}/documents { match /{all=**} { allow " +
	"read, write: if true; } } }\n"

// launch starts the emulator and waits until it answers.
func launch(java, jar, host string) (err error) {
	folder, err := os.MkdirTemp("", "firestore-emulator-")
	if err != nil {
		return err
	}
	// It reads the rules once, at its start.
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	rules := filepath.Join(folder, "firestore.rules")
	if err := os.WriteFile(rules, []byte(openRules), 0o600); err != nil {
		return err
	}
	address, port, err := net.SplitHostPort(host)
	if err != nil {
		return err
	}
	said := &tail{}
	// It lives for seconds and shares few processors: a quick compiler and a
	// collector without threads of its own halve the time that tests take.
	//nolint:noctx // it lives as long as this process
	command := exec.Command(java, "-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Duser.language=en",
		"-cp", jar, "com.google.cloud.datastore.emulator.firestore.CloudFirestore", "--host", address, "--port", port, "--rules", rules)
	command.Stdout, command.Stderr = said, said
	ended, err := startBound(command)
	if err != nil {
		return fmt.Errorf("start the Firestore emulator: %w", err)
	}
	if err := await(host, ended); err != nil {
		_ = command.Process.Kill() // an error means that it has already ended
		return fmt.Errorf("the Firestore emulator did not start: %w\n%s", err, said)
	}
	return nil
}

// startPatience is how long the emulator may take on a busy machine.
const startPatience = 2 * time.Minute

// await returns when something answers at a host.
func await(host string, ended <-chan error) error {
	return awaitThat(ended, func(ctx context.Context) error { return get(ctx, "http://"+host+"/") })
}

// awaitThat returns when a program that was started answers.
func awaitThat(ended <-chan error, answers func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), startPatience)
	defer cancel()
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for {
		if answers(ctx) == nil {
			return nil
		}
		select {
		case err := <-ended:
			return fmt.Errorf("the process ended unexpectedly: %w", err)
		case <-ctx.Done():
			return ctx.Err()
		case <-again.C:
		}
	}
}

// tail keeps the end of what a program says, for the message of its failure.
type tail struct {
	mu   sync.Mutex
	text []byte
}

var _ io.Writer = (*tail)(nil)

// Write implements io.Writer.
func (s *tail) Write(line []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	const enough = 8 << 10
	s.text = append(s.text, line...)
	if more := len(s.text) - enough; more > 0 {
		s.text = bytes.Clone(s.text[more:])
	}
	return len(line), nil
}

func (s *tail) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.TrimSpace(string(s.text))
}
