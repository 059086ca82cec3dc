package mappings

import (
	"context"
	"errors"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/store"
	"questscheduler/scheduler"
)

// Loaded is what a load found, and what is in use after it.
type Loaded struct {
	// Version and Mappings name and count the mappings in use; WithoutAccess are those of
	// them whose calendar no account reaches.
	Version                 string
	Mappings, WithoutAccess int
	// LoadedAt is when the mappings in use were last found in the source, TriedAt when the source
	// was last read, and Failures how often in a row that failed since.
	LoadedAt, TriedAt time.Time
	Failures          int
	// Skipped are the first rows that were not taken, of SkippedCount.
	Skipped      []Skipped
	SkippedCount int
	// Held is the loaded version if it awaits confirmation; its Version is "" if none does.
	Held Held
}

// carryTime is how long Reload carries out what it loaded; the job does the rest.
const carryTime = 10 * time.Second

// Reload has addresses tried again that Google refused, loads the mappings from the source, and
// begins to carry them out. A version that differs from the one in use as by mistake (needsConfirmation)
// takes effect only if confirm names it; "" names none. After a failure the mappings stay as they
// were, and Loaded says what they are; its TriedAt is zero if that is unknown.
//
// Conflict: they cannot be loaded as they are, or confirm names another version than was
// loaded, which Loaded holds. Unavailable, RateLimited: the source or the store does not
// answer.
func (m *Service) Reload(ctx context.Context, cause scheduler.Cause, confirm string) (Loaded, error) {
	if _, err := m.Revive(ctx, cause); err != nil { // whether or not they can be loaded
		m.Log.WarnContext(ctx, "refused addresses not tried again; left to the sweep", "trace", cause.Trace, "error", err)
	}
	state, candidate, err := m.load(ctx, cause, confirm)
	if err != nil {
		return loadedOf(state), refused(err)
	}
	err = m.carryFor(ctx, cause, carryTime)
	if err != nil {
		m.Log.WarnContext(ctx, "mappings not carried out; left to the next refresh", "trace", cause.Trace, "error", err)
	} else if now, err := LoadRecord(ctx, m.Store); err == nil {
		state.WithoutAccess = now.WithoutAccess
	}
	return loadedOf(state), wronglyConfirmed(state, candidate, confirm)
}

func loadedOf(state Record) Loaded {
	return Loaded{
		Version: state.Version, Mappings: int(state.Count), WithoutAccess: int(state.WithoutAccess),
		LoadedAt: state.LoadedAt, TriedAt: state.TriedAt, Failures: int(state.Failures),
		Skipped: state.Skipped, SkippedCount: int(state.SkippedCount), Held: state.Held,
	}
}

func wronglyConfirmed(state Record, candidate, confirm string) error {
	switch {
	case confirm == "" || confirm == candidate:
		return nil
	case state.Held.Version != "":
		return fault.Newf(
			fault.Conflict, "You confirm other mappings than there are now. Check them again, and confirm version %s.",
			state.Held.Version,
		)
	default:
		return fault.New(fault.Conflict, "You confirm other mappings than there are now, and these are in use. Nothing awaits confirmation.")
	}
}

// errReplaced is the outcome of a transaction that met another state than was read.
var errReplaced = errors.New("the mappings were replaced concurrently")

// load reads the source and stores what that means. It returns the state then, and the
// version that was read. A failure is stored, too.
func (m *Service) load(ctx context.Context, cause scheduler.Cause, confirm string) (Record, string, error) {
	rows, err := m.Source.Rows(ctx)
	if err != nil {
		state, err := m.failed(ctx, cause, err)
		return state, "", err
	}
	for try := 0; ; try++ {
		before, err := m.tables(ctx)
		if err != nil {
			return Record{}, "", err
		}
		read, err := m.parse(rows, before)
		var next judged
		if err == nil {
			next, err = judge(before, read, confirm, m.now())
		}
		if err != nil {
			state, err := m.failed(ctx, cause, err)
			return state, "", err
		}
		state, err := m.take(ctx, before, next)
		if errors.Is(err, errReplaced) && try < maxTries {
			continue
		}
		if err == nil {
			m.report(ctx, cause, state, next.outcome)
		}
		return state, read.version, err
	}
}

func (m *Service) parse(rows [][]string, before tables) (candidate, error) {
	table, skipped, err := Parse(rows, m.Domains, before.to)
	if err != nil {
		return candidate{}, err
	}
	read := candidate{version: versionOf(table), table: table, skipped: skipped}
	read.lost, read.of = Lost(before.to, table)
	read.added, read.growing = Gained(before.to, table)
	if read.version != before.state.Version {
		read.encoded, err = table.Encode()
	}
	return read, err
}

// judged is what a loaded version means: the state with it, and the tables to be written.
type judged struct {
	state   Record
	outcome Outcome
	encoded map[string][]byte
}

// judge decides what a loaded version means for the state before. An error is one of the version,
// which cannot take its place now: a failed load.
func judge(before tables, read candidate, confirm string, now time.Time) (next judged, err error) {
	next.state, next.outcome = judgeLoad(before.state, read, confirm, now)
	if next.outcome == LoadChanged {
		next.state, next.encoded, err = replace(before, next.state, read)
	}
	return next, err
}

// take stores a loaded version: as the one in use, as one that is held, or, where it is the
// one in use, only that it was loaded. errReplaced: the state is not the one before.
func (m *Service) take(ctx context.Context, before tables, next judged) (state Record, err error) {
	err = m.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		now, err := LoadRecord(ctx, tx)
		if err != nil {
			return err
		}
		if !before.same(now) {
			return errReplaced
		}
		state = next.state
		state.WithoutAccess, state.Delegated, state.Released = now.WithoutAccess, now.Delegated, now.Released // carrying out may have counted
		state.PendingSince = now.PendingSince
		if next.outcome == LoadChanged && state.PendingSince.IsZero() {
			state.PendingSince = state.LoadedAt
		}
		return write(tx, now, state, next.encoded)
	})
	return state, err
}

func (m *Service) report(ctx context.Context, cause scheduler.Cause, state Record, outcome Outcome) {
	m.Meter.Count(Load{outcome})
	switch {
	case outcome == LoadChanged:
		m.Log.InfoContext(ctx, "mappings changed", "version", state.Version, "mappings", state.Count,
			"skipped", state.SkippedCount, "trace", cause.Trace)
	case outcome == LoadHeld && state.Held.At.Equal(state.TriedAt): // for the first time
		m.Log.WarnContext(ctx, "mappings await confirmation; the last ones stay in use", "version", state.Held.Version,
			"lost", state.Held.Lost, "added", state.Held.Added, "of", state.Held.Of, "trace", cause.Trace)
	}
}
