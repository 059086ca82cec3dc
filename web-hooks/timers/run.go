package timers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/outbox"
	"questscheduler/internal/store"
	"questscheduler/scheduler"
)

const (
	// stretch is how long a run of the outbox works on a job before it lets others: far less
	// than the time limits of a run (60 s) and of a shutdown.
	stretch = 5 * time.Second
	// retries is how often a failing step is repeated, until the next period.
	retries = 3
	// drainAgain is how soon a drain goes on that left some, and drainFor for how long: Cloud
	// Scheduler waits for a minute, and then asks for the next.
	drainAgain = 5 * time.Second
	drainFor   = 40 * time.Second
	// trigger is what makes runs, except those of a person.
	trigger = "timer"
)

// HandOver has a job run now, for a clock outside the program. The drain is done before it
// returns; of another job a run is recorded, and follows. NotFound: no such job.
func (t *Timers) HandOver(ctx context.Context, name string) error {
	if name == Drain {
		return t.drainOn(ctx)
	}
	if _, err := t.named(name); err != nil {
		return err
	}
	now := store.Instant(t.Now())
	run := Run{Due: now, Cause: scheduler.Cause{Trigger: trigger, Trace: t.NewTrace()}}
	if _, _, err := t.begin(ctx, name, run, now); err != nil {
		return fmt.Errorf("timers: hand over %s: %w", name, err)
	}
	t.Outbox.Soon(ctx, Kind, name, now)
	return nil
}

// steps takes the steps of a run until none is left or pause, asked before each, says to stop.
// over reports whether this caller has nothing left to do: the run
// ended, or another process took its place.
//
// A step that found nothing to do is recorded with the next that did, or where the caller stops:
// most steps of an idle server are such, and the process that continues repeats them at the cost of their
// reads.
func (t *Timers) steps(
	ctx context.Context, job Job, run Run, record Record, pause func() bool,
) (after Record, over bool, err error) {
	run.Part, run.At = record.Part, record.At
	held := Stretch{Part: run.Part, Next: run.At} // the last step, which began at the run's place or found nothing
	for goesOn := record.goesOn(run.Due); goesOn; {
		if pause() || errors.Is(ctx.Err(), context.DeadlineExceeded) {
			record, goesOn, err = t.record(ctx, job.Name, run, record, held)
			return record, err == nil && !goesOn, err
		}
		here := run
		here.Part, here.At = held.Part, held.Next
		step, failure := job.Step(ctx, here)
		if failure != nil {
			record, goesOn, err = t.record(ctx, job.Name, run, record, held)
			if err == nil && !goesOn {
				return record, true, nil // who took its place meets the failure too
			}
			if err == nil {
				record, err = t.failed(ctx, job.Name, run, failure)
			}
			return record, false, errors.Join(fmt.Errorf("%s: %w", job.Name, failure), err)
		}
		held = Stretch{Part: step.Part, Next: step.Next, Did: step.Did}
		if !held.ends() && len(held.Did.NonZero()) == 0 {
			continue
		}
		record, goesOn, err = t.advance(ctx, job.Name, run, held)
		if err != nil {
			return record, false, err
		}
		run.Part, run.At = record.Part, record.At
	}
	return record, true, nil
}

// record records the steps since the place of a run, if there were any.
func (t *Timers) record(ctx context.Context, job string, run Run, was Record, held Stretch) (r Record, goesOn bool, err error) {
	if held.Part == run.Part && held.Next == run.At {
		return was, true, nil
	}
	return t.advance(ctx, job, run, held)
}

// drainOn drains, and goes on while more is due than one drain wakes. What is not done by then is
// woken by the same name, which makes no further task within the minute.
func (t *Timers) drainOn(ctx context.Context) error {
	for over := time.After(drainFor); ; {
		woken, err := t.Outbox.Drain(ctx)
		if err != nil || !slices.ContainsFunc(woken, func(did outbox.Woken) bool { return did.Cut && did.N > 0 }) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-over:
			return nil
		case <-time.After(drainAgain):
		}
	}
}

// RunNow runs a job to its end while a person waits, and returns what it did, with
// an error as far as it came. progress, where set, receives after each step what
// was done so far. NotFound: no such job; Conflict: a newer run of it replaced
// this one.
func (t *Timers) RunNow(ctx context.Context, name string, progress func(Counts)) (Counts, error) {
	if name == Drain {
		return t.drain(ctx)
	}
	job, err := t.named(name)
	if err != nil {
		return nil, err
	}
	run := Run{Due: store.Instant(t.Now()), ByHand: true, Cause: scheduler.Cause{Trigger: "sweep", Trace: t.NewTrace()}}
	record, _, err := t.begin(ctx, name, run, time.Time{})
	if err != nil {
		return nil, err
	}
	var done Counts
	job.Step = job.Step.then(func(did Counts) {
		done = done.Add(did)
		if progress != nil {
			progress(done)
		}
	})
	record, _, err = t.steps(ctx, job, run, record, func() bool { return false })
	if err == nil && !record.ended(run.Due) {
		err = fault.Newf(fault.Conflict, "Another run of %s is under way and goes on with it.", name)
	}
	return done, err
}

// drain wakes what is due, and counts it.
func (t *Timers) drain(ctx context.Context) (did Counts, err error) {
	woken, err := t.Outbox.Drain(ctx)
	for _, kind := range woken {
		did = append(did, Count{kind.Does, kind.N})
	}
	return did, err
}
