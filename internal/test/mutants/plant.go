package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// mutant is a fault to be planted.
type mutant struct {
	name string
	// breaks says in a sentence what is wrong then, and which of
	// docs/architecture.md it breaks.
	breaks string
	// changes are what is planted. Where a second guard of the program would
	// cover the fault, they take that away too, and breaks says so.
	changes []change
}

// change replaces a piece of a file's text. old stands there exactly once.
type change struct {
	file     string // path below the top of the module
	old, new string
}

// all are the planted faults.
func all() []mutant {
	return slices.Concat(syncs, intents, decisions, announcements, links, watches, comebacks, recreated, fed, answers,
		mirrored, attended, consent, grouped, audited, pressed)
}

// planted gives the files that a mutant changes, by their paths below the top of
// the module, with their changed text.
func (m mutant) planted(root string) (map[string]string, error) {
	files := map[string]string{}
	for _, c := range m.changes {
		text, changed := files[c.file]
		if !changed {
			read, err := os.ReadFile(filepath.Join(root, c.file))
			if err != nil {
				return nil, err
			}
			text = string(read)
		}
		if n := strings.Count(text, c.old); n != 1 {
			return nil, fmt.Errorf("%s has this %d times, and not once:\n%s", c.file, n, c.old)
		}
		files[c.file] = strings.Replace(text, c.old, c.new, 1)
	}
	return files, nil
}

// found is what the worlds made of a planted fault.
type found struct {
	// seed is the first that found it, 0 where none did.
	seed uint64
	// problem is the first that the world had, in a line.
	problem string
}

// try plants a fault into the simulation and lives through worlds until one
// finds it. sound is the simulation without it: a world that fails there too
// says nothing of the fault, and is passed over. folder is for what is built.
func (m mutant) try(ctx context.Context, root, folder, sound string, seeds uint64) (found, error) {
	overlay, err := m.overlay(root, folder)
	if err != nil {
		return found{}, err
	}
	program := filepath.Join(folder, "simulate")
	if err := build(ctx, root, program, "-overlay", overlay); err != nil {
		return found{}, fmt.Errorf("with the fault planted it does not compile: %w", err)
	}
	for first := uint64(1); first <= seeds; {
		f, err := explore(ctx, program, first, seeds-first+1)
		if err != nil || f.seed == 0 {
			return f, err
		}
		without, err := explore(ctx, sound, f.seed, 1)
		if err != nil || without.seed == 0 {
			return f, err
		}
		first = f.seed + 1
	}
	return found{}, nil
}

// build builds the simulation.
func build(ctx context.Context, root, program string, flags ...string) error {
	command := exec.CommandContext(ctx, "go", append(append([]string{"build", "-o", program}, flags...), "./internal/test/simulate")...)
	command.Dir = root
	if text, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, text)
	}
	return nil
}

// explore runs the simulation until a world fails.
func explore(ctx context.Context, program string, first, seeds uint64) (f found, err error) {
	command := exec.CommandContext(ctx, program, "-until-failure", "-first", fmt.Sprint(first), "-seeds", fmt.Sprint(seeds))
	text, err := command.Output()
	exit := new(exec.ExitError)
	switch {
	case err == nil:
		return f, nil
	case !errors.As(err, &exit):
		return found{}, err
	case exit.ExitCode() != 1:
		return found{}, fmt.Errorf("the simulation itself broke: %w\n%s%s", err, text, exit.Stderr)
	}
	said, problem, _ := strings.Cut(strings.TrimSpace(string(text)), ": ")
	f.problem = problem
	_, err = fmt.Sscanf(said, "seed %d", &f.seed)
	return f, err
}

// overlay writes the changed files into a folder, with the list that lays them
// over the tree, and gives the path of that list.
func (m mutant) overlay(root, folder string) (string, error) {
	files, err := m.planted(root)
	if err != nil {
		return "", err
	}
	top, err := filepath.Abs(root)
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	for file, text := range files {
		copied := filepath.Join(folder, strings.ReplaceAll(file, "/", "."))
		if err := os.WriteFile(copied, []byte(text), 0o600); err != nil {
			return "", err
		}
		replace[filepath.Join(top, file)] = copied
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path := filepath.Join(folder, "overlay.json")
	return path, os.WriteFile(path, list, 0o600)
}
