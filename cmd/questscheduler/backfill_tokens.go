package main

import (
	"context"
	"errors"
	"fmt"
	"text/tabwriter"

	"questscheduler/internal/accounts"
	"questscheduler/internal/config"
)

// backfillTokensCommand seals the refresh tokens of before.
type backfillTokensCommand struct {
	DryRun    bool `help:"Look and count, and write nothing."`
	RemoveOld bool `help:"Remove the web app's tokens once ours are sealed. Its own functions can use them no more then."`
}

// Help is what --help says beside the flags.
func (backfillTokensCommand) Help() string {
	return `Each token in userSecrets, in whatever shape it is, becomes a linked account of its person, sealed under the first key of ` +
		`QS_ENC_KEYS; whose Google account it is is learnt when it is linked again. Tokens of ours that an older key sealed are sealed ` +
		`anew: after it, that key can be taken out of QS_ENC_KEYS once QS_WATCH_TTL has passed since a newer one stands first, since ` +
		`it signed the tokens of watch channels too. It can be cut off and begun again at any time; what is in order is ` +
		`left as it is. With the embedded store the server has to be stopped for it.

Examples:

    questscheduler backfill tokens --dry-run
    questscheduler backfill tokens`
}

// Run is the command. A token that cannot be read is told on stderr, and makes
// it end with 1 once all others are done.
func (c backfillTokensCommand) Run(ctx context.Context, process Process) (err error) {
	cfg, err := loadSettings(process.Environ, config.Default())
	if err != nil {
		return err
	}
	s, err := openServer(ctx, cfg, wallClock, newLogger(cfg, process.Stderr))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	done, err := s.accounts.BackfillTokens(ctx, accounts.Backfill{
		DryRun: c.DryRun, RemoveOld: c.RemoveOld,
		Progress: func(done accounts.Backfilled) {
			if done.Seen > 0 {
				fmt.Fprintf(process.Stderr, "%d tokens seen\n", done.Seen)
			}
		},
		Problem: func(where string, err error) { fmt.Fprintf(process.Stderr, "%s: %v\n", where, err) },
	})
	if err != nil {
		return fmt.Errorf("backfill tokens: %w; begin it again, it goes on", err)
	}
	if err := c.print(process, done); err != nil {
		return err
	}
	if done.Problems > 0 {
		return fmt.Errorf("%d tokens could not be read; the lines above say which, and their people can link their accounts again", done.Problems)
	}
	return nil
}

func (c backfillTokensCommand) print(process Process, done accounts.Backfilled) error {
	heading := "TOKENS"
	if c.DryRun {
		heading = "TOKENS (NOTHING WAS WRITTEN)"
	}
	table := tabwriter.NewWriter(process.Stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintf(table, "%s\tCOUNT\n", heading)
	for _, row := range []struct {
		what  string
		count int
	}{
		{"in order", done.Already},
		{"of the web app, made linked accounts", done.Linked},
		{"of ours, sealed anew", done.Resealed},
		{"of the web app, removed", done.Removed},
		{"left, since they cannot be read", done.Problems},
	} {
		fmt.Fprintf(table, "%s\t%d\n", row.what, row.count)
	}
	return table.Flush()
}
