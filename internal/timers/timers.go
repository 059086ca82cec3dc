// Package timers is the table of what is done by the clock: which jobs there
// are, how often each is to be done, and how far the present run of each is.
//
// One table serves whoever has a clock. In the embedded default a task of every
// minute asks what is due (Tick); Cloud Scheduler asks for a job by its name
// (HandOver), and so does a person (RunNow, `questscheduler sweep`). All meet in
// the same record of the store, timers/{job}:
//
//   - A job is due where its last run is of an earlier period than the present
//     one. Whoever was away for ten periods finds one run due, not ten.
//   - A run goes on in bounded steps and writes down after each where it is, so
//     one that was killed is gone on with and does not begin anew.
//   - A newer run takes an older one's place. Two that are at work on the same
//     run at once do no harm: each step is idempotent, and the one that finds
//     that the other went ahead ends.
package timers

import (
	"context"
	"log/slog"
	"time"

	"questscheduler/internal/fault"
	"questscheduler/internal/queue"
	"questscheduler/internal/store"
	"questscheduler/scheduler"
)

// The names of the jobs, as `questscheduler sweep` and POST /jobs know them.
const (
	Drain        = "drain"
	RenewWatches = "renew-watches"
	PollFallback = "poll-fallback"
	Cleanup      = "cleanup"
	Health       = "health"
)

// Job is one row of the table.
type Job struct {
	Name string
	// Does says in a few words what it does, for people.
	Does string
	// Every is its period, and Offset moves the period's beginning away from
	// that of the day (UTC).
	Every, Offset time.Duration
	// AtStart has it run when the program starts, whatever its last run: what
	// it looks for may have come to pass while nobody was here. AfterStart is
	// how long after the start that is.
	AtStart    bool
	AfterStart time.Duration
	// Step does a bounded piece of the job.
	Step Step
}

// Step does a bounded piece of a job, from where the last step ended. It may be
// run again from the same place, by this process or another at the same time.
type Step func(ctx context.Context, run Run) (Stretch, error)

// Run is a run of a job as a step meets it.
type Run struct {
	// Part and At are where the last step ended: in which part of a job that has
	// several, and where in it; "" at the beginning.
	Part, At string
	// Due is the time that the run is for: the beginning of its period, or when
	// somebody asked for it.
	Due time.Time
	// ByHand: a person waits for what it does. Nothing is put off.
	ByHand bool
	Cause  scheduler.Cause
}

// Stretch is what a step did.
type Stretch struct {
	// Part and Next are where to continue; both "" at the end.
	Part, Next string
	// Did is what was done, in the order in which people are told.
	Did Counts
}

// Timers runs the jobs of a table. All fields but Started are needed.
type Timers struct {
	Store store.Store
	Queue queue.Enqueuer
	// Jobs is the table; names are unique.
	Jobs []Job
	Now  func() time.Time
	// NewTrace names what one run causes.
	NewTrace func() string
	Log      *slog.Logger
	// Started is when the program started, where that is what jobs are due by
	// (Job.AtStart); zero: none is.
	Started time.Time
}

// period is the beginning of the period that a time lies in.
func (j Job) period(now time.Time) time.Time {
	return store.Instant(now).UTC().Add(-j.Offset).Truncate(j.Every).Add(j.Offset)
}

// due is the time of the run that a job is to have had by now, in a program that
// started then; zero: none.
func (j Job) due(now, started time.Time) time.Time {
	due := j.period(now)
	if !j.AtStart || started.IsZero() || !due.Before(started) {
		return due
	}
	if now.Before(started.Add(j.AfterStart)) {
		return time.Time{}
	}
	return store.Instant(started).UTC()
}

// Named is a row of the table; NotFound where there is none.
func (t *Timers) Named(name string) (Job, error) {
	for _, job := range t.Jobs {
		if job.Name == name {
			return job, nil
		}
	}
	return Job{}, fault.Newf(fault.NotFound, "There is no job %q.", name)
}
