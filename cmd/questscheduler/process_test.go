package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/demo"
)

func split(name string) []string { return strings.Split(name, ".") }

func instant(t *testing.T, value any) time.Time {
	t.Helper()
	text, _ := value.(string)
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatalf("%v is no time: %v", value, err)
	}
	return at.UTC()
}

// startDemo runs the demo in this process until the test ends.
func startDemo(t *testing.T, dir string, environ ...string) demo.Ready {
	t.Helper()
	on := placeOf(t, dir, environ)
	environ = slices.Concat(on.settings, environ)
	ctx, stop := context.WithCancel(context.Background())
	lines, out := io.Pipe()
	done := make(chan int, 1)
	go func() {
		code := Main(ctx, Process{
			Args: []string{"demo", "--json", "--addr", on.addr, "--data", dir}, Environ: environ,
			Stdout: out, Stderr: testLog{t},
		})
		out.Close()
		done <- code
	}()
	t.Cleanup(func() {
		stop()
		if code := <-done; code != exitOK {
			t.Errorf("the demo ended with %d", code)
		}
	})
	return readReady(t, lines)
}

// readReady reads the first line of a demo.
func readReady(t *testing.T, out io.Reader) demo.Ready {
	t.Helper()
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		t.Fatalf("the demo ended before it was ready: %v", err)
	}
	var ready demo.Ready
	if err := json.Unmarshal(line, &ready); err != nil {
		t.Fatalf("the demo's first line is no JSON: %v", err)
	}
	return ready
}

// testLog writes the program's output into the test's log.
type testLog struct{ t *testing.T }

func (l testLog) Write(line []byte) (int, error) {
	l.t.Log(strings.TrimSuffix(string(line), "\n"))
	return len(line), nil
}

// child is the program in its own process.
type child struct {
	*exec.Cmd
	on    *place
	ready demo.Ready
}

// spawnDemo starts the demo as a process that can be killed.
func spawnDemo(t *testing.T, dir string) *child {
	t.Helper()
	on := placeOf(t, dir, nil)
	command := exec.Command(os.Args[0], "demo", "--json", "--addr", on.addr, "--data", dir)
	command.Env = append(append(os.Environ(), asProgram+"=1"), on.mortal(t)...)
	command.Stderr = os.Stderr
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	c := &child{Cmd: command, on: on}
	t.Cleanup(c.kill)
	c.ready = readReady(t, out)
	return c
}

// kill ends the process as kill -9 does. It may be called twice.
func (c *child) kill() {
	if c.ProcessState == nil {
		_ = c.Process.Kill() // an error says that it had already exited
		_ = c.Wait()         // its error is that it was killed
		if c.on.locks != nil {
			c.on.locks.release(context.Background())
		}
	}
}
