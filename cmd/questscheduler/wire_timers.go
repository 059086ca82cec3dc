package main

import (
	"context"
	"maps"
	"slices"
	"time"

	"questscheduler/api"
	"questscheduler/internal/accounts"
	"questscheduler/internal/config"
	"questscheduler/internal/health"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/timers"
	"questscheduler/scheduler"
)

// wireTimers makes the table of jobs, which the queue asks every minute what is
// due.
func (s *server) wireTimers() {
	var sweepCards func(context.Context, string, scheduler.Cause) (int, string, error)
	if s.drawsCards() {
		sweepCards = s.scheduler.SweepCards
	}
	s.timers = &timers.Timers{
		Store: s.documents, Queue: s.queue, Now: s.now, NewTrace: s.newTrace, Log: s.log,
		Jobs: timers.Jobs(timers.Parts{
			SweepCards: sweepCards,
			Scheduler:  s.scheduler, Watcher: s.watcher, FollowLinks: s.links.FollowDue, FallbackEvery: s.config.FallbackEvery,
			NoSync: s.config.Sync == config.SyncOff, Documents: s.documents, Cleaning: s.cleanings(), Health: s.surveyHealth,
			CheckAccounts: s.checkAccounts, Observing: s.config.Sync == config.SyncObserve, Now: s.now, Log: s.log,
		}),
	}
	s.health.Jobs = s.timers.Jobs
}

// cleanings are the rows of the cleanup for what this server keeps beside the
// documents that every deployment has, and for what its settings say.
func (s *server) cleanings() []timers.Cleaning {
	return []timers.Cleaning{
		{What: "OAuth states", Remove: paged(accounts.RemoveExpiredStates)},
		{What: "accounts long unlinked", Remove: paged(accounts.RemoveUnlinked)},
		{What: "idempotency keys", Remove: paged(api.RemoveExpiredKeys)},
		{
			What: "old journal entries",
			RemoveFrom: func(ctx context.Context, documents store.Store, now time.Time, at string) (int, string, error) {
				return poll.RemoveOldEntries(ctx, documents, now.Add(-s.config.JournalKeep), at)
			},
		},
	}
}

// checkAccounts asks after the accounts that nobody used for a day.
func (s *server) checkAccounts(ctx context.Context) (timers.Counts, bool, error) {
	checked, err := s.grants.CheckUntouched(ctx)
	return timers.Counts{
		{What: "untouched accounts that are live", N: checked.Live},
		{What: "accounts found dead", N: checked.Dead},
		{What: "accounts that could not be asked after", N: checked.Failed},
	}, checked.More, err
}

// surveyHealth logs how the linked accounts are, those that are not well by
// themselves. Those that nobody used for a day are asked after before, as far as
// there is time, so that a dead grant is found before it is needed.
func (s *server) surveyHealth(ctx context.Context, run timers.Run) (timers.Stretch, error) {
	if s.config.Sync != config.SyncOff && run.At == "" {
		checked, err := s.grants.CheckUntouched(ctx)
		if err != nil { // the next run goes on where this one was cut off
			s.log.WarnContext(ctx, "not all accounts that nobody used were asked after", "error", err)
		}
		s.log.InfoContext(ctx, "asked after accounts that nobody used", "live", checked.Live, "dead", checked.Dead, "failed", checked.Failed)
	}
	counts, next, err := s.health.Survey(ctx, run.At, func(account health.Account) {
		s.log.WarnContext(ctx, "the sync of an account is not well", "account", account.ID, "status", account.Status)
	})
	did := timers.Stretch{Next: next}
	for _, status := range slices.Sorted(maps.Keys(counts)) {
		did.Did = append(did.Did, timers.Count{What: "accounts " + string(status), N: counts[status]})
	}
	return did, err
}

// paged tells of a removal that removed as many as it may that more may be left.
func paged(remove func(context.Context, store.Store, time.Time, int) (int, error)) func(context.Context, store.Store, time.Time, int) (int, bool, error) {
	return func(ctx context.Context, documents store.Store, now time.Time, limit int) (int, bool, error) {
		removed, err := remove(ctx, documents, now, limit)
		return removed, removed >= limit, err
	}
}
