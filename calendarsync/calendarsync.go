// Package calendarsync keeps polls and calendars telling the same story: watch
// channels that say "look", looks that read what changed, and the hand-over of
// what they see to the rules (scheduler.Apply).
//
// A push, a timer or a person is only a hint. Nothing is believed but what a
// look reads, so a hint that is lost, doubled or late changes nothing but the
// delay. What keeps a look right is the fence of its calendar (package cursor);
// the sync token moves when all that it covers was applied or parked.
package calendarsync

import (
	"context"
	"log/slog"
	"time"

	"questscheduler/internal/gcal"
	"questscheduler/internal/queue"
	"questscheduler/internal/store"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// Google is what this package needs of the calendar (gcal.Client).
type Google interface {
	Get(ctx context.Context, ref gcal.Ref, eventID string) (gcal.Event, error)
	List(ctx context.Context, ref gcal.Ref, syncToken, pageToken string) (gcal.Page, error)
	Watch(ctx context.Context, ref gcal.Ref, request gcal.WatchRequest) (gcal.Channel, error)
	StopWatch(ctx context.Context, accountID, channelID, resourceID string) error
}

// together is how long one call that asks Google about many calendars goes on
// before it leaves the others to the next: a task has a minute, of which the
// drain's asks twice, and what is begun last may take half of it where Google
// hangs.
const batchTime = 10 * time.Second

// Polls is where observations go (scheduler.Service).
type Polls interface {
	Apply(ctx context.Context, seen scheduler.Observed) (scheduler.Applied, error)
	SetSyncError(ctx context.Context, pollID string, code rules.ErrorCode, cause scheduler.Cause, while ...scheduler.While) error
	ClearSyncError(ctx context.Context, pollID string, code rules.ErrorCode, cause scheduler.Cause, while ...scheduler.While) error
	Reconcile(ctx context.Context, pollID string, cause scheduler.Cause) (rules.Mending, error)
}

// Owners is where the owner of a calendar hears what only they can mend (package
// notify). Telling the same twice is telling it once.
type Owners interface {
	// TellSyncError says that the grant of an account is dead or too small. It
	// is told once for each grant.
	TellSyncError(ctx context.Context, ownerID, accountID string) error
	// TellHeld says that the cancellations of these events of a calendar wait
	// for confirmation. It is told once for the same events.
	TellHeld(ctx context.Context, ownerID, calendarKey string, eventIDs []string) error
}

// Looker looks at calendars. All fields are needed but Observing and Meter.
type Looker struct {
	Store  store.Store
	Google Google
	// Elsewhere finds events that were moved to another calendar.
	Elsewhere *Elsewhere
	Polls     Polls
	Owners    Owners
	Now       func() time.Time
	// MinGap is how soon a look may follow another of the same calendar.
	MinGap time.Duration
	// HoldShare and HoldMin are the share and the number of a calendar's
	// linked polls beyond which events that a full listing lacks are held for
	// a person's word and not cancelled.
	HoldShare float64
	HoldMin   int
	// Observing tells that Polls only observes, and applies nothing.
	Observing bool
	Log       *slog.Logger
	// Meter counts; nil: nothing does.
	Meter Meter
}

// Watcher keeps watch channels. All exported fields are needed but
// Observing and Meter.
type Watcher struct {
	Store  store.Store
	Queue  queue.Enqueuer
	Google Google
	Polls  Polls
	Now    func() time.Time
	// NewUUID names channels, and Tokens makes and verifies the token of one.
	NewUUID func() string
	Tokens  Tokens
	// Address is where pushes go: the public address of our push route. ""
	// makes no channels: looks come by timers and people alone.
	Address string
	// TTL is how long a channel is asked for; RenewBefore is how long before
	// its end it is renewed, unless a third of what Google granted is less.
	TTL         time.Duration
	RenewBefore time.Duration
	// Observing tells that looks only observe.
	Observing bool
	Log       *slog.Logger
	// Meter counts; nil: nothing does.
	Meter Meter

	cache channelCache
}
