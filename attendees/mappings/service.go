// Package mappings knows which further addresses people have. It loads the table of primary
// addresses and their secondary ones from a sheet or file, has people confirm large changes, and
// has the calendars of the primary addresses followed.
package mappings

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/accounts"
	"questscheduler/internal/meter"
	"questscheduler/internal/store"
	"questscheduler/scheduler"
)

// MappedAccounts are the accounts by which calendars of mapped people are followed:
// accounts.Repository.
type MappedAccounts interface {
	// Delegate creates or revives the account of a service account for an address.
	Delegate(ctx context.Context, subject string) (accounts.Account, error)
	// Undelegate unlinks it again; one that does not exist is no error.
	Undelegate(ctx context.Context, subject string) error
	// ByEmail lists the active accounts that people linked of an address.
	ByEmail(ctx context.Context, email string) ([]accounts.Account, error)
}

// Guests are the events at which second addresses were added: Service.
type Guests interface {
	// CompareAgain has the guests compared again of all events with additions for a primary
	// address that have not ended, and returns how many. It is idempotent.
	CompareAgain(ctx context.Context, cause scheduler.Cause, primary string) (due int, err error)
	// Needed are the accounts through which an event may have to be changed.
	Needed(ctx context.Context) (map[string]bool, error)
}

// Service keeps the mappings in use in the store, where all processes read them, loads new
// versions from the source, and has the calendars of their primary addresses followed. All
// fields but Delegated and Meter are required.
//
// A version takes effect in one transaction (Reload). What follows from it in calendars,
// accounts and records is carried out after that (Refresh), page by page: each step asks the
// version in use what it has to be, so that it may be repeated, by several processes at
// once, and after the next version took effect. Record.Followed names what is
// carried out so far.
type Service struct {
	Store  store.Store
	Guests Guests
	Source Source
	// Domains are those of primary addresses. A person with an address in one of them is one
	// of our people, mapped or not (Table.Knows).
	Domains  []string
	Accounts MappedAccounts
	// Delegated has calendars followed by accounts of the service account, and not by linked
	// ones.
	Delegated bool
	// Follow carries out a changed interest in a calendar (calendarsync.Watcher.Follow).
	Follow func(ctx context.Context, accountID, calendarID string, cause scheduler.Cause) error
	Now    func() time.Time
	Log    *slog.Logger
	// Meter counts Load; nil counts nothing.
	Meter meter.Meter

	// current and followed are the tables that were last read.
	current, followed atomic.Pointer[known]
}

// known is a version in memory.
type known struct {
	version string
	table   Table
}

// Empty is the version of mappings that were loaded and have no address.
const Empty = "empty"

// versionOf names a loaded table.
func versionOf(table Table) string {
	if table.Len() == 0 {
		return Empty
	}
	return table.Version()
}

// now is the time as the store keeps it, so that what is written equals what is read.
func (m *Service) now() time.Time { return store.Instant(m.Now()) }

// Current reads the mappings in use and their version, in or outside a transaction: one
// read, and the table's documents once for each version. Before the first load the table is
// empty, and the version is "".
func (m *Service) Current(ctx context.Context, reader store.Reader) (table Table, version string, err error) {
	for try := 0; ; try++ {
		state, err := LoadRecord(ctx, reader)
		if err != nil {
			return Table{}, "", err
		}
		table, err := read(ctx, reader, &m.current, state.Version, state.Chunks)
		if fault.Is(err, fault.NotFound) && try < maxTries { // outside a transaction it may have been replaced
			continue
		}
		return table.Within(m.Domains), state.Version, err
	}
}

// maxTries is how often something is read or decided again that was replaced in between.
const maxTries = 5

// read reads a version from memory or the store.
func read(ctx context.Context, reader store.Reader, memory *atomic.Pointer[known], version string, chunks int64) (Table, error) {
	if version == "" || version == Empty {
		return Table{}, nil
	}
	if last := memory.Load(); last != nil && last.version == version {
		return last.table, nil
	}
	table, err := LoadTable(ctx, reader, version, chunks)
	if err == nil {
		memory.Store(&known{version, table})
	}
	return table, err
}

// tables are a state of the mappings with the tables that it names.
type tables struct {
	state    Record
	from, to Table // those of Followed and Version
}

// tables reads the state with its tables.
func (m *Service) tables(ctx context.Context) (t tables, err error) {
	for try := 0; ; try++ {
		t.state, err = LoadRecord(ctx, m.Store)
		if err != nil {
			return t, err
		}
		t.to, err = read(ctx, m.Store, &m.current, t.state.Version, t.state.Chunks)
		t.from = t.to
		if err == nil && t.state.Followed != t.state.Version {
			t.from, err = read(ctx, m.Store, &m.followed, t.state.Followed, t.state.FollowedChunks)
		}
		if !fault.Is(err, fault.NotFound) || try == maxTries {
			return t, err
		}
	}
}

// same reports whether a state names the same tables.
func (t tables) same(now Record) bool {
	return t.state.Version == now.Version && t.state.Followed == now.Followed
}
