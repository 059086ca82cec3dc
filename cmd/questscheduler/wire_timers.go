package main

import (
	"context"
	"maps"
	"slices"
	"time"

	"questscheduler/api"
	"questscheduler/availability"
	"questscheduler/calendarsync"
	"questscheduler/groupevents"
	"questscheduler/internal/accounts"
	"questscheduler/internal/config"
	"questscheduler/internal/discord"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/operations/health"
	"questscheduler/scheduler"
	"questscheduler/web-hooks/timers"
)

// newTimers builds the table of jobs; the drain asks every minute which are due.
func (s *server) newTimers(
	google googleAccess, watcher *calendarsync.Watcher,
	cards cards, groups *groupevents.Service, mirroring mirroring, attending *attending,
) *timers.Timers {
	var started time.Time
	if s.alone() {
		started = s.now()
	}
	return &timers.Timers{
		Store: s.documents, Outbox: s.outbox, ByClock: s.alone(), Now: s.now, NewTrace: s.newTrace, Log: s.log, Started: started,
		Jobs: timers.Jobs(timers.Parts{
			Watcher: watcher, SweepCards: cards.sweep, FallbackEvery: s.config.FallbackEvery, SweepAtOnce: s.config.SweepAtOnce,
			NoSync: s.config.Sync == config.SyncOff, Observing: s.config.Sync == config.SyncObserve, Documents: s.documents,
			Cleaning: slices.Concat(s.cleanings(), groupCleanings(groups), mirroring.cleanings(s.config.JournalKeep),
				attending.cleanings(google.accounts)),
			Reconcile: mirroring.reconcile, RefreshMappings: attending.refresh(),
			Health: s.surveyHealth(google.grants, s.newHealth(watcher, nil)), CheckAccounts: checkAccounts(google.grants, attending),
			Now: s.now, Log: s.log,
		}),
	}
}

func (s *server) cleanings() []timers.Cleaning {
	return []timers.Cleaning{
		{What: "OAuth states", Remove: limited(accounts.RemoveExpiredStates)},
		{What: "accounts long unlinked", Remove: limited(accounts.RemoveUnlinked)},
		{What: "expired codes and interactions of Discord", Remove: discord.RemoveExpired, Shared: true},
		{What: "idempotency keys", Remove: limited(api.RemoveExpiredKeys)},
		{What: "expired counts of answers on availability", Remove: limited(availability.RemoveExpired)},
		{
			What: "old journal entries",
			RemoveFrom: func(ctx context.Context, documents store.Store, now time.Time, at string) (int, string, error) {
				return poll.RemoveOldEntries(ctx, documents, now.Add(-s.config.JournalKeep), at)
			},
		},
	}
}

// checkAccounts asks Google about accounts that were not used for a day, and then about mapped
// addresses whose accounts it refused.
func checkAccounts(grants *accounts.Grants, attending *attending) func(context.Context) (timers.Counts, bool, error) {
	return func(ctx context.Context) (timers.Counts, bool, error) {
		checked, err := grants.CheckUntouched(ctx)
		did := timers.Counts{
			{What: "untouched accounts that are live", N: checked.Live},
			{What: "accounts found dead", N: checked.Dead},
			{What: "accounts that could not be asked after", N: checked.Failed},
		}
		if err != nil || checked.More || attending == nil {
			return did, checked.More, err
		}
		tried, err := attending.mappings.Revive(ctx, scheduler.Cause{Trigger: "sweep"})
		return append(did, timers.Count{What: "refused addresses tried again", N: tried}), false, err
	}
}

// surveyHealth counts the linked accounts by status and logs each that is not
// healthy. Before the first page it checks accounts that were not used for a day, as
// far as time allows, to find dead grants before they are needed.
func (s *server) surveyHealth(grants *accounts.Grants, reader *health.Reader) timers.Step {
	return func(ctx context.Context, run timers.Run) (timers.Stretch, error) {
		if s.config.Sync != config.SyncOff && run.At == "" {
			checked, err := grants.CheckUntouched(ctx)
			if err != nil { // the next run continues from here
				s.log.WarnContext(ctx, "not all accounts that nobody used were asked after", "error", err)
			}
			s.log.InfoContext(ctx, "asked after accounts that nobody used", "live", checked.Live, "dead", checked.Dead, "failed", checked.Failed)
		}
		counts, next, err := reader.Survey(ctx, run.At, func(account health.Account) {
			if account.Status == health.Degraded { // it may recover by itself, as one that was just linked does
				s.log.InfoContext(ctx, "the sync of an account is degraded", "account", account.ID)
				return
			}
			s.log.WarnContext(ctx, "the sync of an account is not well", "account", account.ID, "status", account.Status)
		})
		did := timers.Stretch{Next: next}
		for _, status := range slices.Sorted(maps.Keys(counts)) {
			did.Did = append(did.Did, timers.Count{What: "accounts " + string(status), N: counts[status]})
		}
		return did, err
	}
}

// limited reports that more may be left when a removal reached its limit.
func limited(
	remove func(context.Context, store.Store, time.Time, int) (int, error),
) func(context.Context, store.Store, time.Time, int) (int, bool, error) {
	return func(ctx context.Context, documents store.Store, now time.Time, limit int) (int, bool, error) {
		removed, err := remove(ctx, documents, now, limit)
		return removed, removed >= limit, err
	}
}
