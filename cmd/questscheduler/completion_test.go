package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// shell returns a shell's completion script, and skips the test if the shell is not
// installed.
func shell(t *testing.T, name string) (script string) {
	t.Helper()
	got := run(t, nil, "completion", name)
	got.want(t, exitOK)
	if _, err := exec.LookPath(name); err != nil {
		t.Skipf("skipped: the completion in %s, since there is none", name)
	}
	return got.out
}

// completed are lines with the words that complete them, in the order of the help.
var completed = map[string]string{
	"questscheduler ":                     "demo serve token explain doctor backup export import sweep discord backfill completion --help --version",
	"questscheduler s":                    "serve sweep",
	"questscheduler sweep ":               "drain renew-watches poll-fallback plan-upcoming cleanup reconcile-mirrors refresh-mappings --help --version",
	"questscheduler explain --":           "--help --version --replay --json",
	"questscheduler explain some-id --re": "--replay",
	"questscheduler token --user gm --t":  "--ttl",
	"questscheduler completion ":          "bash zsh fish --help --version",
	"questscheduler backup copy":          "",
}

func TestCompletion_InBash(t *testing.T) {
	t.Parallel()
	script := shell(t, "bash")
	for line, want := range completed {
		words := strings.Split(line, " ")
		ask := script + `
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_questscheduler && echo "${COMPREPLY[*]}"`
		output, err := exec.CommandContext(t.Context(), "bash", append([]string{"-euc", ask, "bash"}, words...)...).CombinedOutput()
		if got := strings.TrimSpace(string(output)); err != nil && want != "" || got != want {
			t.Errorf("%q is completed by %q (%v), want %q", line, got, err, want)
		}
	}
}

// Zsh's own functions choose among the words by what is typed, and are replaced here.
func TestCompletion_InZsh(t *testing.T) {
	t.Parallel()
	script := `compdef() { }
_files() { }
_describe() { print -rl -- "${(@P)2}" }
` + shell(t, "zsh")
	for line, want := range completed {
		words := strings.Split(line, " ")
		ask := script + `
words=("$@") CURRENT=$#
_questscheduler`
		output, err := exec.CommandContext(t.Context(), "zsh", append([]string{"-fc", ask, "zsh"}, words...)...).CombinedOutput()
		var got []string
		for described := range strings.Lines(string(output)) {
			word, help, _ := strings.Cut(strings.TrimSpace(described), ":")
			if strings.HasPrefix(word, words[len(words)-1]) {
				got = append(got, word)
			}
			if help == "" {
				t.Errorf("%q is completed by %q without its help", line, word)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q is completed by %q (%v), want %q", line, got, err, want)
		}
	}
}

// Fish sorts the words.
func TestCompletion_InFish(t *testing.T) {
	t.Parallel()
	script := shell(t, "fish")
	for line, want := range completed {
		ask := script + "\ncomplete -C " + quoteWord(line)
		command := exec.CommandContext(t.Context(), "fish", "--no-config", "-c", ask)
		command.Dir = t.TempDir() // no files
		output, err := command.CombinedOutput()
		var got []string
		for described := range strings.Lines(string(output)) {
			word, _, _ := strings.Cut(strings.TrimSpace(described), "\t")
			got = append(got, word)
		}
		wanted := strings.Fields(want)
		slices.Sort(got)
		slices.Sort(wanted)
		if !slices.Equal(got, wanted) {
			t.Errorf("%q is completed by %q (%v), want %q", line, got, err, wanted)
		}
	}
}

// The other shells load their scripts without an error.
func TestCompletion_InOtherShells_IsOneThatTheyRead(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"zsh", "fish"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "script")
			if err := os.WriteFile(path, []byte(shell(t, name)), 0o600); err != nil {
				t.Fatal(err)
			}
			if output, err := exec.CommandContext(t.Context(), name, "-n", path).CombinedOutput(); err != nil || len(output) > 0 {
				t.Errorf("%v\n%s", err, output)
			}
		})
	}
}

// Every script has every command and flag of the program.
func TestCompletion_KnowsEverything(t *testing.T) {
	t.Parallel()
	help := run(t, nil, "--help").out + run(t, nil, "token", "--help").out + run(t, nil, "demo", "--help").out
	var known []string
	for word := range strings.FieldsSeq(help) {
		if flag, _, _ := strings.Cut(word, "="); strings.HasPrefix(flag, "--") && !strings.ContainsAny(flag, `".,`) {
			known = append(known, flag)
		}
	}
	known = append(known, "demo", "serve", "token", "explain", "doctor", "backup", "export", "import", "sweep", "drain", "renew-watches",
		"poll-fallback", "plan-upcoming", "cleanup", "reconcile-mirrors", "refresh-mappings", "completion")
	if !slices.Contains(known, "--ttl") || !slices.Contains(known, "--duration") {
		t.Fatalf("the flags of the help are %v", known)
	}
	for _, name := range []string{"bash", "zsh", "fish"} {
		script := run(t, nil, "completion", name).out
		for _, word := range known {
			if !strings.Contains(script, word) {
				t.Errorf("the script for %s does not know %s", name, word)
			}
		}
	}
}
