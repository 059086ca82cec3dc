package main

import (
	"context"
	"errors"

	"questscheduler/internal/config"
	"questscheduler/operations/explain"
)

type explainCommand struct {
	PollID string `arg:"" name:"poll-id" help:"The poll, or the beginning of its id; an event (evt_…), or second addresses at an event: their record (att_…) or its iCalUID."`
	Replay bool   `help:"Of a poll: compute the state again from the journal and compare it with the stored one. The exit code is 1 if they differ."`
	JSON   bool   `help:"Print JSON."`
}

func (explainCommand) Help() string {
	return `First what is stored now, then each step that led there: when, what and by whom, what triggered it, why, and what it changed. ` +
		`A step of a poll also has what the calendar showed, the rule that decided, and what was announced; one of an event its mirror; ` +
		`one of second addresses the address. All three kinds have the same form, also with --json. It reads the store beside a running server.

Examples:

    questscheduler explain 5b0e6b56-1f6c-4c53-9d43-0d9f6d3f8c11 --replay
    QS_SQLITE_PATH=DIR/questscheduler.db questscheduler explain POLL   # of a demo with --data DIR`
}

var errDisagrees = errors.New("journal and stored poll disagree")

func (c explainCommand) Run(ctx context.Context, process Process) (err error) {
	if c.Replay && !explain.IsPoll(c.PollID) {
		return usageError{errors.New("only polls are replayed; leave out --replay")}
	}
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
	report, err := explain.New(ctx, reader, c.PollID, c.Replay)
	if err != nil {
		return err
	}
	write := report.WriteText
	if c.JSON {
		write = report.WriteJSON
	}
	if err := write(process.Stdout); err != nil {
		return err
	}
	if report.Disagrees() {
		return errDisagrees
	}
	return nil
}
