package main

import (
	"context"
	"errors"
	"fmt"
	"text/tabwriter"
	"time"

	"questscheduler/config"
	"questscheduler/scheduler"
)

// sweepCommand runs a timer's job once.
type sweepCommand struct {
	Drain drainCommand `cmd:"" help:"Run the job of every minute once: hand over what was committed and may not have been."`
}

// drainCommand is the job of every minute.
type drainCommand struct{}

// Help is what --help says beside the flags.
func (drainCommand) Help() string {
	return `What is handed over to the queue: calendar events to make or delete, announcements that are due, looks that are owed. ` +
		`A server does this by itself every minute. This is for a store whose server is stopped: it needs the store for itself, ` +
		`and what it hands over is done when the server runs again.

Example:

    questscheduler sweep drain`
}

// Run is the command.
func (drainCommand) Run(ctx context.Context, process Process) (err error) {
	cfg, err := loadSettings(process.Environ, config.Default())
	if err != nil {
		return err
	}
	s, err := openServer(ctx, cfg, time.Now, newLogger(cfg, process.Stderr))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	drained, err := s.scheduler.Drain(ctx, scheduler.Cause{Hint: "sweep", Trace: s.newTrace()})
	if err != nil {
		return fmt.Errorf("drain: %w", err)
	}
	table := tabwriter.NewWriter(process.Stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(table, "HANDED OVER\tCOUNT")
	for _, row := range []struct {
		what  string
		count int
	}{
		{"calendar events to make or delete", drained.Intents},
		{"announcements", drained.Announcements},
		{"looks at calendars", drained.Looks},
	} {
		fmt.Fprintf(table, "%s\t%d\n", row.what, row.count)
	}
	return table.Flush()
}
