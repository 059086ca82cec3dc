package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"questscheduler/demo"
)

// demoCommand runs everything on this machine: the real server, with the real
// Google, Discord and database clients, against simulators.
type demoCommand struct {
	Addr     string        `help:"The address to listen on, on the loopback interface." default:"127.0.0.1:8080"`
	Data     string        `placeholder:"DIR" help:"Keep all data in this folder, which a restart continues. Without it a temporary folder, removed at the end." type:"path"`
	JSON     bool          `help:"Print one JSON object, when all is ready, as the first line."`
	Verbose  bool          `help:"Print commands to try, with everybody's tokens."`
	Duration time.Duration `placeholder:"10m" help:"End after this time; without it on an interrupt."`
}

func (demoCommand) Help() string {
	return `The demo has a party of four with their group, a Discord channel and three polls: one open with votes, one finalised, one that ` +
		`follows a calendar event. The page that it prints says what to try.

Examples:

    questscheduler demo
    questscheduler demo --data world      # a restart continues it
    questscheduler demo --verbose         # commands to try
    questscheduler demo --json | head -1 | jq .users.gm.token`
}

func (c demoCommand) Run(ctx context.Context, process Process) (err error) {
	if err := demo.CheckLoopback(c.Addr); err != nil {
		return usageError{err}
	}
	if c.Duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.Duration)
		defer cancel()
	}
	dir := c.Data
	if dir == "" {
		dir, err = os.MkdirTemp("", "questscheduler-demo-")
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return usageError{fmt.Errorf("--data has to name a folder: %w", err)}
	}
	place := demo.Place{Dir: dir, Disposable: c.Data == "", Addr: c.Addr, Patience: stopPatience}
	d, err := demo.Open(ctx, place, demoWiringOf{process})
	if err != nil {
		return unlessInterrupted(ctx, asUsage(err))
	}
	defer func() { err = errors.Join(err, d.End()) }()
	if err := d.Begin(ctx); err != nil {
		return unlessInterrupted(ctx, err)
	}
	if err := c.print(process.Stdout, d.Ready()); err != nil {
		return err
	}
	return d.Wait(ctx)
}

// asUsage is an error as one of the caller, if the demo says that it is.
func asUsage(err error) error {
	if errors.As(err, new(demo.Misuse)) {
		return usageError{err}
	}
	return err
}

// unlessInterrupted drops the error of a start that ctx ended before all was ready.
func unlessInterrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil //nolint:nilerr // it was asked to end before it was ready
	}
	return err
}

// print writes where everything is. Tokens are printed on demand alone.
func (c demoCommand) print(out io.Writer, ready demo.Ready) error {
	switch {
	case c.JSON:
		return json.NewEncoder(out).Encode(ready)
	case c.Verbose:
		return ready.WriteCommands(out)
	default:
		return ready.WriteAddresses(out)
	}
}
