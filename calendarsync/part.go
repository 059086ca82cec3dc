package calendarsync

import (
	"context"
	"errors"
	"maps"
	"runtime/debug"
	"slices"
	"time"

	"questscheduler/internal/calendars"
	"questscheduler/internal/gcal"
	"questscheduler/internal/outbox"
	"questscheduler/internal/store"
	"questscheduler/scheduler"
)

// part is what a run does for one consumer. Its methods fail only where the run must end
// for every consumer.
type part struct {
	Consumer
	run Run
	// outcome says of events whether the last attempt in this run applied or deferred them.
	outcome map[string]bool
	// failures are the events whose last attempt failed, without those for a later run (ErrLater).
	failures map[string]bool
	// relisted reports that a full listing came to its end, incomplete that an event of it
	// could not be identified, and overflow that events were left out.
	relisted, incomplete, overflow bool
	// memo is what the consumer keeps from page to page of a full listing (Run.Memo).
	memo any
	// logged: a failure was logged as a warning; further ones of the run are details.
	logged bool
}

// newParts are the parts of the consumers that follow the calendar, polls first.
func (l *syncRun) newParts() (parts []*part) {
	for _, consumer := range slices.Concat([]Consumer{&pollConsumer{syncRun: l}}, l.Consumers) {
		if !l.calendar.Follows(consumer.Name()) {
			continue
		}
		p := &part{Consumer: consumer, outcome: map[string]bool{}, failures: map[string]bool{}}
		p.run = Run{Calendar: l.calendar, Cause: l.cause, Observing: l.Observing, sync: l, part: p}
		parts = append(parts, p)
	}
	return parts
}

// stopped reports that the part gets no more events in this run.
func (p *part) stopped() bool { return p.overflow }

// concerned is Concerns; a consumer that panics has to be asked by Apply.
func (p *part) concerned(eventID string) (concerned bool) {
	defer func() {
		if recover() != nil {
			concerned = true
		}
	}()
	return p.Concerns(p.run.Calendar, eventID)
}

// apply applies an event for the consumer.
func (p *part) apply(ctx context.Context, observed SyncedEvent) error {
	if p.stopped() {
		return nil
	}
	if err := p.run.sync.keepLease(ctx); err != nil {
		return err
	}
	err := guarded(func() error { return p.Apply(ctx, p.run, observed) })
	if err == nil && observed.Event.Malformed {
		err = ErrLater // once it is readable, no further listing need show it
	}
	return p.applied(ctx, observed.Event.ID, err)
}

// applied notes what became of an event. One that fails again is the consumer's to show.
func (p *part) applied(ctx context.Context, eventID string, failure error) error {
	if failure == nil {
		p.outcome[eventID] = true
		delete(p.failures, eventID)
		return nil
	}
	if err := p.note(ctx, failure, eventID); err != nil {
		return err
	}
	p.outcome[eventID] = false
	if !errors.Is(failure, ErrLater) {
		p.failures[eventID] = true
	}
	p.overflow = p.overflow || p.failed() > calendars.MaxBacklog
	shower, shows := p.Consumer.(FailureShower)
	again := p.backlog().Deferred[eventID].Failed()
	if !shows || !again || errors.Is(failure, ErrLater) || p.run.sync.endsRun(ctx, failure) {
		return nil
	}
	return p.note(ctx, guarded(func() error { return shower.ShowFailure(ctx, p.run, eventID) }), eventID)
}

// failed is how many events were deferred in this run.
func (p *part) failed() (count int) {
	for _, applied := range p.outcome {
		if !applied {
			count++
		}
	}
	return count
}

// note logs a consumer's failure, and returns it if it ends the run for all.
func (p *part) note(ctx context.Context, failure error, eventID string) error {
	l := p.run.sync
	switch {
	case failure == nil || errors.Is(failure, ErrLater):
		return nil
	case errors.Is(failure, scheduler.ErrFenced) || ctx.Err() != nil:
		return failure
	}
	if p.logged {
		l.Log.DebugContext(ctx, "a consumer failed again", "consumer", p.Name(), "event", eventID, "trace", l.cause.Trace, "error", failure)
		return nil
	}
	p.logged = true
	l.Log.WarnContext(ctx, "a consumer failed", "consumer", p.Name(), "event", eventID, "calendar", l.ref.Calendar,
		"account", l.ref.Account, "trace", l.cause.Trace, "error", failure)
	if panicked, ok := errors.AsType[*outbox.PanicError](failure); ok {
		l.Log.ErrorContext(ctx, "a consumer panicked", "consumer", p.Name(), "stack", string(panicked.Stack))
	}
	return nil
}

// guarded turns a panic into an error.
func guarded(do func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &outbox.PanicError{Value: value, Stack: debug.Stack()}
		}
	}()
	return do()
}

// complete does what follows a listing that the part got: it has the consumer decide
// about events that a full one did not show, and applies deferred events. A consumer that
// needs a full listing, and did not get one, gets its own.
func (p *part) complete(ctx context.Context) error {
	l := p.run.sync
	switch {
	case p.stopped():
		return nil
	case l.inFullListing != nil:
		if err := p.unlisted(ctx, l.inFullListing); err != nil || p.stopped() {
			return err
		}
	case !p.backlog().Relist.IsZero():
		if err := p.relist(ctx); err != nil || !p.relisted {
			return err
		}
	}
	return p.fetchDeferred(ctx) // a listing shows no event that was deleted
}

// finish has the consumer do what is left at the end of a run.
func (p *part) finish(ctx context.Context) error {
	finisher, ok := p.Consumer.(Finisher)
	if !ok {
		return nil
	}
	return guarded(func() error { return finisher.Finish(ctx, p.run) })
}

func (p *part) backlog() calendars.Backlog { return p.run.Calendar.Backlogs[p.Name()] }

// unlisted has the consumer decide about what a full listing did not show.
func (p *part) unlisted(ctx context.Context, listed map[string]bool) error {
	shown := func(eventID string) bool { return listed[eventID] }
	failure := guarded(func() error { return p.Unlisted(ctx, p.run, shown) })
	p.relisted = failure == nil
	p.overflow = p.overflow || failure != nil
	return p.note(ctx, failure, "")
}

// relist lists everything for this consumer alone, and drops the token: the run's own goes
// on where it is.
func (p *part) relist(ctx context.Context) error {
	l, listed := p.run.sync, map[string]bool{}
	_, failure := l.eachPage(ctx, "", func(page gcal.Page) error {
		return l.deliver(ctx, page, []*part{p}, listed)
	})
	switch {
	case p.stopped():
		return nil
	case failure != nil:
		return p.note(ctx, failure, "")
	default:
		return p.unlisted(ctx, listed)
	}
}

// maxFetches bounds the deferred events that a run fetches for a consumer, of the 600
// calls that Google answers an account in a minute.
const maxFetches = 50

// fetchDeferred fetches the events that were deferred when the run began and that it has
// not met, in another order in each run, so that failing ones keep none of the others back.
// Held ones await a person.
func (p *part) fetchDeferred(ctx context.Context) error {
	l := p.run.sync
	deferred := p.backlog().Deferred
	eventIDs := slices.DeleteFunc(slices.Sorted(maps.Keys(deferred)), func(eventID string) bool {
		_, met := p.outcome[eventID]
		return met || deferred[eventID].Why == calendars.DeferredHeld
	})
	if len(eventIDs) > maxFetches {
		from := int(l.fence * maxFetches % int64(len(eventIDs)))
		eventIDs = slices.Concat(eventIDs[from:], eventIDs[:from])[:maxFetches]
	}
	for i, f := range l.fetchAll(ctx, eventIDs) {
		observed, failure := f.observed()
		if failure == nil {
			if err := p.apply(ctx, observed); err != nil {
				return err
			}
			continue
		}
		if err := p.applied(ctx, eventIDs[i], failure); err != nil || l.endsRun(ctx, failure) {
			return err // the account answers nothing more now
		}
	}
	return nil
}

// recovers reports whether the consumer applied an event that was deferred for it.
func (p *part) recovers() bool {
	for eventID := range p.backlog().Deferred {
		if p.outcome[eventID] {
			return true
		}
	}
	return false
}

// progress is what was done for the consumer, to be recorded. again is how long to wait until what
// is left is tried; zero: nothing is.
func (p *part) progress(began, now calendars.Calendar, at time.Time) (updates []store.Update, again time.Duration) {
	did := calendars.Progress{
		Relisted: p.relisted, Overflow: p.overflow, Incomplete: p.incomplete, Failed: slices.Sorted(maps.Keys(p.failures)),
	}
	for _, eventID := range slices.Sorted(maps.Keys(p.outcome)) {
		if p.outcome[eventID] {
			did.Settled = append(did.Settled, eventID)
		} else {
			did.Deferred = append(did.Deferred, eventID)
		}
	}
	updates, left := now.Progressed(began, p.Name(), did, store.Instant(at))
	return updates, left.Retry(at, p.recovers())
}
