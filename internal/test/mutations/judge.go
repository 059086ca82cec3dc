package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// test is one test of a suite, with the changes that it reaches and how long it took.
type test struct {
	name    string
	took    time.Duration
	reaches map[int]bool
}

// patience is how much longer than without a change a run may take, or use processors,
// until it counts as failed. Without the change it may also take the least allowed.
const (
	patience     = 5
	leastAllowed = 10 * time.Second
)

// try plants all changes of a package, tries those that are drawn and prints the survivors.
func (t *tree) try(ctx context.Context, out io.Writer, name string, with options) (result score, err error) {
	s, err := t.parse(ctx, name)
	if err != nil {
		return score{}, err
	}
	folder, err := os.MkdirTemp("", "questscheduler-mutations-")
	if err != nil {
		return score{}, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	texts, planted := plant(s)
	list, err := overlay(s, texts, folder)
	if err != nil {
		return score{}, err
	}
	changes := draw(planted, with.sample, with.seed)
	result = score{name: name, of: len(planted), changes: len(changes)}
	alive := slices.DeleteFunc(slices.Clone(changes), func(c change) bool {
		_, listed := with.excused[strings.TrimPrefix(s.ImportPath, t.module+"/")+"/"+c.name()]
		return listed
	})
	result.equivalent = len(changes) - len(alive)
	reached := map[int]bool{}
	suites := []string{s.ImportPath}
	if !with.own {
		suites = append(suites, t.dependants(s.ImportPath)...)
	}
	for _, path := range suites {
		if len(alive) == 0 || len(t.packages[path].TestGoFiles)+len(t.packages[path].XTestGoFiles) == 0 {
			continue
		}
		fmt.Fprintf(with.progress, "%s: building the tests of %s\n", name, path)
		built, err := t.build(ctx, path, list, folder)
		if err != nil {
			return score{}, err
		}
		built.progress = with.progress
		if err := built.record(ctx, folder); err != nil {
			return score{}, err
		}
		before := len(alive)
		alive, err = built.judge(ctx, alive, reached)
		if err != nil {
			return score{}, err
		}
		result.byTime += int(built.late.Load())
		fmt.Fprintf(out, "# %s: the tests of %s noticed %d of %d changes\n", name, path, before-len(alive), before)
		if err := os.Remove(built.binary); err != nil {
			return score{}, err
		}
	}
	for _, c := range alive {
		note := ""
		if !reached[c.number] {
			note = "not executed: "
			result.unexecuted++
		}
		fmt.Fprintf(out, "%s/%s:%d\t%s\t%s%s\n", name, c.file, c.line, c.function, note, c.what)
	}
	result.survived = len(alive)
	result.killed = len(changes) - result.equivalent - result.survived
	return result, err
}

// record runs each test of the suite alone, without any change on, and keeps which
// changes it reaches. A test that fails then shows nothing and is left out.
func (s *suite) record(ctx context.Context, folder string) error {
	text, err := s.command(ctx, "-test.list", ".").Output()
	if err != nil {
		return fmt.Errorf("list the tests of %s: %w", s.name, err)
	}
	var names []string
	for name := range strings.FieldsSeq(string(text)) {
		if strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "Fuzz") || strings.HasPrefix(name, "Example") {
			names = append(names, name)
		}
	}
	s.tests = make([]test, len(names))
	err = each(len(names), progress(s.progress, "unchanged tests of "+s.name, len(names)), func(i int) error {
		file := filepath.Join(folder, fmt.Sprintf("reached-%d", i))
		began := time.Now()
		command := s.command(ctx, slices.Concat(s.flags, []string{"-test.run", "^" + names[i] + "$"})...)
		command.Env = append(command.Env, "MUTATION_RECORD="+file)
		if err := command.Run(); err != nil {
			return ctx.Err()
		}
		reaches, err := readNumbers(file)
		s.tests[i] = test{name: names[i], took: time.Since(began), reaches: reaches}
		return err
	})
	s.tests = slices.DeleteFunc(s.tests, func(t test) bool { return len(t.reaches) == 0 })
	slices.SortFunc(s.tests, func(a, b test) int { return cmp.Compare(a.took, b.took) })
	return err
}

// readNumbers reads a file of numbers, one a line, and removes it. No file means none.
func readNumbers(name string) (map[int]bool, error) {
	text, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	numbers := map[int]bool{}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		number, err := strconv.Atoi(lines.Text())
		if err != nil {
			return nil, err
		}
		numbers[number] = true
	}
	return numbers, errors.Join(err, os.Remove(name))
}

// judge tries each change with the tests that reach it and returns those that no test
// noticed. What some test reaches is noted in reached.
func (s *suite) judge(ctx context.Context, changes []change, reached map[int]bool) ([]change, error) {
	survives := make([]bool, len(changes))
	var lock sync.Mutex
	err := each(len(changes), progress(s.progress, "changes tried with "+s.name, len(changes)), func(i int) error {
		var tests []test
		for _, t := range s.tests {
			if t.reaches[changes[i].number] {
				tests = append(tests, t)
			}
		}
		if len(tests) > 0 {
			lock.Lock()
			reached[changes[i].number] = true
			lock.Unlock()
		}
		survives[i] = true
		// The fastest tests notice most, so the slow ones seldom run.
		for size := 8; survives[i] && len(tests) > 0; size *= 2 {
			n := min(size, len(tests))
			survives[i], tests = !s.notices(ctx, changes[i].number, tests[:n]), tests[n:]
		}
		if survives[i] && ctx.Err() == nil {
			c := changes[i]
			fmt.Fprintf(s.progress, "not noticed by %s: %s:%d\t%s\t%s\n", s.name, c.file, c.line, c.function, c.what)
		}
		return ctx.Err()
	})
	var alive []change
	for i, c := range changes {
		if survives[i] {
			alive = append(alive, c)
		}
	}
	return alive, err
}

// notices reports whether one of the tests fails while a change is on. A change can have
// tests wait for ever; so can a machine that is busy with other things, so a run that is
// late counts only if the same tests are in time without the change.
func (s *suite) notices(ctx context.Context, number int, tests []test) bool {
	allowed := s.least
	for _, t := range tests {
		allowed += patience * t.took
	}
	for {
		failed, late := s.attempt(ctx, number, tests, allowed)
		if !late || ctx.Err() != nil {
			return failed
		}
		began := time.Now()
		s.attempt(ctx, 0, tests, patience*allowed)
		unchanged := time.Since(began)
		if patience*unchanged <= allowed {
			s.late.Add(1)
			return true
		}
		allowed = 2 * patience * unchanged
	}
}

// attempt runs tests with a change on. Late is a run that was stopped, in place of failing.
func (s *suite) attempt(ctx context.Context, number int, tests []test, allowed time.Duration) (failed, late bool) {
	var names []string
	for _, t := range tests {
		names = append(names, t.name)
	}
	ctx, cancel := context.WithTimeout(ctx, allowed)
	defer cancel()
	command := s.bounded(ctx, allowed, slices.Concat(s.flags, []string{
		"-test.failfast", "-test.run", "^(" + strings.Join(names, "|") + ")$",
	})...)
	command.Env = append(command.Env, "MUTATION="+strconv.Itoa(number))
	command.WaitDelay = time.Second
	err := command.Run()
	return err != nil, command.ProcessState != nil && command.ProcessState.ExitCode() < 0
}

// each calls do for every number below n, as many at once as there are processors, tells
// how many have begun, and returns the first error.
func each(n int, tell func(begun int), do func(i int) error) error {
	var wait sync.WaitGroup
	var lock sync.Mutex
	next, failed := 0, error(nil)
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for {
				lock.Lock()
				i := next
				next++
				tell(i)
				stop := i >= n || failed != nil
				lock.Unlock()
				if stop {
					return
				}
				if err := do(i); err != nil {
					lock.Lock()
					failed = cmp.Or(failed, err)
					lock.Unlock()
				}
			}
		})
	}
	wait.Wait()
	return failed
}
