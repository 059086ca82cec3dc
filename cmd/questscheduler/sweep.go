package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/alecthomas/kong"

	"questscheduler/internal/config"
	"questscheduler/web-hooks/timers"
)

// sweepCommand has a command for each job.
type sweepCommand struct {
	List             jobList    `cmd:"" hidden:"" default:"1"`
	Drain            jobCommand `cmd:"" help:"Run the drain once: count the work outside the store that is due, and wake it."`
	RenewWatches     jobCommand `cmd:"" help:"Renew the watch channels that end soon, and stop those that nothing needs."`
	PollFallback     jobCommand `cmd:"" help:"Find what pushes missed, calendar by calendar."`
	PlanUpcoming     jobCommand `cmd:"" help:"Mark the calendars in which a session starts within two days for a sync."`
	Cleanup          jobCommand `cmd:"" help:"Remove what has expired."`
	ReconcileMirrors jobCommand `cmd:"" help:"Compare mirrors with what their calendars have, and correct them."`
	RefreshMappings  jobCommand `cmd:"" help:"Load the second addresses of attendees, and follow the calendars of their owners."`
}

// jobCommand runs one job to its end.
type jobCommand struct{ job, heading, help string }

// jobOff says which setting leaves a job without work; "" if none does.
func jobOff(job string, cfg config.Config) string {
	switch {
	case job == timers.Drain || job == timers.Cleanup:
		return ""
	case cfg.Sync == config.SyncOff:
		return "QS_SYNC is off"
	case job == timers.RefreshMappings && !cfg.AttendeesOn():
		return "neither QS_ATTENDEES_SHEET nor QS_ATTENDEES_CSV is set"
	default:
		return ""
	}
}

// jobList is the command without a job, which is wrong use: it lists the jobs.
type jobList struct{}

func (jobList) Run(process Process, parsed *kong.Context) error {
	cfg, err := loadSome(process.Environ, "QS_SYNC", "QS_ATTENDEES_SHEET", "QS_ATTENDEES_CSV")
	if err != nil {
		return err
	}
	var text strings.Builder
	text.WriteString("name the job to run\n")
	table := tabwriter.NewWriter(&text, 0, 4, 2, ' ', 0)
	for _, job := range parsed.Selected().Parent.Children {
		does := job.Help
		if why := jobOff(job.Name, cfg); why != "" {
			does = "Off, since " + why + "."
		}
		if !job.Hidden {
			fmt.Fprintf(table, "  %s\t%s\n", job.Name, does)
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	text.WriteString(`"questscheduler sweep JOB --help" says more of each.`)
	return usageError{errors.New(text.String())}
}

func newSweepCommand() sweepCommand {
	return sweepCommand{
		Drain: jobCommand{timers.Drain, "HANDED OVER",
			`It finds what is due: calendar events to create or delete, announcements, cards to draw, syncs and so on. With ` +
				`QS_QUEUE=cloudtasks it makes a task for each, which the server gets; otherwise the server does all of it at its ` +
				`next start. A server does this every minute.`},
		RenewWatches: jobCommand{timers.RenewWatches, "WATCH CHANNELS",
			`Each calendar that a poll follows gets a new channel if it has none or its channel is due for renewal; the old one is ` +
				`stopped afterwards. A server does this every day, and every minute for channels that become due.`},
		PollFallback: jobCommand{timers.PollFallback, "SWEPT",
			`It repairs polls whose documents others wrote, makes sure of watch channels, and marks each calendar that was not synced ` +
				`within the hour for a sync. A server does this every QS_FALLBACK_EVERY.`},
		PlanUpcoming: jobCommand{timers.PlanUpcoming, "PLANNED",
			`Each such calendar that was not synced for almost 15 minutes is marked for a sync, so that a push that Google loses ` +
				`is found in time for the session. A server does this every 10 minutes.`},
		Cleanup: jobCommand{timers.Cleanup, "REMOVED",
			`It removes expired snapshots, except those that a rescheduled poll needs; old watch channels and notifications; ` +
				`idempotency keys. A server does this every day.`},
		RefreshMappings: jobCommand{timers.RefreshMappings, "REFRESHED",
			`It loads the sheet or file of second addresses (QS_ATTENDEES_SHEET, QS_ATTENDEES_CSV) and follows the calendar of ` +
				`every address, also where Google refused that before. A server does this every 5 minutes for what changed. It needs QS_SYNC on.`},
		ReconcileMirrors: jobCommand{timers.ReconcileMirrors, "RECONCILED",
			`Mirrors whose events are missing or were changed are written again. Events of ours that no mirror names are deleted; ` +
				`by this command even if they are many, which a server leaves alone. A server does this every day. It needs QS_SYNC on.`},
	}
}

func (c jobCommand) Help() string {
	return c.help + ` Stop the server first: the command needs the store for itself. It can be interrupted and run again.

Example:

    questscheduler sweep ` + c.job
}

func (c jobCommand) Run(ctx context.Context, process Process) error {
	return withProgram(ctx, process, func(p *program) error {
		if why := jobOff(c.job, p.config); why != "" {
			_, err := fmt.Fprintf(process.Stdout, "nothing to do: %s is off, since %s\n", c.job, why)
			return err
		}
		line := newProgress(process.Stderr, c.job)
		did, err := p.timers.RunNow(ctx, c.job, func(counts timers.Counts) { line.show(counts.String()) })
		line.end()
		if err != nil {
			return err
		}
		return printCounts(process.Stdout, c.heading, did)
	})
}

// printCounts prints a table, and says so where nothing was done.
func printCounts(out io.Writer, heading string, counts timers.Counts) error {
	table := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintf(table, "%s\tCOUNT\n", heading)
	for _, count := range counts {
		fmt.Fprintf(table, "%s\t%d\n", count.What, count.N)
	}
	if len(counts.NonZero()) == 0 {
		fmt.Fprintln(table, "nothing to do")
	}
	return table.Flush()
}
