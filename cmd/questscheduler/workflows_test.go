package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"questscheduler/internal/test/docs"
)

// workflow is what a file of .github/workflows/ says of its jobs.
type workflow struct {
	On          map[string]any
	Permissions map[string]string
	Jobs        map[string]struct {
		Timeout int `yaml:"timeout-minutes"`
		Steps   []struct {
			Uses, Run string
			With      map[string]any
		}
	}
}

var (
	pinnedAction = regexp.MustCompile(`^[\w-]+/[\w-]+@[0-9a-f]{40}$`)
	madeTarget   = regexp.MustCompile(`^make ([a-z-]+)`)
)

// TestWorkflows_EveryCommand_Exists: the targets, scripts and files of each step, and
// every action is pinned by its commit.
func TestWorkflows_EveryCommand_Exists(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]string{
		"ci.yaml":      {".ci/run"},
		"release.yaml": {"make release", "make release-smoke", "gh release create", "docker login", "make release-push"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var file workflow
			if err := yaml.Unmarshal([]byte(docs.Read(t, ".github/workflows/"+name)), &file); err != nil {
				t.Fatal(err)
			}
			if len(file.On) == 0 || len(file.Permissions) != 1 || file.Permissions["contents"] != "read" {
				t.Errorf("it runs on %v and may by default %v, want to read contents alone", file.On, file.Permissions)
			}
			for _, job := range file.Jobs {
				if job.Timeout == 0 || job.Timeout > 90 {
					t.Errorf("a job may take %d minutes", job.Timeout)
				}
				for _, step := range job.Steps {
					if step.Run == "" {
						checkAction(t, step.Uses, step.With)
						continue
					}
					if len(want) == 0 || !strings.HasPrefix(step.Run, want[0]) {
						t.Fatalf("it runs %q, want %v", step.Run, want)
					}
					want = want[1:]
					checkCommand(t, step.Run)
				}
			}
			if len(want) > 0 {
				t.Errorf("no step runs %v", want)
			}
		})
	}
}

func checkAction(t *testing.T, uses string, with map[string]any) {
	t.Helper()
	if !pinnedAction.MatchString(uses) {
		t.Errorf("%s is not pinned by a commit", uses)
	}
	if file, is := with["go-version-file"].(string); is {
		if _, err := os.Stat(filepath.Join(docs.Root(t), file)); err != nil {
			t.Error(err)
		}
	} else if strings.HasPrefix(uses, "actions/setup-go@") {
		t.Error("Go's version is not that of go.mod")
	}
}

func checkCommand(t *testing.T, command string) {
	t.Helper()
	if target := madeTarget.FindStringSubmatch(command); target != nil {
		if !strings.Contains(docs.Read(t, "Makefile"), "\n"+target[1]+":") {
			t.Errorf("the Makefile has no target %s", target[1])
		}
	} else if strings.HasPrefix(command, ".") {
		if info, err := os.Stat(filepath.Join(docs.Root(t), command)); err != nil || info.Mode()&0o111 == 0 {
			t.Errorf("%s is no program: %v", command, err)
		}
	}
}
