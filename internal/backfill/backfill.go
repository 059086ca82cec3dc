// Package backfill brings an existing deployment in: polls that were finalised
// before this backend, with events that nobody follows yet, and watch channels for their calendars.
//
// Each job goes through a list in an order that does not change, and remembers
// in the store how far it came, after what that covers: a run that is killed at
// any point is gone on with by the next one. What a job does to one thing can be
// done again and changes nothing then, so the page that was under way is simply
// done again. Nothing is announced: people know their sessions.
package backfill

import (
	"context"
	"fmt"
	"time"

	"questscheduler/internal/store"
)

// page is how many things are done between two marks of how far a job came.
const page = 50

// patience is how long one thing may take. What a run that was killed held in a
// transaction, Firestore takes from it after a minute without a word; the next
// run, which begins with the same things, waits for longer than that.
const patience = 3 * time.Minute

// Outcome is what became of one thing.
type Outcome string

// Problem is a thing that a job could not bring in.
type Problem struct {
	// What names it, such as "poll 7f…".
	What string
	// Mend says what is wrong and what to do.
	Mend string
}

// Options say how a job goes about it. None is needed.
type Options struct {
	// DryRun looks and counts, and writes nothing, not even how far it came; it
	// begins at the beginning.
	DryRun bool
	// Progress is told after each page what was done so far.
	Progress func(Done)
	// Problem is told of each problem as it is met.
	Problem func(Problem)
}

// Done counts what a job did, what runs of it did that were cut off before
// included.
type Done struct {
	Seen     int
	Counts   map[Outcome]int
	Problems int
}

// job is a list of things and what is done to each.
type job struct {
	name string
	// list gives a page of ids behind after, and where to go on; nil at the end.
	list func(ctx context.Context, after *store.Cursor) (ids []string, next *store.Cursor, err error)
	// do does one; a problem where it could not. With dryRun it says what it
	// would do. Its error ends the job.
	do func(ctx context.Context, id string, dryRun bool) (Outcome, *Problem, error)
}

// run goes through a job from where the last run of it came.
func run(ctx context.Context, documents store.Store, j job, options Options) (Done, error) {
	done, after, err := begin(ctx, documents, j.name, options.DryRun)
	if err != nil {
		return done, err
	}
	for {
		ids, next, err := j.list(ctx, after)
		if err != nil {
			return done, err
		}
		for _, id := range ids {
			outcome, problem, err := j.patiently(ctx, id, options.DryRun)
			if err != nil {
				return done, fmt.Errorf("backfill %s: %s: %w", j.name, id, err)
			}
			done.count(outcome, problem, options)
		}
		if options.Progress != nil {
			options.Progress(done)
		}
		if !options.DryRun {
			if err := remember(ctx, documents, j.name, done, next); err != nil {
				return done, err
			}
		}
		if next == nil {
			return done, nil
		}
		after = next
	}
}

// patiently does one thing, and gives the store the time that it may need.
func (j job) patiently(ctx context.Context, id string, dryRun bool) (Outcome, *Problem, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return j.do(ctx, id, dryRun)
}

func (d *Done) count(outcome Outcome, problem *Problem, options Options) {
	d.Seen++
	if problem == nil {
		d.Counts[outcome]++
		return
	}
	d.Problems++
	if options.Problem != nil {
		options.Problem(*problem)
	}
}
