// Package timers runs jobs by the clock. In the embedded default the outbox's drain asks every
// minute which are due; Cloud Scheduler asks for a job by its name (HandOver), and so does a
// person (RunNow, `questscheduler sweep`). All share one record of each job in the store,
// timers/{job}, which is the job's entry of the outbox:
//
//   - A job is due when its last run is of an earlier period than the present one.
//     After ten missed periods one run is due, not ten.
//   - A run takes bounded steps and records what they did, so a killed run continues
//     where it was.
//   - A newer run replaces an older one. Two processes may work on the same run:
//     steps are idempotent, and the process that finds its step recorded ends.
//
// The drain itself is a job by its name only: it is not recorded, since that would be most of
// the writes of an idle server.
package timers

import (
	"context"
	"log/slog"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/outbox"
	"questscheduler/internal/store"
	"questscheduler/scheduler"
)

// The names of the jobs, as `questscheduler sweep` and POST /jobs know them.
const (
	Drain        = "drain"
	RenewWatches = "renew-watches"
	PollFallback = "poll-fallback"
	// PlanUpcoming plans syncs of calendars in which a session starts soon.
	PlanUpcoming = "plan-upcoming"
	// ReconcileMirrors compares mirrors with their calendars.
	ReconcileMirrors = "reconcile-mirrors"
	// RefreshMappings loads the second addresses of attendees.
	RefreshMappings = "refresh-mappings"
	Cleanup         = "cleanup"
	Health          = "health"
)

// Job is one row of the table.
type Job struct {
	Name string
	// Does describes the job in a few words, for people.
	Does string
	// Every is its period, which begins Offset after midnight (UTC).
	Every, Offset time.Duration
	// AtStart makes the job due AfterStart after the program started, whatever its
	// last run: the job finds the changes made while no program ran.
	AtStart    bool
	AfterStart time.Duration
	Step       Step
}

// Step does a bounded piece of a job. It may be repeated from the same place, by
// another process at the same time too.
type Step func(ctx context.Context, run Run) (Stretch, error)

// then is the step, with did called with what it did, unless it failed.
func (s Step) then(did func(Counts)) Step {
	return func(ctx context.Context, run Run) (Stretch, error) {
		stretch, err := s(ctx, run)
		if err == nil {
			did(stretch.Did)
		}
		return stretch, err
	}
}

// Run is a run of a job as a step receives it.
type Run struct {
	// Part and At are where the last step ended: in which part of a job that has
	// several, and where in it; "" at the beginning.
	Part, At string
	// Due is the beginning of the run's period, or the time of a request by hand.
	Due time.Time
	// ByHand: a person waits for the result, so nothing is put off.
	ByHand bool
	Cause  scheduler.Cause
}

// Stretch is what a step did.
type Stretch struct {
	// Part and Next are where to continue; both "" at the end.
	Part, Next string
	Did        Counts
}

// ends reports whether a run is at its end with it.
func (s Stretch) ends() bool { return s.Part == "" && s.Next == "" }

// Timers runs the jobs of a table. All fields but ByClock and Started are needed.
type Timers struct {
	Store store.Store
	// Outbox runs what is due, and is what the drain drains.
	Outbox *outbox.Outbox
	// Jobs is the table; names are unique.
	Jobs []Job
	Now  func() time.Time
	// NewTrace makes the trace of a run.
	NewTrace func() string
	Log      *slog.Logger
	// ByClock: jobs are due by the program's clock, without a request.
	ByClock bool
	// Started is when the program started, for Job.AtStart; zero: no job is due by
	// it.
	Started time.Time
}

// due is the time of the latest run that should have begun by now, in a program
// that started then; zero: none. A start that is yet to come is of a clock that was wrong.
func (j Job) due(now, started time.Time) time.Time {
	due := store.Instant(now).UTC().Add(-j.Offset).Truncate(j.Every).Add(j.Offset)
	if !j.AtStart || started.IsZero() || started.After(now) || !due.Before(started) {
		return due
	}
	if now.Before(started.Add(j.AfterStart)) {
		return time.Time{}
	}
	return store.Instant(started).UTC()
}

// named is a row of the table; NotFound where there is none.
func (t *Timers) named(name string) (Job, error) {
	for _, job := range t.Jobs {
		if job.Name == name {
			return job, nil
		}
	}
	return Job{}, fault.Newf(fault.NotFound, "There is no job %q.", name)
}
