package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"questscheduler/internal/backfill"
	"questscheduler/internal/config"
	"questscheduler/scheduler"
)

// backfilling are the flags of the jobs that go on where they were cut off.
type backfilling struct {
	DryRun bool `help:"Look and count, and write nothing."`
}

// backfillIndexCommand has events followed.
type backfillIndexCommand struct{ backfilling }

// Help is what --help says beside the flags.
func (backfillIndexCommand) Help() string {
	return `Each finalised poll with a calendar event that nobody follows yet gets its entry in the event index. The next look at the ` +
		`calendar takes the event's time for the one that was agreed, and changes from then on are followed. Run "backfill tokens" ` +
		`before it, so that there are accounts to look with. It can be cut off at any time: begun again, it goes on. With the embedded ` +
		`store the server has to be stopped for it.

Examples:

    questscheduler backfill index --dry-run
    questscheduler backfill index`
}

// Run is the command.
func (c backfillIndexCommand) Run(ctx context.Context, process Process) error {
	return c.run(ctx, process, "polls", func(s *server, options backfill.Options) (backfill.Done, error) {
		cause := scheduler.Cause{Hint: "backfill", Trace: s.newTrace()}
		return backfill.Index(ctx, s.documents, s.scheduler, cause, options)
	}, backfill.Followed, backfill.FollowedAlready, backfill.Repaired, backfill.NothingToFollow)
}

// backfillWatchesCommand makes watch channels.
type backfillWatchesCommand struct{ backfilling }

// Help is what --help says beside the flags.
func (backfillWatchesCommand) Help() string {
	return `Each calendar of a followed event gets a watch channel at Google, unless it has one that can be counted on. Run it after ` +
		`"backfill index". A server does the same by itself when it starts; this shows how far it is, and says of each calendar that ` +
		`cannot be watched what to do. With the embedded store the server has to be stopped for it.

Examples:

    questscheduler backfill watches --dry-run
    questscheduler backfill watches`
}

// errNoPushes says that no watch channel can be made.
var errNoPushes = usageError{errors.New("no channel can be made, since Google cannot reach this server: set QS_SYNC to on or observe, and QS_PUBLIC_URL to an address that Google reaches")}

// Run is the command.
func (c backfillWatchesCommand) Run(ctx context.Context, process Process) error {
	return c.run(ctx, process, "calendars", func(s *server, options backfill.Options) (backfill.Done, error) {
		if s.pushAddress() == "" {
			return backfill.Done{}, errNoPushes
		}
		return backfill.WatchCalendars(ctx, s.documents, s.watcher, options)
	}, backfill.Watched, backfill.WatchedAlready)
}

// run does a job on the store that the settings name, and prints what it did. A
// problem is a line on stderr, and makes the command end with 1 once all else is
// done.
func (c backfilling) run(ctx context.Context, process Process, things string,
	do func(s *server, options backfill.Options) (backfill.Done, error), outcomes ...backfill.Outcome,
) (err error) {
	cfg, err := loadSettings(process.Environ, config.Default())
	if err != nil {
		return err
	}
	s, err := openServer(ctx, cfg, wallClock, newLogger(cfg, process.Stderr))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	line := newProgress(process.Stderr, "backfill")
	done, err := do(s, backfill.Options{
		DryRun:   c.DryRun,
		Progress: func(done backfill.Done) { line.show(fmt.Sprintf("%d %s seen", done.Seen, things)) },
		Problem: func(problem backfill.Problem) {
			line.end()
			fmt.Fprintf(process.Stderr, "%s: %s\n", problem.What, problem.Fix)
		},
	})
	line.end()
	if err != nil {
		if errors.As(err, new(usageError)) {
			return err
		}
		return fmt.Errorf("%w; begin it again, it goes on", err)
	}
	if err := c.print(process, things, done, outcomes); err != nil {
		return err
	}
	if done.Problems > 0 {
		return fmt.Errorf("%d %s could not be brought in; the lines above say which, and what to do", done.Problems, things)
	}
	return nil
}

func (c backfilling) print(process Process, things string, done backfill.Done, outcomes []backfill.Outcome) error {
	table := tabwriter.NewWriter(process.Stdout, 0, 4, 2, ' ', 0)
	heading := strings.ToUpper(things)
	if c.DryRun {
		heading += " (NOTHING WAS WRITTEN)"
	}
	fmt.Fprintf(table, "%s\tCOUNT\n", heading)
	for _, outcome := range outcomes {
		fmt.Fprintf(table, "%s\t%d\n", outcome, done.Counts[outcome])
	}
	fmt.Fprintf(table, "left, with a problem\t%d\n", done.Problems)
	return table.Flush()
}
