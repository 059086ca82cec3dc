package main

import (
	"context"
	"errors"
	"io"

	"questscheduler/internal/config"
	"questscheduler/internal/store"
	"questscheduler/operations/explain"
)

type explainCommand struct {
	PollID string `arg:"" name:"poll-id" help:"The poll, an event (evt_…), or second addresses at an event: their record (att_…) or its iCalUID."`
	Replay bool   `help:"Compute the state again from the journal and compare it with the stored one. The exit code is 1 if they differ."`
	JSON   bool   `help:"Print JSON."`
}

func (explainCommand) Help() string {
	return `For each decision about the poll: when, what triggered it, what the calendar showed, which rule decided what, ` +
		`and what was announced. For an event, each step of its mirrors; for a record of second addresses, or an iCalUID, which addresses were added ` +
		`and removed, and by whom. It reads the store beside a running server.

Examples:

    questscheduler explain 5b0e6b56-1f6c-4c53-9d43-0d9f6d3f8c11 --replay
    QS_SQLITE_PATH=DIR/questscheduler.db questscheduler explain POLL   # of a demo with --data DIR`
}

var (
	errDisagrees      = errors.New("journal and stored poll disagree")
	errEventDisagrees = errors.New("journal and stored event disagree")
)

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
	if c.Replay && explain.IsAttendees(c.PollID) {
		return usageError{errors.New("there is no replay of second addresses; leave out --replay")}
	}
	report, err := c.report(ctx, reader)
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
	switch {
	case !report.Disagrees():
		return nil
	case explain.IsEvent(c.PollID):
		return errEventDisagrees
	default:
		return errDisagrees
	}
}

// explained is a report of any kind.
type explained interface {
	WriteText(out io.Writer) error
	WriteJSON(out io.Writer) error
	Disagrees() bool
}

func (c explainCommand) report(ctx context.Context, reader store.Reader) (explained, error) {
	if explain.IsAttendees(c.PollID) {
		records, err := explain.LoadAttendees(ctx, reader, c.PollID)
		return explain.NewAttendeesReport(records), err
	}
	if explain.IsEvent(c.PollID) {
		history, err := explain.LoadEvent(ctx, reader, c.PollID)
		return explain.NewEventReport(history, c.Replay && err == nil), err
	}
	history, err := explain.Load(ctx, reader, c.PollID)
	return explain.NewReport(history, c.Replay && err == nil), err
}
