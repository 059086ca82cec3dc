package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"questscheduler/internal/accounts"
	"questscheduler/operations/backfill"
	"questscheduler/scheduler"
	"questscheduler/web-hooks/timers"
)

// backfillCommand brings an existing deployment in: tokens first, then the events,
// then their calendars.
type backfillCommand struct {
	Tokens  backfillTokensCommand  `cmd:"" help:"Seal existing refresh tokens: the web app's become linked accounts, and ours are sealed under the first key."`
	Index   backfillIndexCommand   `cmd:"" help:"Follow the events of finalised polls that are not followed yet. Nothing is announced."`
	Watches backfillWatchesCommand `cmd:"" help:"Create watch channels for the calendars of followed events that have none."`
}

// dryRun is the flag of all three.
type dryRun struct {
	DryRun bool `help:"Count, and write nothing."`
}

func (d dryRun) heading(things string) string {
	if d.DryRun {
		return things + " (NOTHING WAS WRITTEN)"
	}
	return things
}

type backfillTokensCommand struct {
	dryRun
	RemoveOld bool `help:"Remove the web app's tokens once ours are sealed. Its own functions cannot use them any more."`
}

func (backfillTokensCommand) Help() string {
	return `Each token in userSecrets, in whatever form, becomes a linked account of its user, sealed under the first key of ` +
		`QS_ENC_KEYS; which Google account it belongs to is known once it is linked again. Our tokens that an older key sealed are ` +
		`sealed again. After it, that key can be removed from QS_ENC_KEYS once QS_WATCH_TTL has passed since a newer one is first, ` +
		`since it also signed the tokens of watch channels. It can be interrupted and run again at any time; tokens that need nothing are ` +
		`not changed. With the embedded store the server must be stopped.

Examples:

    questscheduler backfill tokens --dry-run
    questscheduler backfill tokens`
}

// Run is the command. Tokens that cannot be read are reported on stderr; then it
// fails after all others are done.
func (c backfillTokensCommand) Run(ctx context.Context, process Process) error {
	return withProgram(ctx, process, func(p *program) error {
		line := newProgress(process.Stderr, "backfill")
		done, err := p.accounts.BackfillTokens(ctx, accounts.Backfill{
			DryRun: c.DryRun, RemoveOld: c.RemoveOld,
			Progress: func(done accounts.Backfilled) { line.show(fmt.Sprintf("%d tokens read", done.Read)) },
			Problem: func(where string, err error) {
				line.end()
				fmt.Fprintf(process.Stderr, "%s: %v\n", where, err)
			},
		})
		line.end()
		if err != nil {
			return fmt.Errorf("backfill tokens: %w; run it again to continue", err)
		}
		err = printCounts(process.Stdout, c.heading("TOKENS"), timers.Counts{
			{What: "in order", N: done.Already},
			{What: "of the web app, made linked accounts", N: done.Linked},
			{What: "of ours, sealed anew", N: done.Resealed},
			{What: "of the web app, removed", N: done.Removed},
			{What: "left, since they cannot be read", N: done.Problems},
		})
		if err == nil && done.Problems > 0 {
			err = fmt.Errorf("%d tokens could not be read; the lines above say which, and their users can link their accounts again", done.Problems)
		}
		return err
	})
}

type backfillIndexCommand struct{ dryRun }

func (backfillIndexCommand) Help() string {
	return `Each finalised poll whose calendar event is not followed yet gets its entry in the event index. The next sync of the ` +
		`calendar adopts the event's time as the agreed one, and later changes are followed. Run "backfill tokens" first, so that there ` +
		`are accounts to sync with. It can be interrupted at any time and continues when it is run again. With the embedded store the ` +
		`server must be stopped.

Examples:

    questscheduler backfill index --dry-run
    questscheduler backfill index`
}

func (c backfillIndexCommand) Run(ctx context.Context, process Process) error {
	return c.run(ctx, process, "polls", func(p *program, options backfill.Options) (backfill.Done, error) {
		cause := scheduler.Cause{Trigger: "backfill", Trace: p.newTrace()}
		return backfill.Index(ctx, p.documents, p.scheduler, cause, options)
	}, backfill.Followed, backfill.FollowedAlready, backfill.Repaired, backfill.NothingToFollow)
}

type backfillWatchesCommand struct{ dryRun }

func (backfillWatchesCommand) Help() string {
	return `Each calendar of a followed event gets a watch channel at Google, unless it has a live one. Run it after ` +
		`"backfill index". A server does the same when it starts; this shows the progress, and says of each calendar that ` +
		`cannot be watched what to do. With the embedded store the server must be stopped.

Examples:

    questscheduler backfill watches --dry-run
    questscheduler backfill watches`
}

var errNoPushes = usageError{
	errors.New("no channel can be made, since Google cannot reach this server: set QS_SYNC to on or observe, and QS_PUBLIC_URL " +
		"to an address that Google reaches"),
}

func (c backfillWatchesCommand) Run(ctx context.Context, process Process) error {
	return c.run(ctx, process, "calendars", func(p *program, options backfill.Options) (backfill.Done, error) {
		if p.pushAddress() == "" {
			return backfill.Done{}, errNoPushes
		}
		return backfill.WatchCalendars(ctx, p.documents, p.watcher, options)
	}, backfill.Watched, backfill.WatchedAlready)
}

// run does a job and prints what it did. Each problem is a line on stderr; then it
// fails after all the rest is done.
func (d dryRun) run(ctx context.Context, process Process, things string,
	do func(p *program, options backfill.Options) (backfill.Done, error), outcomes ...backfill.Outcome,
) error {
	return withProgram(ctx, process, func(p *program) error {
		line := newProgress(process.Stderr, "backfill")
		done, err := do(p, backfill.Options{
			DryRun:   d.DryRun,
			Progress: func(done backfill.Done) { line.show(fmt.Sprintf("%d %s read", done.Read, things)) },
			Problem: func(problem backfill.Problem) {
				line.end()
				fmt.Fprintf(process.Stderr, "%s: %s\n", problem.What, problem.Fix)
			},
		})
		line.end()
		if errors.As(err, new(usageError)) {
			return err
		}
		if err != nil {
			return fmt.Errorf("%w; run it again to continue", err)
		}
		var counts timers.Counts
		for _, outcome := range outcomes {
			counts = append(counts, timers.Count{What: string(outcome), N: done.Counts[outcome]})
		}
		counts = append(counts, timers.Count{What: "left, with a problem", N: done.Problems})
		err = printCounts(process.Stdout, d.heading(strings.ToUpper(things)), counts)
		if err == nil && done.Problems > 0 {
			err = fmt.Errorf("%d %s could not be brought in; the lines above say which, and what to do", done.Problems, things)
		}
		return err
	})
}
