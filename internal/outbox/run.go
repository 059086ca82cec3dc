package outbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"questscheduler/fault"
)

// Ran is counted for each run that had something to do.
type Ran struct {
	Kind    string
	Outcome Outcome
	Err     error // nil unless it failed, or the store did not answer
	Took    time.Duration
}

// PanicError is the error of a run that panicked.
type PanicError struct {
	Value any
	Stack []byte
}

// Error describes the value, without the stack.
func (e *PanicError) Error() string { return fmt.Sprintf("the handler panicked: %v", e.Value) }

// finalTimeout is how long a run whose time is over, or that the program's end cancelled, may
// take to record that.
const finalTimeout = 3 * time.Second

// Run takes an entry and does its work, once. again is when to call it next, zero where nothing
// is left or the drain will find it. An error means that the store did not answer, or that ctx
// ended: call it again. It takes at most the kind's Timeout and a few seconds.
func (o *Outbox) Run(ctx context.Context, kindName, id string) (again time.Time, err error) {
	kind := o.kind(kindName)
	if kind == nil {
		return time.Time{}, fault.Newf(fault.NotFound, "There is no work of the kind %q.", kindName)
	}
	ran := o.run(ctx, kind, id)
	return ran.again, ran.err
}

// ended is what came of a run: see Run.
type ended struct {
	again time.Time
	err   error
	left  bool // it failed, and its entry is due as it was
}

func (o *Outbox) run(ctx context.Context, kind *Kind, id string) ended {
	mode := kind.mode()
	if mode == Rests || !kind.named(id) {
		return ended{}
	}
	if o.Alone && !kind.Unclaimed {
		if !o.claims.claim(kind.Name, id) {
			return ended{again: o.Now().Add(claimedWait)}
		}
		defer o.claims.release(kind.Name, id)
	}
	item, began := Item{Kind: kind.Name, ID: id}, o.Now()
	if !kind.Unclaimed {
		var taken bool
		var again time.Time
		var err error
		item, taken, again, err = o.take(ctx, kind, id)
		if err != nil || !taken {
			if err != nil && !interrupted(ctx) {
				o.Log.WarnContext(ctx, "work could not be taken", slog.String("kind", kind.Name), slog.String("id", id), slog.Any("error", err))
			}
			return ended{again: o.unlessLater(again), err: err}
		}
	}
	item.Observing = mode == Observes
	result := o.handle(ctx, kind, item)
	result, again, err := o.end(ctx, kind, item, result)
	o.Meter.Count(Ran{kind.Name, result.outcome, result.err, o.Now().Sub(began)})
	o.log(ctx, kind, item, result, again, o.Now().Sub(began))
	return ended{o.unlessLater(again), err, kind.Unclaimed && result.outcome == outcomeFailed && result.at.IsZero()}
}

// unlessLater is a time to run, or zero where that is left to the drain.
func (o *Outbox) unlessLater(at time.Time) time.Time {
	if at.Sub(o.Now()) > Soon {
		return time.Time{}
	}
	return at
}

// interrupted reports whether the program's end cancelled a run. Its time-out does not.
func interrupted(ctx context.Context) bool { return errors.Is(ctx.Err(), context.Canceled) }

// handle calls the handler, with its time-out. A panic is a failure.
func (o *Outbox) handle(ctx context.Context, kind *Kind, item Item) (result Result) {
	ctx, cancel := context.WithTimeout(ctx, kind.timeout())
	defer cancel()
	defer func() {
		if value := recover(); value != nil {
			result = Failed(&PanicError{value, debug.Stack()})
		}
	}()
	return kind.Handle(ctx, item)
}

// end records the result of a run, and returns what it came to.
func (o *Outbox) end(ctx context.Context, kind *Kind, item Item, result Result) (Result, time.Time, error) {
	if result.outcome == outcomeFailed && result.err == nil {
		result.err = errors.New("the handler gave no reason")
	}
	if interrupted(ctx) && (result.outcome == outcomeFailed || result.outcome == outcomeBroken) {
		result.outcome = outcomeBroken // the program stops, which is no failure of the work
		if !kind.Unclaimed && !o.inMemory(kind) {
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), finalTimeout)
			defer cancel()
			result.err = errors.Join(result.err, o.release(last, kind, item))
		}
	}
	switch {
	case result.outcome == outcomeFailed && !result.at.IsZero():
		return result, result.at, nil
	case result.outcome == outcomeBroken:
		return result, time.Time{}, fmt.Errorf("%s %s: %w", kind.Name, item.ID, result.err)
	case kind.Unclaimed && result.outcome == outcomeFailed:
		return result, time.Time{}, nil // it stays due, and is left to the drain
	case kind.Unclaimed, result.outcome == outcomeKept:
		return result, result.at, nil
	}
	if result.outcome == outcomeFailed {
		o.rests.rest(kind.account(item.Document), o.Now(), result.err, kind.Retry.Wait(result.err, 1))
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), finalTimeout)
	defer cancel()
	due, same, err := o.settle(last, kind, item, result)
	switch {
	case err != nil:
		return Broken(err), time.Time{}, fmt.Errorf("%s %s: %w", kind.Name, item.ID, err)
	case !same:
		return Result{outcome: outcomeOvertaken, err: result.err}, o.Now(), nil
	}
	return result, due, nil
}

// log writes the one line of a run: a failure as a warning, a panic and the failure that makes
// an entry an error as an error, what the program's end cancelled as information, anything else
// as a detail.
func (o *Outbox) log(ctx context.Context, kind *Kind, item Item, result Result, again time.Time, took time.Duration) {
	log := o.Log.With(slog.String("kind", kind.Name), slog.String("id", item.ID),
		slog.String("outcome", result.outcome.String()), slog.Duration("took", took))
	if item.State.Trace != "" {
		log = log.With(slog.String("trace", item.State.Trace))
	}
	if result.err == nil {
		log.DebugContext(ctx, "work done")
		return
	}
	var attempts int64
	if result.outcome == outcomeFailed && !kind.Unclaimed && result.at.IsZero() {
		attempts = o.after(kind, item.State, result).Attempts
		log = log.With(slog.Int64("attempts", attempts))
	}
	if result.outcome == outcomeFailed && !again.IsZero() {
		log = log.With(slog.Time("due", again))
	}
	log = log.With(slog.String("reason", fault.KindOf(result.err).String()), slog.Any("error", result.err))
	panicked, isPanic := errors.AsType[*PanicError](result.err)
	switch {
	case isPanic:
		log.ErrorContext(ctx, "work panicked", slog.String("stack", string(panicked.Stack)))
	case interrupted(ctx):
		log.InfoContext(ctx, "work interrupted")
	case attempts == kind.Retry.withDefaults().Error:
		log.ErrorContext(ctx, "work keeps failing and needs a person")
	default:
		log.WarnContext(ctx, "work failed")
	}
}
