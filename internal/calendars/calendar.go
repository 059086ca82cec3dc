// Package calendars holds the stored state of a watched calendar as one account sees it.
// The sync token marks how far its changes are applied. The fence numbers the sync runs,
// so that one that lost its lease commits nothing. SyncAt is when the next run is due: a
// calendar that has one is an entry of the outbox, and a request for a run is written there
// before anything else is done about it. The interests count what follows the calendar.
//
// The functions are pure: they take a Calendar and return updates to write in the
// transaction that read it. Correctness rests on the fence; the lease only avoids
// duplicate work.
package calendars

import (
	"context"
	"maps"
	"slices"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

// Lease is how long a run holds a calendar without renewing its lease.
const Lease = 60 * time.Second

// Calendar is a document of calendars, closed to clients.
type Calendar struct {
	Key        string
	AccountID  string
	CalendarID string
	OwnerID    string
	// TimeZone is the calendar's IANA zone as the last sync run saw it; "" before the first.
	TimeZone string
	// SyncToken is where the next listing continues; "" requests a full one.
	SyncToken string
	// MaskVersion is the version of the fields mask that the token is for.
	MaskVersion int64
	// LinkedAt is when something began to follow the calendar for the first time; zero if
	// nothing did.
	LinkedAt time.Time
	// SyncAt is when the next run is due; zero: none is. It is the end of the lease during a
	// run, so that a run that dies is followed by another.
	SyncAt time.Time
	// SyncPending (stored as syncAsked) marks a run that was requested and has not begun. No end
	// of an earlier run changes its SyncAt.
	SyncPending bool
	// SyncCause and SyncTrace are the trigger and the trace of the last request.
	SyncCause, SyncTrace string
	// SyncAttempts counts the failed runs since the last successful one.
	SyncAttempts int64
	// Fence is the number of the run that may commit.
	Fence      int64
	LeaseUntil time.Time
	// StartedAt is when the last run began.
	StartedAt time.Time
	// SyncedAt is when the last run ended, SuccessAt when the last successful one did,
	// and FailedSince when runs began to fail (zero: the last one succeeded).
	SyncedAt    time.Time
	SuccessAt   time.Time
	FailedSince time.Time
	LastError   string
	// RefusedSince is when Google first refused to list the calendar (404 or 403), with no
	// successful run since; zero: it does not.
	RefusedSince time.Time
	// PausedUntil pauses the calendar, because its quota is used up.
	PausedUntil time.Time
	// SweepAt is when a sweep of the calendar is due, zero if none is; SweepFailures counts its
	// failures, and SweepTrace is the trace of the job that planned it.
	SweepAt       time.Time
	SweepFailures int64
	SweepTrace    string
	// SweptAt is when a sweep last found that no watch channel could be opened;
	// GoodSweeps counts such sweeps in a row between which runs succeeded.
	SweptAt    time.Time
	GoodSweeps int64
	// Interests counts what follows the calendar, by consumer.
	Interests map[string]int64
	// LegacyEventIDs are linked events with ids that Google generated.
	LegacyEventIDs []string
	// Backlogs are what consumers have yet to get, by consumer.
	Backlogs map[string]Backlog
	// HoldUnannounced marks held events that are not yet announced to the owner.
	HoldUnannounced bool
}

// Path is the path of a calendar's document.
func Path(key string) store.Path { return store.Doc("calendars", key) }

// Load reads a calendar. If there is none, ok is false and the result has the identity
// only.
func Load(ctx context.Context, reader store.Reader, accountID, calendarID string) (c Calendar, ok bool, err error) {
	c, ok, err = LoadKey(ctx, reader, poll.CalendarKey(accountID, calendarID))
	if err == nil && !ok {
		c.AccountID, c.CalendarID = accountID, calendarID
	}
	return c, ok, err
}

// LoadKey reads a calendar by key.
func LoadKey(ctx context.Context, reader store.Reader, key string) (c Calendar, ok bool, err error) {
	doc, err := reader.Get(ctx, Path(key))
	if err != nil {
		return Calendar{}, false, err
	}
	if !doc.Exists() {
		return Calendar{Key: key}, false, nil
	}
	return Decode(doc), true, nil
}

// Decode reads a calendar's document.
func Decode(doc store.Document) Calendar {
	f := store.Fields(doc.Data)
	c := Calendar{
		Key: doc.Path.ID(), AccountID: f.String("accountId"), CalendarID: f.String("calendarId"), OwnerID: f.String("ownerId"),
		TimeZone:  f.String("timeZone"),
		SyncToken: f.String("syncToken"), MaskVersion: f.Int("maskVersion"),
		LinkedAt: f.Time("linkedAt"), SyncAt: f.Time("syncAt"), SyncPending: f.Bool("syncAsked"),
		SyncCause: f.String("syncCause"), SyncTrace: f.String("syncTrace"), SyncAttempts: f.Int("syncAttempts"),
		Fence: f.Int("fence"), LeaseUntil: f.Time("leaseUntil"), StartedAt: f.Time("startedAt"),
		SyncedAt: f.Time("lastSyncedAt"), SuccessAt: f.Time("lastSuccessAt"),
		FailedSince: f.Time("failedSince"), LastError: f.String("lastError"), RefusedSince: f.Time("refusedSince"),
		PausedUntil: f.Time("pausedUntil"),
		SweepAt:     f.Time("sweepAt"), SweepFailures: f.Int("sweepFailures"), SweepTrace: f.String("sweepTrace"),
		SweptAt: f.Time("sweptAt"), GoodSweeps: f.Int("goodSweeps"),
		HoldUnannounced: f.Bool("holdUnannounced"), LegacyEventIDs: f.Strings("legacyEventIds"),
		Interests: map[string]int64{}, Backlogs: map[string]Backlog{},
	}
	interests := f.Map("interests")
	for consumer := range interests {
		c.Interests[consumer] = interests.Int(consumer)
	}
	deferred, relist := f.Map("deferred"), f.Map("relist")
	for consumer := range deferred {
		events, found := deferred.Map(consumer), map[string]Deferral{}
		for event := range events {
			found[event] = decodeDeferral(events.Map(event))
		}
		c.Backlogs[consumer] = Backlog{Deferred: found, Relist: relist.Time(consumer)}
	}
	for consumer := range relist {
		c.Backlogs[consumer] = Backlog{Deferred: c.Backlogs[consumer].Deferred, Relist: relist.Time(consumer)}
	}
	return c
}

// Wanted reports whether anything follows the calendar.
func (c Calendar) Wanted() bool {
	for _, count := range c.Interests {
		if count > 0 {
			return true
		}
	}
	return false
}

// Deferred is why an event must be fetched individually for polls; zero: it need not.
func (c Calendar) Deferred(eventID string) Deferral {
	return c.Backlogs[poll.ConsumerPoll].Deferred[eventID]
}

// DeferredEvents lists the events to be fetched individually for polls, sorted.
func (c Calendar) DeferredEvents() []string {
	return slices.Sorted(maps.Keys(c.Backlogs[poll.ConsumerPoll].Deferred))
}
