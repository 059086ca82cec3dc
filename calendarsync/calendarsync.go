// Package calendarsync reads what changes in calendars: watch channels by which Google
// announces changes, sync runs that list them, and the hand-over of what they observe to
// consumers. Polls are the first of them (polls.go, to the rules by scheduler.Apply);
// mirrors and second addresses are the others.
//
// A push, a timer or a person only triggers a sync run: a trigger that is lost, doubled or
// late changes nothing but the delay. Runs are safe because of their calendar's fence
// (package calendars); the sync token moves once everything it covers was applied or
// deferred.
package calendarsync

import (
	"context"
	"log/slog"
	"time"

	"questscheduler/internal/gcal"
	"questscheduler/internal/meter"
	"questscheduler/internal/store"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// Google is the part of gcal.Client that sync runs and watch channels need.
type Google interface {
	Get(ctx context.Context, ref gcal.Ref, eventID string) (gcal.Event, error)
	List(ctx context.Context, ref gcal.Ref, mask gcal.Mask, syncToken, pageToken string) (gcal.Page, error)
	Watch(ctx context.Context, ref gcal.Ref, request gcal.WatchRequest) (gcal.Channel, error)
	StopWatch(ctx context.Context, accountID, channelID, resourceID string) error
}

// batchTime bounds a call that asks Google about many calendars; the next call takes the
// rest. A run of the outbox has a minute, and the last calendar may take half of it if Google hangs.
const batchTime = 10 * time.Second

// Polls receives observations (scheduler.Service).
type Polls interface {
	Apply(ctx context.Context, observation scheduler.ObservedEvent) (scheduler.Applied, error)
	SetSyncError(ctx context.Context, pollID string, code rules.ErrorCode, cause scheduler.Cause, while scheduler.While) error
	ClearSyncError(ctx context.Context, pollID string, code rules.ErrorCode, cause scheduler.Cause, while scheduler.While) error
	Reconcile(ctx context.Context, pollID string, cause scheduler.Cause) (rules.Repair, error)
}

// Owners notifies the owner of a calendar of troubles that only they can repair (package
// notify). All methods are idempotent.
type Owners interface {
	// NotifySyncError announces that an account's grant is dead or too small, once per
	// grant.
	NotifySyncError(ctx context.Context, ownerID, accountID string) error
	// NotifyLost announces that a calendar that sessions are in is lost, once for each
	// loss, which since tells apart.
	NotifyLost(ctx context.Context, ownerID, calendarKey string, since time.Time) error
	// NotifyHeld announces that the cancellations of these events await confirmation, once
	// for the same events.
	NotifyHeld(ctx context.Context, ownerID, calendarKey string, eventIDs []string) error
}

// Syncer runs syncs of calendars. All fields but Consumers, Observing and Meter are
// required.
type Syncer struct {
	Store      store.Store
	Google     Google
	MoveFinder *MoveFinder
	Polls      Polls
	Owners     Owners
	// Consumers are those beside polls.
	Consumers []Consumer
	Now       func() time.Time
	// MinGap is the least time between two sync runs of a calendar.
	MinGap time.Duration
	// HoldShare and HoldMin are the share and number of a calendar's linked polls; if
	// more events than both are missing from a full listing, their cancellations are held
	// for a person's confirmation.
	HoldShare float64
	HoldMin   int
	// Observing reports that Polls only observes and applies nothing.
	Observing bool
	Log       *slog.Logger
	// Meter counts events of meter.go; nil counts none.
	Meter meter.Meter
}

// Watcher maintains watch channels. All exported fields but Observing, Alone and
// Meter are required.
type Watcher struct {
	Store  store.Store
	Outbox scheduler.Outbox
	Google Google
	Polls  Polls
	Now    func() time.Time
	// NewUUID names channels; Tokens makes and verifies their tokens.
	NewUUID func() string
	Tokens  Tokens
	// Address is the public address of our push route. If "", no channels are opened, and
	// only timers and people trigger syncs.
	Address string
	// TTL is the lifetime to request. RenewBefore is how long before its end a channel is
	// renewed, or a third of its granted lifetime if that is shorter.
	TTL         time.Duration
	RenewBefore time.Duration
	// Observing reports that sync runs only observe.
	Observing bool
	// Alone reports that no other process has the store, which is a file here: a read costs far less
	// than a transaction, which waits for others.
	Alone bool
	Log   *slog.Logger
	// Meter counts events of meter.go; nil counts none.
	Meter meter.Meter

	cache channelCache
}
