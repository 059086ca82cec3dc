// Package attendees invites people at their second addresses: a guest of an event who has a
// mapped primary address is invited at the secondary ones too. What a sync run observes makes
// the record of an event due (observe.go; compare.go says what of it counts). The writer reads
// the event anew, decides (decide.go, pure) and changes its guests (writer.go).
package attendees

import (
	"context"
	"log/slog"
	"time"

	"questscheduler/attendees/mappings"
	"questscheduler/internal/accounts"
	"questscheduler/internal/gcal"
	"questscheduler/internal/meter"
	"questscheduler/internal/outbox"
	"questscheduler/internal/store"
	"questscheduler/scheduler"
)

// Google is what the writer calls: gcal.Client, with a part of each account's quota
// (gcal.Client.Within).
type Google interface {
	GuestList(ctx context.Context, ref gcal.Ref, id string) (gcal.GuestList, error)
	PatchGuests(ctx context.Context, ref gcal.Ref, list gcal.GuestList, change gcal.GuestChange, notify string) (gcal.Event, error)
}

// Accounts reads accounts: accounts.Repository.
type Accounts interface {
	// Get reads one; NotFound if there is none.
	Get(ctx context.Context, id string) (accounts.Account, error)
	// ByEmail lists the active accounts that people linked of an address.
	ByEmail(ctx context.Context, email string) ([]accounts.Account, error)
}

// Reader reads the mappings in use: Mappings.
type Reader interface {
	// Current is the table in use with its version, in or outside a transaction.
	Current(ctx context.Context, reader store.Reader) (table mappings.Table, version string, err error)
}

// Service compares events' guests with the mappings, and invites and withdraws second
// addresses. What must be written is kept in the event's record: the writer may die after any
// call and be repeated from there. All fields but Mode and Meter are required.
type Service struct {
	Store    store.Store
	Outbox   scheduler.Outbox
	Google   Google
	Mappings Reader
	Accounts Accounts
	// Notify is Google's sendUpdates for the changes: none, externalOnly or all.
	Notify string
	// Mode is that of Work. Where it observes, the records' history notes what would be done,
	// and no event is changed.
	Mode func() outbox.Mode
	Now  func() time.Time
	Log  *slog.Logger
	// Meter counts Patched, Noted, Stale and Failed; nil counts nothing.
	Meter meter.Meter
}

// Kind is the kind of the outbox whose entries are the records of events.
const Kind = "attendees"

// Work is the kind that brings the guests of events up to date.
func (s *Service) Work() outbox.Kind {
	return outbox.Kind{
		Name: Kind, Does: "events with second addresses", Path: EventPath, Due: outbox.Query(EventsDue),
		Codec: outbox.DueAt("due", "trace"), Handle: s.handle, Mode: s.Mode, Workers: 20, Unclaimed: true,
	}
}

// now is the time as the store keeps it, so that what is written equals what is read.
func (s *Service) now() time.Time { return store.Instant(s.Now()) }

// Keep is how long the record of an event is kept after its end.
const Keep = 90 * 24 * time.Hour

// RemoveEnded removes at most limit records of events that ended longer than Keep ago, in one
// transaction (timers.Cleaning.Remove). Records without EndsAt stay.
func RemoveEnded(ctx context.Context, documents store.Store, now time.Time, limit int) (removed int, more bool, err error) {
	removed, err = store.DeletePage(ctx, documents, eventsEnded.With(now.Add(-Keep)).First(limit), nil)
	return removed, removed == limit, err
}
