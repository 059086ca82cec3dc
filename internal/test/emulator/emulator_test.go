package emulator_test

import (
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"questscheduler/internal/test/emulator"
)

// TestFind_FirestoreIsHere is what `make test` prints a line of where it is
// skipped.
func TestFind_FirestoreIsHere(t *testing.T) {
	t.Parallel()
	if err := emulator.Find(); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip("skipped: tests of internal/store/firestore and firestore.rules, since " + err.Error())
	}
}

// TestFind_CloudTasksIsHere is the same for the Cloud Tasks emulator.
func TestFind_CloudTasksIsHere(t *testing.T) {
	t.Parallel()
	if err := emulator.FindCloudTasks(); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip("skipped: tests of internal/outbox/cloudtasks, since " + err.Error())
	}
}

// TestFind_AuthIsHere is the same for the Firebase Auth emulator.
func TestFind_AuthIsHere(t *testing.T) {
	t.Parallel()
	if err := emulator.FindAuth(); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip("skipped: tests with people who sign in at Firebase, since " + err.Error())
	}
}

func TestCloudTasks_CanBeHad(t *testing.T) {
	t.Parallel()
	queues := emulator.CloudTasks(t, "sync")
	if other := emulator.CloudTasks(t, "sync"); other.Prefix == queues.Prefix || other.Host != queues.Host {
		t.Errorf("two tests have %+v and %+v", queues, other)
	}
	if said := get(t, strings.TrimPrefix(queues.Issuer, "http://")+"/jwks"); !strings.Contains(said, "keys") {
		t.Errorf("its keys are %q", said)
	}
}

func TestFirestore_CanBeHad(t *testing.T) {
	t.Parallel()
	if get(t, emulator.Firestore(t)) != "Ok" {
		t.Fatal("something else answers in the emulator's place")
	}
}

func TestProject_KeepsTestsApart(t *testing.T) {
	t.Parallel()
	_, one := emulator.Project(t)
	_, other := emulator.Project(t)
	if one == other || !strings.HasPrefix(one, "demo-") {
		t.Fatalf("the projects are %s and %s", one, other)
	}
}

// get gives what a host answers, or "" where nobody does.
func get(t *testing.T, host string) string {
	t.Helper()
	response, err := http.Get("http://" + host) //nolint:noctx // it is short
	if err != nil {
		return ""
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

// childVariable makes a test binary into one that uses the emulator, prints
// where it is and waits to be killed.
const childVariable = "EMULATOR_TEST_CHILD"

func TestFirestore_EndsWithTheProcessThatStartedIt(t *testing.T) {
	t.Parallel()
	if os.Getenv(emulator.HostVariable) != "" {
		t.Skip("the emulator is not ours to end")
	}
	emulator.Firestore(t) // skipped where there is none
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestChild$", "-test.v")
	child.Env = append(os.Environ(), childVariable+"=1")
	output, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	var said []byte
	for !strings.Contains(string(said), "\n") || !strings.Contains(string(said), "at 127.") {
		piece := make([]byte, 256)
		n, err := output.Read(piece)
		if err != nil {
			t.Fatalf("the child said %s and ended: %v", said, err)
		}
		said = append(said, piece[:n]...)
	}
	_, rest, _ := strings.Cut(string(said), "at ")
	host, _, _ := strings.Cut(rest, "\n")
	if get(t, host) != "Ok" {
		t.Fatalf("nobody answers at %q", host)
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := child.Wait(); err == nil {
		t.Fatal("the child ended before it was killed")
	}
	deadline := time.NewTimer(10 * time.Second)
	defer deadline.Stop()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for get(t, host) != "" {
		select {
		case <-deadline.C:
			t.Fatal("the emulator outlives its process")
		case <-again.C:
		}
	}
}

// TestChild is what the child process runs; here it has nothing to do.
func TestChild(t *testing.T) {
	if os.Getenv(childVariable) == "" {
		t.Skip("runs in a child process that is killed")
	}
	host := emulator.Firestore(t)
	if _, err := os.Stdout.WriteString("at " + host + "\n"); err != nil {
		t.Fatal(err)
	}
	select {} // until it is killed
}

// Each row is an environment in which the emulator cannot be had, and how a
// test that wants it ends.
func TestFirestore_CannotBeHad(t *testing.T) {
	t.Parallel()
	absent := filepath.Join(t.TempDir(), "absent.jar")
	broken := filepath.Join(t.TempDir(), "broken.jar")
	if err := os.WriteFile(broken, []byte("no jar"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		environ []string
		fails   bool
		says    string
	}{
		"no Java":               {[]string{"PATH=", "CI="}, false, "skipped: there is no Firestore emulator"},
		"no Java in CI":         {[]string{"PATH=", "CI=true"}, true, "there is no Firestore emulator"},
		"a jar that is not":     {[]string{emulator.JarVariable + "=" + absent, "CI="}, true, absent},
		"a jar that is none":    {[]string{emulator.JarVariable + "=" + broken, "CI="}, true, "did not start"},
		"a host without answer": {[]string{emulator.HostVariable + "=127.0.0.1:1", "CI="}, true, "something else answers"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestFirestore_CanBeHad$", "-test.v")
			child.Env = append(os.Environ(), emulator.HostVariable+"=", emulator.JarVariable+"=")
			child.Env = append(child.Env, row.environ...)
			output, err := child.CombinedOutput()
			var ended *exec.ExitError
			if errors.As(err, &ended) != row.fails || !strings.Contains(string(output), row.says) {
				t.Fatalf("it ended with %v and said\n%s", err, output)
			}
		})
	}
}
