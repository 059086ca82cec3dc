package dashboard

import (
	"cmp"
	"context"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/timers"
)

// Timer is a job that the clock begins.
type Timer struct {
	Level     Level
	Job, Does string
	Every     time.Duration
	// State says how its last run stands.
	State     string
	StartedAt time.Time
	// SucceededAt is when a run last came to its end; zero: none did.
	SucceededAt time.Time
	// Counts are what its last run did; what it did not come upon is left out.
	Counts []timers.Count
}

func (r *Reader) timers(ctx context.Context, view *View) error {
	records, err := r.Timers.Records(ctx)
	if err != nil {
		return err
	}
	for i, record := range records {
		view.Timers = append(view.Timers, showTimer(r.Timers.Jobs[i], record, view.Now))
	}
	return nil
}

// showTimer takes a job for late that did not come to its end for two periods
// and an hour: one run may be on its way, and a page of it be tried again.
func showTimer(job timers.Job, record timers.Record, now time.Time) Timer {
	shown := Timer{
		Level: Fine, Job: job.Name, Does: job.Does, Every: job.Every, State: "done",
		StartedAt: record.StartedAt, SucceededAt: record.SucceededAt,
	}
	late := now.Sub(record.StartedAt) > 2*job.Every+time.Hour
	switch {
	case record.StartedAt.IsZero():
		shown.Level, shown.State = Mind, "never ran"
	case record.Failure != "":
		shown.Level, shown.State = Bad, "failed: "+record.Failure
	case late:
		shown.Level, shown.State = Bad, "late"
	case record.EndedAt.IsZero():
		shown.State = "running"
	}
	shown.Counts = record.Did.NonZero()
	return shown
}

// Entry is a line of a poll's journal.
type Entry struct {
	ID, PollID string
	At         time.Time
	// Hint is what made us look, and Who the person who commanded, "" for the
	// calendar.
	Hint, Who string
	// Did is the command, or what was decided of what was seen.
	Did, Reason string
	// Status and State are the poll's afterwards; Error what is wrong with it.
	Status, State, Error string
	Observed             bool
}

func (r *Reader) entries(ctx context.Context, view *View) error {
	entries, err := poll.LatestEntries(ctx, r.Store, maxEntries)
	for _, e := range entries {
		view.Entries = append(view.Entries, Entry{
			ID: e.ID, PollID: e.PollID, At: e.At, Hint: e.Hint, Who: e.Who, Did: cmp.Or(string(e.Command), string(e.Decision)), Reason: e.Reason,
			Status: string(e.Status), State: string(e.State), Error: string(e.Error), Observed: e.Observed,
		})
	}
	return err
}
