package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// simulatedWorlds is how many random worlds are lived through: enough for each consumer's.
const simulatedWorlds = 200

// worlds measures how many random worlds of all consumers a core lives through in a second of its
// time, as `make sim` does.
func worlds(ctx context.Context, r *report, folder string) error {
	return worldsOf(ctx, r, folder, simulatedWorlds)
}

func worldsOf(ctx context.Context, r *report, folder string, count int) error {
	built := filepath.Join(folder, "simulate")
	if said, err := exec.CommandContext(ctx, "go", "build", "-o", built, "questscheduler/internal/test/simulate").CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, said)
	}
	run := exec.CommandContext(ctx, built, "-until-failure", "-seeds", strconv.Itoa(count))
	said, err := run.CombinedOutput()
	if err != nil || !strings.HasPrefix(string(said), strconv.Itoa(count)+" worlds ") {
		return errors.Join(fmt.Errorf("not all of %d worlds hold: %s", count, said), err)
	}
	computed := run.ProcessState.UserTime() + run.ProcessState.SystemTime()
	if computed <= 0 {
		return errors.New("this system does not say how long a process computed")
	}
	return r.add("simulated_worlds", float64(count)/computed.Seconds(), "/s core", "")
}
