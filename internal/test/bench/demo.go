package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

const (
	// demoRuns is how often each start is measured.
	demoRuns = 3
	// demoLasts ends a demo: an interrupt of `go run` does not reach the program.
	demoLasts = "5s"
)

// demoStarts measures the time from `make demo`'s command to the line that says where
// everything is, with a warm build cache, and that of the built program alone.
func demoStarts(ctx context.Context, r *report, folder string) error {
	const program = "./cmd/questscheduler"
	built := filepath.Join(folder, "questscheduler")
	for _, warm := range [][]string{
		{"go", "build", "-tags", "demo", "-o", built, program}, {"go", "run", "-tags", "demo", program, "--help"},
	} {
		if out, err := exec.CommandContext(ctx, warm[0], warm[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%v: %w\n%s", warm, err, out)
		}
	}
	demo := []string{"demo", "--json", "--addr", "127.0.0.1:0", "--duration", demoLasts}
	for _, start := range []struct {
		name, to string
		command  []string
	}{
		{"demo_ready_built", "", []string{built}},
		{"demo_ready_go_run", "demo_ready_built", []string{"go", "run", "-tags", "demo", program}},
	} {
		var taken latencies
		for range demoRuns {
			line, err := firstLine(ctx, append(start.command, demo...)...)
			if err != nil {
				return fmt.Errorf("%s: %w", start.name, err)
			}
			taken = append(taken, line)
		}
		if err := r.add(start.name, taken.at(0.5), "ms", start.to); err != nil {
			return err
		}
	}
	return nil
}

// firstLine runs a command to its end and returns when it had printed its first line.
func firstLine(ctx context.Context, command ...string) (time.Duration, error) {
	run := exec.CommandContext(ctx, command[0], command[1:]...)
	run.Stderr = os.Stderr
	out, err := run.StdoutPipe()
	if err != nil {
		return 0, err
	}
	began := time.Now()
	if err := run.Start(); err != nil {
		return 0, err
	}
	lines := bufio.NewReader(out)
	_, err = lines.ReadString('\n')
	taken := time.Since(began)
	_, rest := io.Copy(io.Discard, lines)
	return taken, errors.Join(err, rest, run.Wait())
}
