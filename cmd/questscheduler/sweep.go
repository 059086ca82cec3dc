package main

import (
	"context"
	"errors"
	"fmt"
	"text/tabwriter"

	"questscheduler/internal/config"
	"questscheduler/internal/timers"
)

// sweepCommand runs a timer's job once.
type sweepCommand struct {
	Drain        drainCommand    `cmd:"" help:"Run the job of every minute once: hand over what was committed and may not have been."`
	RenewWatches renewCommand    `cmd:"" help:"Renew the watch channels that end soon, and stop those that nothing needs."`
	PollFallback fallbackCommand `cmd:"" help:"Look for what pushes missed, calendar by calendar."`
	Cleanup      cleanupCommand  `cmd:"" help:"Remove what is past its time."`
}

// What each command says beside its flags.
const (
	drainHelp = `What is handed over to the queue: calendar events to make or delete, announcements that are due, cards to draw, looks that are owed. ` +
		`A server does this by itself every minute. `
	renewHelp = `Each calendar that a poll follows gets a new channel where none lives that is not due to be renewed, and the old one is ` +
		`stopped behind it. A server does this by itself every day, and every minute for those that become due. `
	fallbackHelp = `Polls that were written by others are set right, watch channels are made sure of, and each calendar that was not looked at ` +
		`within the hour is owed a look. A server does this by itself every QS_FALLBACK_EVERY. `
	cleanupHelp = `What goes: snapshots past their end, but for those that a rescheduled poll needs; watch channels and notifications long past; ` +
		`idempotency keys. A server does this by itself every day. `
	sweepHelp = `This is for a store whose server is stopped: it needs the store for itself, ` +
		`and what it hands over is done when the server runs again. Interrupted, it is begun anew, which does nothing twice.

Example:

    questscheduler sweep `
)

// The jobs as commands.
type (
	drainCommand    struct{}
	renewCommand    struct{}
	fallbackCommand struct{}
	cleanupCommand  struct{}
)

// Help is what --help says beside the flags.
func (drainCommand) Help() string { return drainHelp + sweepHelp + timers.Drain }

// Help is what --help says beside the flags.
func (renewCommand) Help() string { return renewHelp + sweepHelp + timers.RenewWatches }

// Help is what --help says beside the flags.
func (fallbackCommand) Help() string { return fallbackHelp + sweepHelp + timers.PollFallback }

// Help is what --help says beside the flags.
func (cleanupCommand) Help() string { return cleanupHelp + sweepHelp + timers.Cleanup }

// Run is the command.
func (drainCommand) Run(ctx context.Context, process Process) error {
	return runJob(ctx, process, timers.Drain, "HANDED OVER")
}

// Run is the command.
func (renewCommand) Run(ctx context.Context, process Process) error {
	return runJob(ctx, process, timers.RenewWatches, "WATCH CHANNELS")
}

// Run is the command.
func (fallbackCommand) Run(ctx context.Context, process Process) error {
	return runJob(ctx, process, timers.PollFallback, "SWEPT")
}

// Run is the command.
func (cleanupCommand) Run(ctx context.Context, process Process) error {
	return runJob(ctx, process, timers.Cleanup, "REMOVED")
}

// runJob runs one job to its end and prints what it did, on a terminal with its
// progress.
func runJob(ctx context.Context, process Process, name, heading string) (err error) {
	cfg, err := loadSettings(process.Environ, config.Default())
	if err != nil {
		return err
	}
	s, err := openServer(ctx, cfg, wallClock, newLogger(cfg, process.Stderr))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	shown := newProgress(process.Stderr, name)
	did, err := s.timers.RunNow(ctx, name, func(counts timers.Counts) { shown.show(counts.String()) })
	shown.end()
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(process.Stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintf(table, "%s\tCOUNT\n", heading)
	for _, count := range did {
		fmt.Fprintf(table, "%s\t%d\n", count.What, count.N)
	}
	return table.Flush()
}
