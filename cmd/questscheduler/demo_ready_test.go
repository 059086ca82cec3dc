package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"questscheduler/demo"
	"questscheduler/demo/sim/control"
)

// readyOutput is what the demo prints when it is ready, each port as PORT.
const readyOutput = `questscheduler demo: http://127.0.0.1:PORT/demo

  API        http://127.0.0.1:PORT/v1   (documentation: http://127.0.0.1:PORT/docs)
  Dashboard  http://127.0.0.1:PORT/demo/dashboard   (signed in as the admin)
  Google     http://127.0.0.1:PORT/calendar/v3/   (simulator)
  Discord    http://127.0.0.1:PORT/api/v9/   (simulator)
  Commands   http://127.0.0.1:PORT/demo/commands   (to try, with everybody's tokens; --verbose prints them)

End it with Ctrl-C.
`

const maxReadyLines = 12

// TestDemo_Ready_PrintsAFewLinesAndNoToken runs the demo as a person does. Beside these
// lines it prints nothing, on either stream, to its end.
func TestDemo_Ready_PrintsAFewLinesAndNoToken(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	var logged bytes.Buffer
	out := &until{text: "Ctrl-C", reached: stop}
	if code := Main(ctx, Process{Args: []string{"demo", "--addr", "127.0.0.1:0"}, Stdout: out, Stderr: &logged}); code != exitOK {
		t.Errorf("it ends with %d", code)
	}
	printed := regexp.MustCompile(`(127\.0\.0\.1:)\d+`).ReplaceAllString(out.String()+logged.String(), "${1}PORT")
	if printed != readyOutput || strings.Count(printed, "\n") > maxReadyLines {
		t.Errorf("it prints:\n%s", printed)
	}
}

// TestMakeDemo_AfterCtrlC_EndsWith0 presses the key on a terminal, which script makes. The
// program is built already.
func TestMakeDemo_AfterCtrlC_EndsWith0(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("script"); err != nil || runtime.GOOS != "linux" {
		t.Skip("skipped: Ctrl-C, since script makes no terminal here")
	}
	dir := t.TempDir()
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "Makefile"), makefile, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(os.Args[0], filepath.Join(dir, "bin", "demo")); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), "script", "-qec", "make demo GO=true ADDR=127.0.0.1:0", "/dev/null")
	command.Dir, command.Env = dir, append(os.Environ(), asProgram+"=1")
	keys, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out := &until{text: "Ctrl-C", reached: sync.OnceFunc(func() { _, _ = keys.Write([]byte("\x03")) })} // an error shows below
	command.Stdout = struct{ io.Writer }{out}                                                           // without the buffer's ReadFrom
	if err := command.Run(); err != nil || strings.Contains(out.String(), "***") {
		t.Errorf("%v:\n%s", err, out)
	}
}

// until keeps what is written and calls reached once that has the text.
type until struct {
	bytes.Buffer
	text    string
	reached func()
}

func (u *until) Write(p []byte) (int, error) {
	n, err := u.Buffer.Write(p)
	if strings.Contains(u.String(), u.text) {
		u.reached()
	}
	return n, err
}

func TestDemo_Verbose_PrintsTheCommands(t *testing.T) {
	t.Parallel()
	ready := startDemo(t, t.TempDir())
	var printed bytes.Buffer
	if err := (demoCommand{Verbose: true}).print(&printed, ready); err != nil {
		t.Fatal(err)
	}
	if shown := page(t, ready.API+"/demo/commands"); printed.String() != shown {
		t.Errorf("it prints:\n%s\nand shows:\n%s", &printed, shown)
	}
}

func TestDemo_InterruptedBeforeItIsReady_EndsWell(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	var failure bytes.Buffer
	code := Main(ctx, Process{Args: []string{"demo", "--addr", "127.0.0.1:0"}, Stdout: io.Discard, Stderr: &failure})
	if code != exitOK || failure.Len() > 0 {
		t.Errorf("it ends with %d: %s", code, &failure)
	}
}

// The page can revoke the access to a watched calendar. Its channel cannot be stopped then.
func TestDemo_EndsWell_AfterARevocation(t *testing.T) {
	t.Parallel()
	var logged bytes.Buffer
	at := demo.Place{Dir: t.TempDir(), Addr: "127.0.0.1:0", Clock: control.NewClock(nil)}
	d, err := openTestDemo(t.Context(), at, Process{Stderr: &logged})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Begin(t.Context()); err != nil {
		t.Error(err)
	}
	if err := d.Google().Revoke("gm"); err != nil {
		t.Error(err)
	}
	if err := d.End(); err != nil {
		t.Errorf("%v\n%s", err, &logged)
	}
}
