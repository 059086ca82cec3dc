package main

import (
	"bytes"
	"context"
	_ "embed" // the switches
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"
)

//go:embed testdata/switch.go.txt
var switches string

// overlay writes the changed files of a package into a folder and returns the file that
// lays them over the tree.
func overlay(s *source, texts map[string][]byte, folder string) (string, error) {
	replaced := map[string]string{}
	texts["mutation_switch.go"] = []byte(strings.Replace(switches, "PACKAGE", s.types.Name(), 1))
	for name, text := range texts {
		file := filepath.Join(folder, name)
		if err := os.WriteFile(file, text, 0o600); err != nil {
			return "", err
		}
		replaced[filepath.Join(s.Dir, name)] = file
	}
	text, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		return "", err
	}
	list := filepath.Join(folder, "overlay.json")
	return list, os.WriteFile(list, text, 0o600)
}

// suite is the built tests of one package, with all changes of the package that is tried.
type suite struct {
	name   string // import path
	binary string
	folder string // where its tests run: that of the package
	flags  []string
	tests  []test

	least    time.Duration // a run that takes no longer is never late
	progress io.Writer
	late     atomic.Int32 // changes that were noticed by a run that did not end
}

// build builds the tests of a package over the changed files.
func (t *tree) build(ctx context.Context, name, overlay, folder string) (*suite, error) {
	s := &suite{
		name: name, folder: t.packages[name].Dir,
		binary: filepath.Join(folder, strings.ReplaceAll(name, "/", "_")+".test"),
		least:  leastAllowed,
	}
	if _, err := t.output(ctx, "test", "-c", "-vet=off", "-overlay", overlay, "-o", s.binary, name); err != nil {
		return nil, fmt.Errorf("build the tests of %s: %w", name, err)
	}
	help, err := s.command(ctx, "-help").CombinedOutput()
	// Tests of properties write what failed beside the package unless switched off.
	if bytes.Contains(help, []byte("rapid.nofailfile")) {
		s.flags = append(s.flags, "-rapid.nofailfile")
	} else if len(help) == 0 {
		return nil, fmt.Errorf("the tests of %s do not run: %w", name, err)
	}
	return s, nil
}

// command prepares a run of the suite in its folder.
func (s *suite) command(ctx context.Context, args ...string) *exec.Cmd {
	return s.bounded(ctx, time.Hour, args...)
}

// bounded is command with a bound on the time on processors: a change can make a loop endless.
func (s *suite) bounded(ctx context.Context, most time.Duration, args ...string) *exec.Cmd {
	// A change that allocates without end is stopped before the machine is out of memory.
	script := fmt.Sprintf("ulimit -v %d; ulimit -t %d; exec \"$0\" \"$@\"", memoryLimit>>10, int(most.Seconds()))
	command := exec.CommandContext(ctx, "sh", append([]string{"-c", script, s.binary}, args...)...)
	command.Dir = s.folder
	command.Env = append(os.Environ(), "MUTATION=0")
	return command
}

// memoryLimit bounds the address space of a run, in bytes.
const memoryLimit = 8 << 30
