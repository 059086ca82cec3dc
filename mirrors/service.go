// Package mirrors keeps a person's calendars informed of each other. What a sync run
// observes becomes canonical events (observe.go), which with the person's policies decide
// on mirrors (planning.go). Mirrors are documents and their own outbox: the writer brings
// the calendars to what they want (writer.go; writer_choose.go picks the next call,
// writer_take.go takes it and records what came of it).
//
// The decisions are in mirrors/plan, pure. A transaction here reads all that decides about
// one iCalUID of one person, asks for the decision, and writes it.
package mirrors

import (
	"context"
	"log/slog"
	"time"

	"questscheduler/internal/meter"
	"questscheduler/internal/mirror"
	"questscheduler/internal/outbox"
	"questscheduler/internal/store"
	"questscheduler/scheduler"
)

// Service observes events and decides on mirrors. All fields but SharedBy, MostExceptions and
// Observing are required.
type Service struct {
	Store store.Store
	// Outbox carries out PlanWork, EventWork and the Work of a Writer.
	Outbox *outbox.Outbox
	// Follow carries out a changed interest in a calendar (calendarsync.Watcher.Follow).
	Follow func(ctx context.Context, accountID, calendarID string, cause scheduler.Cause) error
	// FindCalendars finds out whether an account writes to calendars that it is not known to
	// (calendarsync.Lookup.Find). nil: what is known holds.
	FindCalendars func(ctx context.Context, ownerID, accountID string, calendarIDs ...string) error
	// Installation names the deployment in the marks of events.
	Installation string
	// SharedBy returns the group that shares the session of a poll, "" for none. It reads
	// with the reader of a transaction. nil: no group does.
	SharedBy func(ctx context.Context, reader store.Reader, pollID string) (groupID string, err error)
	// HoldShare and HoldMin are as for polls: if more events than both are missing from a
	// full listing, a second one has to confirm it.
	HoldShare float64
	HoldMin   int
	// MostExceptions is plan.Situation's; 0 means 50.
	MostExceptions int
	// Observing journals what would be planned, and nothing is written (QS_SYNC=observe).
	Observing bool
	Now       func() time.Time
	// NewID returns a new ULID.
	NewID func() string
	Log   *slog.Logger
	// Meter counts what is observed, and what a Writer does; nil counts nothing.
	Meter meter.Meter
}

// now is the time as the store keeps it, so that what is written equals what is read.
func (s *Service) now() time.Time { return store.Instant(s.Now()) }

// writeSoon has mirrors written that are due soon. What fails is left to the drain.
func (s *Service) writeSoon(ctx context.Context, changed ...mirror.Mirror) {
	for _, m := range changed {
		s.Outbox.Soon(ctx, WriteKind, m.ID, m.Due)
	}
}
