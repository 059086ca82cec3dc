// Command questscheduler finalises polls into Google Calendar events and keeps
// poll and calendar telling the same story. `questscheduler --help` lists its
// commands; README.md says what it is for.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"
)

// Exit codes of every command.
const (
	exitOK     = 0
	exitFailed = 1 // it was tried and did not work
	exitUsage  = 2 // wrong use or wrong settings; nothing was done
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second interrupt does not wait for what is being ended
	code := Main(ctx, Process{Args: os.Args[1:], Environ: os.Environ(), Stdout: os.Stdout, Stderr: os.Stderr})
	stop()
	os.Exit(code)
}

// Process is what a run of the program gets from outside, so that tests run it
// as a person does.
type Process struct {
	Args    []string
	Environ []string
	Stdout  io.Writer
	Stderr  io.Writer
}

// commandLine is what can be asked of the program.
type commandLine struct {
	Version kong.VersionFlag `help:"Print the version and exit."`

	Demo  demoCommand  `cmd:"" group:"run" help:"Run everything on this machine against simulators of Google Calendar and Discord. No settings, no cloud."`
	Serve serveCommand `cmd:"" group:"run" help:"Run the server, from settings in the environment."`
	Token tokenCommand `cmd:"" group:"run" help:"Print a bearer token of the embedded sign-in."`

	Explain explainCommand `cmd:"" group:"care" help:"Say how a poll came to be as it is, from its journal."`
	Doctor  doctorCommand  `cmd:"" group:"care" help:"Check the settings and what they name, one line each, with the mend."`
	Backup  backupCommand  `cmd:"" group:"care" help:"Write a consistent copy of the store, while the server runs."`
	Sweep   sweepCommand   `cmd:"" group:"care" help:"Run one timer's job once, and print what it did."`

	Backfill backfillCommand `cmd:"" group:"care" help:"Bring what an existing deployment holds into this program's own shape."`

	Completion completionCommand `cmd:"" group:"shell" help:"Print a script that completes commands and flags in a shell."`
}

// groups are the headings of the help.
var groups = []kong.Group{
	{Key: "run", Title: "Run it:"},
	{Key: "care", Title: "Look after it:"},
	{Key: "shell", Title: "In your shell:"},
}

const description = `Finalises group scheduling polls into Google Calendar events, and keeps poll and calendar telling the same story.

Begin with "questscheduler demo", which needs nothing. Settings are environment variables that begin with QS_; ` +
	`"questscheduler doctor" says which are missing. The exit code is 0, 1 where it did not work, and 2 where it was asked in a way it does not understand or the settings are wrong.`

// usageError is wrong use: its text says what is wrong and what to do.
type usageError struct{ error }

// Unwrap gives the cause to errors.Is and errors.As.
func (e usageError) Unwrap() error { return e.error }

// Main runs a command until it is done or ctx ends, and gives the exit code.
func Main(ctx context.Context, process Process) int {
	args, out := process.Args, process.Stdout
	if len(args) == 0 { // asked nothing, it says what there is to ask
		args, out = []string{"--help"}, process.Stderr
	}
	var line commandLine
	exited := -1
	parser, err := kong.New(&line,
		kong.Name("questscheduler"),
		kong.Description(description),
		kong.Vars{"version": "questscheduler " + versionText()},
		kong.ExplicitGroups(groups),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
		kong.Writers(out, process.Stderr),
		kong.Exit(func(code int) { exited = code }),
	)
	if err != nil {
		fmt.Fprintln(process.Stderr, "questscheduler:", err)
		return exitFailed
	}
	chosen, err := parser.Parse(args)
	switch {
	case exited >= 0 && len(process.Args) == 0:
		return exitUsage
	case exited >= 0: // --help or --version was asked for and given
		return exited
	case err != nil:
		fmt.Fprintf(process.Stderr, "questscheduler: %v\nRun \"questscheduler --help\" to see what there is.\n", err)
		return exitUsage
	}
	chosen.BindTo(ctx, (*context.Context)(nil))
	err = chosen.Run(process)
	if err == nil {
		return exitOK
	}
	fmt.Fprintln(process.Stderr, "questscheduler:", err)
	if errors.As(err, new(usageError)) {
		return exitUsage
	}
	return exitFailed
}
