package main

import (
	"cmp"
	"context"
	"time"

	"questscheduler/calendarsync"
	"questscheduler/groupevents"
	"questscheduler/internal/config"
	"questscheduler/internal/ids"
	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
	"questscheduler/mirrors"
	"questscheduler/scheduler"
	"questscheduler/web-hooks/timers"
)

// mirroring are the parts that keep a person's calendars informed of each other.
type mirroring struct {
	service *mirrors.Service
	writer  *mirrors.Writer
	events  *mirrors.Events
}

// mirrorShare is the part of each account's quota, and of the project's, that writes of
// mirrors take at most, the last ones of unlinked accounts included, so that a backlog never delays a finalisation.
const mirrorShare = 0.5

func (s *server) newMirroring(google googleAccess, watcher *calendarsync.Watcher) mirroring {
	service := &mirrors.Service{
		Store: s.documents, Outbox: s.outbox, Follow: watcher.Follow, FindCalendars: google.lookup.Find,
		Installation: installation(s.config), SharedBy: groupevents.SharedBy,
		HoldShare: s.config.MassCancelShare, HoldMin: s.config.MassCancelMin, Observing: s.config.Sync != config.SyncOn,
		Now: s.now, NewID: s.newID, Log: s.log, Meter: s.metrics.Count,
	}
	writes := google.client.Within(mirrorShare)
	return mirroring{
		service: service,
		writer:  &mirrors.Writer{Service: service, Google: writes, Leaving: writes.As(google.grants.Leaving)},
		events:  &mirrors.Events{Service: service, Google: google.client, Accounts: google.accounts, ReadOnly: s.config.Sync != config.SyncOn},
	}
}

// installation names this deployment in the marks of its events, opaquely: its public
// address, or without one its own key.
func installation(cfg config.Config) string {
	return ids.Of("installation", cmp.Or(cfg.PublicURL, cfg.EncKeys.Reveal())).Hex(8)
}

// reconcile compares the mirrors of the next calendar with what it has.
func (m mirroring) reconcile(ctx context.Context, run timers.Run) (timers.Stretch, error) {
	did, next, err := m.writer.Reconcile(ctx, run.Cause, run.At, run.ByHand)
	return timers.Stretch{Next: next, Did: timers.Counts{
		{What: "calendars", N: did.Calendars}, {What: "mirrors checked", N: did.Checked}, {What: "mirrors corrected", N: did.Corrected},
		{What: "strays deleted", N: did.Strays}, {What: "strays left alone", N: did.Guarded}, {What: "calendars that failed", N: did.Failed},
	}}, err
}

// staleEvents is how many events of accounts and calendars that are gone one step removes at most.
const staleEvents = 100

// cleanings remove what is past its time of mirroring.
func (m mirroring) cleanings(keep time.Duration) []timers.Cleaning {
	return []timers.Cleaning{
		{
			What: "old journal entries of mirrored events",
			Remove: func(ctx context.Context, documents store.Store, now time.Time, limit int) (int, bool, error) {
				removed, err := mirror.RemoveOldEntries(ctx, documents, now.Add(-keep), limit)
				return removed, removed == limit, err
			},
		},
		{
			What: "events of accounts that stayed revoked, and of lost calendars",
			RemoveFrom: func(ctx context.Context, _ store.Store, _ time.Time, at string) (int, string, error) {
				return m.service.RemoveStale(ctx, at, staleEvents, scheduler.Cause{Trigger: "cleanup"})
			},
		},
	}
}
