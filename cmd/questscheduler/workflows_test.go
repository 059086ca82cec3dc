package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"questscheduler/internal/test/docs"
)

// workflow is what a file of .github/workflows/ says of its jobs.
type workflow struct {
	On          map[string]any
	Permissions map[string]string
	Env         map[string]string
	Jobs        map[string]workflowJob
}

type workflowJob struct {
	Timeout     int `yaml:"timeout-minutes"`
	Permissions map[string]string
	Env         map[string]string
	Needs       string
	Steps       []workflowStep
}

type workflowStep struct {
	Uses, Run string
	With      map[string]any
	Env       map[string]string
}

// wantedJob is what a job must be: which jobs it waits for, what it may write, and its
// commands in order.
type wantedJob struct {
	needs    string
	writes   []string
	commands []string
}

var (
	pinnedAction = regexp.MustCompile(`^[\w-]+/[\w-]+@[0-9a-f]{40}$`)
	madeTarget   = regexp.MustCompile(`^make ([a-z/-]+)`)
	workflows    = map[string]map[string]wantedJob{
		"ci.yaml": {"test": {commands: []string{".ci/run"}}},
		"release.yaml": {
			"build":  {commands: []string{"make release", "make release-smoke"}},
			"attest": {needs: "build", writes: []string{"attestations", "id-token"}},
			"page":   {needs: "attest", writes: []string{"contents"}, commands: []string{"gh release create"}},
			"image":  {needs: "attest", writes: []string{"packages"}, commands: []string{"make bin/release", "docker login", "make release-push"}},
		},
	}
	// publishing commands alone get a token.
	publishing = []string{"gh release create", "docker login"}
)

// TestWorkflows_EveryCommand_Exists: the targets, scripts and files of each step, and
// every action is pinned by its commit.
func TestWorkflows_EveryCommand_Exists(t *testing.T) {
	t.Parallel()
	for name, jobs := range workflows {
		file := readWorkflow(t, name)
		if len(file.On) == 0 || len(file.Jobs) != len(jobs) {
			t.Errorf("%s runs on %v and has %d jobs, want %d", name, file.On, len(file.Jobs), len(jobs))
		}
		for of, job := range file.Jobs {
			if job.Timeout == 0 || job.Timeout > 90 {
				t.Errorf("%s: job %s may take %d minutes", name, of, job.Timeout)
			}
			want := jobs[of].commands
			for _, step := range job.Steps {
				if step.Run == "" {
					checkAction(t, step.Uses, step.With)
					continue
				}
				if len(want) == 0 || !strings.HasPrefix(step.Run, want[0]) {
					t.Fatalf("%s: job %s runs %q, want %v", name, of, step.Run, want)
				}
				want = want[1:]
				checkCommand(t, step.Run)
			}
			if len(want) > 0 {
				t.Errorf("%s: no step of job %s runs %v", name, of, want)
			}
		}
	}
}

// TestWorkflows_Token_ReachesPublishingStepsAlone: a job may write what it publishes, and
// no command that builds or tests gets a token.
func TestWorkflows_Token_ReachesPublishingStepsAlone(t *testing.T) {
	t.Parallel()
	for name, jobs := range workflows {
		file := readWorkflow(t, name)
		if len(file.Permissions) != 1 || file.Permissions["contents"] != "read" {
			t.Errorf("%s may by default %v, want to read contents alone", name, file.Permissions)
		}
		noToken(t, name, file.Env)
		for of, job := range file.Jobs {
			var writes []string
			for what, how := range job.Permissions {
				if how != "read" {
					writes = append(writes, what)
				}
			}
			slices.Sort(writes)
			if want := jobs[of]; !slices.Equal(writes, want.writes) || job.Needs != want.needs {
				t.Errorf("%s: job %s may write %v after job %q, want %v after %q", name, of, writes, job.Needs, want.writes, want.needs)
			}
			noToken(t, name+" "+of, job.Env)
			for _, step := range job.Steps {
				if !slices.ContainsFunc(publishing, func(command string) bool { return strings.HasPrefix(step.Run, command) }) {
					noToken(t, name+" "+of+" "+step.Run, step.Env)
				}
				if strings.Contains(step.Run, "${{") {
					t.Errorf("%s: job %s puts an expression into its command %q", name, of, step.Run)
				}
				if strings.HasPrefix(step.Uses, "actions/checkout@") && step.With["persist-credentials"] != false {
					t.Errorf("%s: job %s leaves its token in the checkout", name, of)
				}
			}
		}
	}
}

// TestWorkflows_Release_AttestsItsSums: before anything is published.
func TestWorkflows_Release_AttestsItsSums(t *testing.T) {
	t.Parallel()
	attests := readWorkflow(t, "release.yaml").Jobs["attest"].Steps
	last := attests[len(attests)-1]
	if !strings.HasPrefix(last.Uses, "actions/attest-build-provenance@") || last.With["subject-checksums"] != "dist/SHA256SUMS" {
		t.Errorf("the sums are not attested: %+v", last)
	}
}

func readWorkflow(t *testing.T, name string) (file workflow) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(docs.Read(t, ".github/workflows/"+name)), &file); err != nil {
		t.Fatal(err)
	}
	return file
}

func noToken(t *testing.T, where string, env map[string]string) {
	t.Helper()
	for name, value := range env {
		if strings.Contains(value, "token") || strings.Contains(value, "secrets") {
			t.Errorf("%s gets %s, which is %s", where, name, value)
		}
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
