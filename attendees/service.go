package attendees

import (
	"context"
	"encoding/json"
	"log/slog"
	"strconv"
	"time"

	"questscheduler/internal/accounts"
	"questscheduler/internal/attendee"
	"questscheduler/internal/gcal"
	"questscheduler/internal/mapping"
	"questscheduler/internal/meter"
	"questscheduler/internal/queue"
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
	Current(ctx context.Context, reader store.Reader) (table mapping.Table, version string, err error)
}

// Service compares events' guests with the mappings, and invites and withdraws second
// addresses. What must be written is kept in the event's record, which is its own outbox:
// the writer may die after any call and be repeated from there. All fields but Observing and
// Meter are required.
type Service struct {
	Store    store.Store
	Queue    queue.Enqueuer
	Google   Google
	Mappings Reader
	Accounts Accounts
	// Notify is Google's sendUpdates for the changes: none, externalOnly or all.
	Notify string
	// Observing notes in the records' history what would be done, and changes no event
	// (QS_SYNC=observe).
	Observing bool
	Now       func() time.Time
	Log       *slog.Logger
	// Meter counts Patched, Noted, Stale and Failed; nil counts nothing.
	Meter meter.Meter
}

// Kind is the kind of the tasks that bring an event's guests up to date.
const Kind = "attendees"

// Work is the payload of a task of Kind: the record of an event.
type Work struct {
	ID    string `json:"id"`
	Trace string `json:"trace,omitempty"`
}

// Task is the task for a record that is due. Its name says for which version of the record
// it is and when that is due: a record that becomes due again gets another task.
func Task(record attendee.Event, trace string) queue.Task {
	payload, err := json.Marshal(Work{ID: record.ID, Trace: trace})
	if err != nil {
		panic("attendees: marshal a task: " + err.Error()) // texts always marshal
	}
	name := record.ID + "/" + strconv.FormatInt(record.Version, 10) + "/" + strconv.FormatInt(record.Due.UnixMicro(), 10)
	return queue.Task{Kind: Kind, Name: name, Payload: payload, NotBefore: record.Due}
}

// now is the time as the store keeps it, so that what is written equals what is read.
func (s *Service) now() time.Time { return store.Instant(s.Now()) }

// enqueue enqueues the task of a record that is due soon. What fails, and what is due later,
// is left to the drain.
func (s *Service) enqueue(ctx context.Context, record attendee.Event, cause scheduler.Cause) {
	if record.Due.IsZero() || record.Due.After(s.Now().Add(soon)) {
		return
	}
	if _, err := s.Queue.Enqueue(ctx, Task(record, cause.Trace)); err != nil {
		s.Log.WarnContext(ctx, "second addresses not enqueued; left to the drain", "event", record.ID, "trace", cause.Trace, "error", err)
	}
}
