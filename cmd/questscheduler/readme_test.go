package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"questscheduler/internal/test/emulator"
)

// runItBlocks returns the shell lines of README.md's section "Run it", and those of
// docs/tour.md, which continues it.
func runItBlocks(t *testing.T) string {
	t.Helper()
	read := func(name string) string {
		content, err := os.ReadFile("../../" + name)
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	_, section, found := strings.Cut(read("README.md"), "\n## Run it\n")
	if !found {
		t.Fatal("README.md has no section \"Run it\"")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	section += read("docs/tour.md")
	var script strings.Builder
	for i, part := range strings.Split(section, "```") {
		if lines, isShell := strings.CutPrefix(part, "sh\n"); i%2 == 1 && isShell {
			script.WriteString(lines)
		}
	}
	return script.String()
}

// TestReadme_RunIt_Runs runs the lines of the section unchanged, except that the
// program is built already and the port is a free one.
func TestReadme_RunIt_Runs(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"bash", "curl", "sed", "base64"} {
		if _, err := exec.LookPath(tool); err != nil {
			if os.Getenv("CI") != "" {
				t.Fatalf("%s is needed to run the lines of README.md", tool)
			}
			t.Skipf("skipped: the lines of README.md, since there is no %s", tool)
		}
	}
	const build, address = "go build -o questscheduler ./cmd/questscheduler\n", "127.0.0.1:8080"
	script := runItBlocks(t)
	for _, line := range []string{build, address} {
		if strings.Count(script, line) != 1 {
			t.Fatalf("the section must have %q once:\n%s", line, script)
		}
	}
	script = strings.Replace(script, build, "", 1)
	script = strings.Replace(script, address, freeAddress(t), 1)

	dir := t.TempDir()
	if err := os.Symlink(os.Args[0], filepath.Join(dir, "questscheduler")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", "trap 'kill ${server:-} 2>/dev/null || true' EXIT\n"+script)
	command.Dir = dir
	command.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + dir, "no_proxy=*", asProgram + "=1"}
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = patience
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	for _, want := range []string{
		`"status":"FINALIZED"`, `"status":"CANCELLED"`, `"preferred":1`, "finalised, by gm", "cancelled, by gm",
		"SESSION_CANCELLED", "agrees: the journal gives back the stored poll", "copy.db is a copy of",
	} {
		if !strings.Contains(string(output), want) {
			t.Errorf("the output does not hold %q:\n%s", want, output)
		}
	}
}

// freeAddress is an unused address on the loopback interface.
func freeAddress(t *testing.T) string {
	t.Helper()
	address, err := emulator.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	return address
}
