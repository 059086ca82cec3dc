package calendarsync

import (
	"context"
	"errors"

	"questscheduler/internal/calendars"
	"questscheduler/internal/gcal"
	"questscheduler/internal/store"
	"questscheduler/scheduler"
)

// Consumer wants to know what changes in calendars. It says which ones by an interest on
// the calendar's document (calendars.Calendar.Want, then Watcher.Follow). Syncer.Consumers
// lists all but polls, which come first and follow every calendar.
//
// Of a calendar in which it has an interest it gets every change at least once, as the
// calendar shows the event then, perhaps long after the change. When its interest begins,
// and after a sync token was lost, it gets every event there is, then Unlisted.
//
// A method that fails or panics stops neither the run nor another consumer: its event is
// deferred, that is fetched individually and applied by a later run. A run has four minutes
// (outbox.LongestRun), so Apply must be quick, and quickest where nothing changed: a full listing that
// runs out of time begins anew.
type Consumer interface {
	// Name is the key of its interests and deferred events in calendars' documents. It
	// never changes.
	Name() string
	// Reads are the fields of listed events that it needs. A calendar is listed with the
	// widest of its consumers' masks.
	Reads() gcal.Mask
	// Concerns reports, without IO, whether an event may concern it. It says the same of
	// one event in every run.
	Concerns(calendar calendars.Calendar, eventID string) bool
	// Apply applies an observed event in a transaction of its own that calls Run.Holds or Run.Follows. It
	// is idempotent: the same observation may come again.
	Apply(ctx context.Context, run Run, observed SyncedEvent) error
	// Unlisted decides, after a full listing, about the consumer's events that it did not
	// show, each by Run.FetchMissing: a full listing shows no deletions. If it fails, the next run
	// lists everything for the consumer again.
	Unlisted(ctx context.Context, run Run, shown func(eventID string) bool) error
}

// PageConsumer is a Consumer that applies many events together, so that a long listing takes
// few transactions. What it applied of a full listing that ran out of time must cost the
// next one few reads: that is how the listing comes to its end.
type PageConsumer interface {
	Consumer
	// ApplyPage applies those of a page's events that it can apply together and returns
	// their ids, after an error too; the others are given to Apply. Each id is there once.
	// full reports that the listing shows all events.
	ApplyPage(ctx context.Context, run Run, observed []SyncedEvent, full bool) (applied map[string]bool, err error)
}

// FailureShower is a Consumer that shows people that an event of theirs cannot be applied.
type FailureShower interface {
	Consumer
	// ShowFailure shows an event that an earlier run deferred and that failed again.
	ShowFailure(ctx context.Context, run Run, eventID string) error
}

// Finisher is a Consumer with something left to do when a run has shown its changes. Its failure
// fails the run for all: the changes are listed again.
type Finisher interface {
	Consumer
	Finish(ctx context.Context, run Run) error
}

// ErrLater is Apply's answer to an event that cannot be applied yet, which is no failure: later
// runs fetch it. So they do with an event that the consumer applied, and that cannot be read whole.
var ErrLater = errors.New("the event is applied by a later run")

// SyncedEvent is what a run read of one event.
type SyncedEvent struct {
	Event gcal.Event
	// Fresh reports that it was fetched individually, and not listed.
	Fresh bool
	// Writable reports that the calendar takes us for a writer. If not, an absence proves
	// nothing.
	Writable bool
}

// Run is a sync run, as a consumer sees it.
type Run struct {
	// Calendar is as it was when the run began.
	Calendar calendars.Calendar
	Cause    scheduler.Cause
	// Observing reports that consumers journal what they would do, and write nothing to
	// Google.
	Observing bool

	sync *syncRun
	part *part
}

// Applied records what became of an event that Unlisted applied: after a failure, later runs fetch
// it. It fails where the run ends for every consumer.
func (r Run) Applied(ctx context.Context, eventID string, failure error) error {
	return r.part.applied(ctx, eventID, failure)
}

// Memo is what the consumer keeps from page to page of a full listing, until Unlisted; nil when one
// begins.
func (r Run) Memo() *any { return &r.part.memo }

// Holds fails a transaction with scheduler.ErrFenced if a newer run of the calendar began.
func (r Run) Holds(ctx context.Context, reader store.Reader) error {
	return r.sync.stillHolds(ctx, reader)
}

// Follows fails as Holds does, and reports whether the consumer has an interest in the calendar still:
// a run outlasts one that ends.
func (r Run) Follows(ctx context.Context, reader store.Reader) (bool, error) {
	calendar, err := r.sync.held(ctx, reader)
	return err == nil && calendar.Follows(r.part.Name()), err
}

// FetchMissing reads events that a full listing lacks, with their Details, and calls do for
// each until that fails. One is Gone only if that is confirmed: the calendar itself answers
// us as a writer, and after a 404 does not list the event either. Otherwise a missing event
// is an error. left are those that were not read, since one run reads 200.
func (r Run) FetchMissing(
	ctx context.Context, eventIDs []string, do func(eventID string, event gcal.Event, failure error) error,
) (left []string, err error) {
	return r.sync.fetchMissing(ctx, eventIDs, do)
}
