// Command questscheduler finalises polls into Google Calendar events and keeps
// poll and calendar in sync. `questscheduler --help` lists its commands.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/alecthomas/kong"
)

// Exit codes of every command.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2 // wrong arguments or settings; nothing was done
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second interrupt kills
	code := Main(ctx, Process{Args: os.Args[1:], Environ: os.Environ(), Stdout: os.Stdout, Stderr: os.Stderr})
	stop()
	os.Exit(code)
}

// Process is the outside of a run, so that tests run the program as a user does.
type Process struct {
	Args    []string
	Environ []string
	Stdout  io.Writer
	Stderr  io.Writer
}

// commandLine holds the commands.
type commandLine struct {
	Version kong.VersionFlag `help:"Print the version and exit."`

	Demo  demoCommand  `cmd:"" group:"run" help:"Run everything on this machine against simulators of Google Calendar and Discord. No settings, no cloud."`
	Serve serveCommand `cmd:"" group:"run" help:"Run the server, from settings in the environment."`
	Token tokenCommand `cmd:"" group:"run" help:"Print a bearer token of the embedded sign-in."`

	Explain explainCommand `cmd:"" group:"care" help:"Show how a poll, an event or its guests came to be as they are, from the journal."`
	Doctor  doctorCommand  `cmd:"" group:"care" help:"Check the settings and what they name, one line each, with what to do."`
	Backup  backupCommand  `cmd:"" group:"care" help:"Write a consistent copy of the store while the server runs."`
	Export  exportCommand  `cmd:"" group:"care" help:"Write everything that the store holds into one file, to move to another store."`
	Import  importCommand  `cmd:"" group:"care" help:"Fill an empty store from the file of an export, and compare the two."`
	Sweep   sweepCommand   `cmd:"" group:"care" help:"Run one timer job once and print what it did."`

	Discord discordCommand `cmd:"" group:"care" help:"Set up what people do with the bot on Discord."`

	Backfill backfillCommand `cmd:"" group:"care" help:"Bring the data of an existing deployment in."`

	Completion completionCommand `cmd:"" group:"shell" help:"Print a script that completes commands and flags in a shell."`
}

func newCommandLine() *commandLine { return &commandLine{Sweep: newSweepCommand()} }

// groups are the headings of the help.
var groups = []kong.Group{
	{Key: "run", Title: "Run it:"},
	{Key: "care", Title: "Operate it:"},
	{Key: "shell", Title: "In your shell:"},
}

const description = `Finalises group scheduling polls into Google Calendar events and keeps poll and calendar in sync.

Begin with "questscheduler demo", which needs nothing. Settings are environment variables that begin with QS_; ` +
	`"questscheduler doctor" says which are missing. The exit code is 0 on success, 1 on failure, and 2 for wrong arguments or settings.`

// usageError is an error of the caller; its text says what to do.
type usageError struct{ error }

// Unwrap returns the cause.
func (e usageError) Unwrap() error { return e.error }

// asFlags has the words help and version mean what the flags do, as many programs do.
func asFlags(args []string) []string {
	switch {
	case len(args) > 0 && args[0] == "help":
		return append(slices.Clone(args[1:]), "--help")
	case len(args) == 1 && args[0] == "version":
		return []string{"--version"}
	default:
		return args
	}
}

// commandOf is the command whose arguments are wrong.
func commandOf(err error) string {
	if wrong, ok := errors.AsType[*kong.ParseError](err); ok && wrong.Context.Selected() != nil {
		return "questscheduler " + wrong.Context.Selected().Path()
	}
	return "questscheduler"
}

// Main runs a command until it is done or ctx ends, and returns the exit code.
func Main(ctx context.Context, process Process) int {
	args, out := asFlags(process.Args), process.Stdout
	if len(args) == 0 {
		args, out = []string{"--help"}, process.Stderr
	}
	exited := -1
	parser, err := kong.New(newCommandLine(),
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
		fmt.Fprintf(process.Stderr, "questscheduler: %v\nRun \"%s --help\" to see what there is.\n", err, commandOf(err))
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
