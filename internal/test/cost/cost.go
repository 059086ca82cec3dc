// Package cost counts what Firestore bills for what people, calendars and timers
// do: documents read, written and deleted.
//
// The flows are done in a world of the tests (internal/test/worldtest), on the memory
// driver, where `make bench` and docs/scaling.md have their numbers from, or on any
// other: the tests of this package do them on Firestore's emulator, count at the
// edge of its client, and hold both counts to be the same.
package cost

import (
	"context"
	"slices"
	"time"

	"questscheduler/api"
	"questscheduler/attendees"
	"questscheduler/attendees/mappings"
	"questscheduler/availability"
	"questscheduler/groupevents"
	"questscheduler/internal/accounts"
	"questscheduler/internal/discord"
	"questscheduler/internal/mirror"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/storetest"
	"questscheduler/internal/test/worldtest"
	"questscheduler/mirrors"
	"questscheduler/operations/health"
	"questscheduler/scheduler"
	"questscheduler/web-hooks/timers"
)

// Place is where the documents are. Its zero value is the memory driver.
type Place struct {
	// Open is worldtest.Options.Open: what it gives is read by the world alone,
	// which nobody counts.
	Open func(queries []*store.Query) (store.Store, error)
	// Program gives the store of the program, which may do its own counting; nil:
	// it is the one that Open gave.
	Program func(stored store.Store) store.Store
	// Begin is called when what was counted so far is of no interest.
	Begin func()
}

// World is one whose documents are counted. Its listings have one page, as all
// but the largest have at Google, and its timers have every job of a server.
type World struct {
	*worldtest.World
	place Place
	meter *storetest.Counter
}

// New makes a world. What it complains of goes to t.
func New(t worldtest.TB, place Place) *World { return newWorld(t, place, false) }

func newWorld(t worldtest.TB, place Place, discord bool) *World {
	w := &World{place: place}
	w.World = worldtest.New(t, worldtest.Options{
		PageSize: 2500, Settings: worldtest.Settings{Discord: discord}, Open: place.Open,
		Queries: slices.Concat(api.Queries, availability.Queries),
		Wrap: func(stored store.Store) store.Store {
			if place.Program != nil {
				stored = place.Program(stored)
			}
			w.meter = storetest.Count(stored)
			return w.meter
		},
	})
	w.Timers.Jobs = w.jobs()
	return w
}

// Begin has everything before be of no interest.
func (w *World) Begin() {
	w.meter.Reset()
	if w.place.Begin != nil {
		w.place.Begin()
	}
}

// Total is what was billed since the last Begin, and Runs what each transaction
// of it was that ended well.
func (w *World) Total() storetest.Cost { return w.meter.Total() }

// Runs are the transactions since the last Begin, in the order of their ends.
func (w *World) Runs() []storetest.Cost { return w.meter.Runs() }

// untouched is how the grants of a world are asked after.
type untouched interface {
	CheckUntouched(ctx context.Context) (accounts.Checked, error)
}

// jobs are those of a server; cmd/questscheduler holds that both are the same.
func (w *World) jobs() []timers.Job {
	return timers.Jobs(timers.Parts{
		Watcher: w.Watcher, FallbackEvery: worldtest.FallbackEvery,
		Documents: w.Timers.Store, Now: w.Clock.Now, Log: w.Timers.Log, Cleaning: w.cleanings(),
		CheckAccounts: func(ctx context.Context) (timers.Counts, bool, error) {
			checked, err := w.Links.Grants.(untouched).CheckUntouched(ctx)
			return timers.Counts{{What: "untouched accounts that are live", N: checked.Live}}, checked.More, err
		},
		Health: func(ctx context.Context, run timers.Run) (timers.Stretch, error) {
			if run.At == "" {
				if _, err := w.Links.Grants.(untouched).CheckUntouched(ctx); err != nil {
					return timers.Stretch{}, err
				}
			}
			counts, next, err := w.Health.Survey(ctx, run.At, func(health.Account) {})
			return timers.Stretch{Next: next, Did: timers.Counts{{What: "accounts healthy", N: counts[health.Healthy]}}}, err
		},
	})
}

// cleanings are the rows that a server adds to the cleanup.
func (w *World) cleanings() []timers.Cleaning {
	row := func(what string, remove func(context.Context, store.Store, time.Time, int) (int, error)) timers.Cleaning {
		return timers.Cleaning{What: what, Remove: func(ctx context.Context, documents store.Store, now time.Time, limit int) (int, bool, error) {
			removed, err := remove(ctx, documents, now, limit)
			return removed, removed == limit, err
		}}
	}
	return []timers.Cleaning{
		row("OAuth states", accounts.RemoveExpiredStates),
		row("accounts long unlinked", accounts.RemoveUnlinked),
		{What: "expired codes and interactions of Discord", Remove: discord.RemoveExpired, Shared: true},
		row("idempotency keys", api.RemoveExpiredKeys),
		row("expired counts of answers on availability", availability.RemoveExpired),
		{What: "old journal entries",
			RemoveFrom: func(ctx context.Context, documents store.Store, now time.Time, at string) (int, string, error) {
				return poll.RemoveOldEntries(ctx, documents, now.AddDate(-1, 0, 0), at)
			}},
		{What: "events of groups long ended", RemoveFrom: groupevents.RemoveEnded},
		row("records of copies that stay", groupevents.RemoveKept),
		{What: "connections of former members",
			RemoveFrom: func(ctx context.Context, _ store.Store, _ time.Time, at string) (int, string, error) {
				return w.Groups.EndConnections(ctx, at)
			}},
		{What: "copies that former members kept",
			RemoveFrom: func(ctx context.Context, _ store.Store, _ time.Time, at string) (int, string, error) {
				return w.Groups.DeleteKept(ctx, at)
			}},
		row("old journal entries of mirrored events", func(ctx context.Context, documents store.Store, now time.Time, limit int) (int, error) {
			return mirror.RemoveOldEntries(ctx, documents, now.AddDate(-1, 0, 0), limit)
		}),
		{What: "events of accounts that stayed revoked, and of lost calendars",
			RemoveFrom: func(ctx context.Context, _ store.Store, _ time.Time, at string) (int, string, error) {
				return w.mirroring().RemoveStale(ctx, at, 100, scheduler.Cause{Trigger: "cleanup"})
			}},
		{What: "records of events long ended that had second addresses", Remove: attendees.RemoveEnded},
		{What: "what followed calendars for second addresses", Remove: mappings.Release(w.Accounts)},
	}
}

// mirroring is what decides on mirrors, in a world in which nobody uses it.
func (w *World) mirroring() *mirrors.Service {
	return &mirrors.Service{Store: w.Timers.Store, Now: w.Clock.Now, Log: w.Timers.Log}
}
