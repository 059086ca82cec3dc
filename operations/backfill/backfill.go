// Package backfill migrates an existing deployment: it has events followed of polls that
// were finalised before this backend, and opens watch channels for their calendars.
//
// Each job pages through a list in a fixed order and stores its progress after each page,
// so an interrupted run is continued by the next one. Repeating a page is harmless.
// Nothing is announced: people know their sessions.
package backfill

import (
	"context"
	"fmt"
	"time"

	"questscheduler/internal/store"
)

// page is how many items are done between two progress marks.
const page = 50

// itemTimeout bounds one item. Firestore takes a minute to release what a killed run had
// locked, and the next run starts with the same items.
const itemTimeout = 3 * time.Minute

// Outcome is what happened to one item.
type Outcome string

// Problem is an item that a job could not migrate.
type Problem struct {
	// What names the item, such as "poll 7f…".
	What string
	// Fix says what is wrong and what to do.
	Fix string
}

// Options configure a job; none is required.
type Options struct {
	// DryRun counts and writes nothing, not even progress; it starts at the beginning.
	DryRun bool
	// Progress is called after each page.
	Progress func(Done)
	// Problem is called for each problem.
	Problem func(Problem)
}

// Done counts what a job did, interrupted runs included.
type Done struct {
	Read     int
	Counts   map[Outcome]int
	Problems int
}

// job is a list of items and what to do with each.
type job struct {
	name string
	// list returns a page of ids after a cursor, and the next cursor; nil at the end.
	list func(ctx context.Context, after *store.Cursor) (ids []string, next *store.Cursor, err error)
	// do migrates one item, or reports a problem. With dryRun it reports what it would
	// do. Its error ends the job.
	do func(ctx context.Context, id string, dryRun bool) (Outcome, *Problem, error)
}

// run continues a job where its last run stopped.
func run(ctx context.Context, documents store.Store, j job, options Options) (Done, error) {
	done, after, err := loadProgress(ctx, documents, j.name, options.DryRun)
	if err != nil {
		return done, err
	}
	for {
		ids, next, err := j.list(ctx, after)
		if err != nil {
			return done, err
		}
		for _, id := range ids {
			outcome, problem, err := j.withTimeout(ctx, id, options.DryRun)
			if err != nil {
				return done, fmt.Errorf("backfill %s: %s: %w", j.name, id, err)
			}
			done.count(outcome, problem, options)
		}
		if options.Progress != nil {
			options.Progress(done)
		}
		if !options.DryRun {
			if err := saveProgress(ctx, documents, j.name, done, next); err != nil {
				return done, err
			}
		}
		if next == nil {
			return done, nil
		}
		after = next
	}
}

func (j job) withTimeout(ctx context.Context, id string, dryRun bool) (Outcome, *Problem, error) {
	ctx, cancel := context.WithTimeout(ctx, itemTimeout)
	defer cancel()
	return j.do(ctx, id, dryRun)
}

func (d *Done) count(outcome Outcome, problem *Problem, options Options) {
	d.Read++
	if problem == nil {
		d.Counts[outcome]++
		return
	}
	d.Problems++
	if options.Problem != nil {
		options.Problem(*problem)
	}
}
