package main

import (
	"context"
	"errors"

	"questscheduler/internal/config"
	"questscheduler/internal/explain"
)

type explainCommand struct {
	PollID string `arg:"" name:"poll-id" help:"The poll."`
	Replay bool   `help:"Compute the poll's state again from the journal and compare it with the stored one. The exit code is 1 if they differ."`
	JSON   bool   `help:"Print JSON."`
}

func (explainCommand) Help() string {
	return `For each decision about the poll: when, what triggered it, what the calendar showed, which rule decided what, ` +
		`and what was announced. It reads the store beside a running server.

Examples:

    questscheduler explain 5b0e6b56-1f6c-4c53-9d43-0d9f6d3f8c11 --replay
    QS_SQLITE_PATH=DIR/questscheduler.db questscheduler explain POLL   # of a demo with --data DIR`
}

var errDisagrees = errors.New("journal and stored poll disagree")

func (c explainCommand) Run(ctx context.Context, process Process) (err error) {
	cfg, err := loadSome(process.Environ, storeSettings...)
	if err != nil {
		return err
	}
	var reader reading
	if cfg.Store == config.StoreFirestore {
		reader, err = openFirestore(ctx, cfg, queries())
	} else {
		reader, err = openFile(ctx, cfg, queries())
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	history, err := explain.Load(ctx, reader, c.PollID)
	if err != nil {
		return err
	}
	report := explain.NewReport(history, c.Replay)
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
