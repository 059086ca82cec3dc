package main

import (
	"context"
	"errors"

	"questscheduler/internal/explain"
)

// explainCommand shows a poll's journal.
type explainCommand struct {
	PollID string `arg:"" name:"poll-id" help:"The poll."`
	Replay bool   `help:"Work the poll's state out again from the journal, and compare it with what is stored. The exit code is 1 where they differ."`
	JSON   bool   `help:"Print JSON."`
}

func (explainCommand) Help() string {
	return `For each thing that was decided about the poll: when, what made us look, what the calendar said, what was decided by ` +
		`which rule, and what was announced. It reads the store beside a server that runs.

Examples:

    questscheduler explain 5b0e6b56-1f6c-4c53-9d43-0d9f6d3f8c11 --replay
    QS_SQLITE_PATH=DIR/questscheduler.db questscheduler explain POLL   # of a demo with --data DIR`
}

var errDisagrees = errors.New("journal and stored poll tell different stories")

func (c explainCommand) Run(ctx context.Context, process Process) (err error) {
	reader, err := openReader(ctx, process, queries())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	history, err := explain.Load(ctx, reader, c.PollID)
	if err != nil {
		return err
	}
	report := explain.Tell(history, c.Replay)
	write := report.WriteText
	if c.JSON {
		write = report.WriteJSON
	}
	if err := write(process.Stdout); err != nil {
		return err
	}
	if report.Replay != nil && !report.Replay.Agrees {
		return errDisagrees
	}
	return nil
}
