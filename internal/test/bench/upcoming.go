package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"questscheduler/calendarsync"
	"questscheduler/internal/accounts"
	"questscheduler/internal/calendars"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/store/sqlite"
	"questscheduler/internal/test/worldtest"
	"questscheduler/notify"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// oneOf is the share of the calendars in which a session starts within two days: one of twenty.
const oneOf = 20

// upcoming counts the listings of a day without pushes: those of the sweeps, and those of
// calendars in which a session starts soon.
func upcoming(ctx context.Context, r *report, folder string) error {
	return upcomingOf(ctx, r, folder, sweptCalendars)
}

func upcomingOf(ctx context.Context, r *report, folder string, count int) (err error) {
	queries := slices.Concat(poll.Queries, calendars.Queries, calendarsync.Queries, accounts.Queries, notify.Queries)
	documents, err := sqlite.Open(ctx, sqlite.Options{Path: filepath.Join(folder, "data.db"), Queries: queries, Disposable: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, documents.Close()) }()
	if err := seedSweep(ctx, documents, count, 1); err != nil {
		return err
	}
	s := newSwept(documents, count)
	if err := startSoon(ctx, documents, count, s.outbox.Now().Add(47*time.Hour)); err != nil {
		return err
	}
	sessions, planned, err := s.day(ctx)
	if err != nil {
		return err
	}
	if sessions != count/oneOf {
		return fmt.Errorf("%d sessions start soon, not %d", sessions, count/oneOf)
	}
	return errors.Join(
		r.add("upcoming_calendars", float64(count), "calendars", ""),
		r.add("upcoming_sessions", float64(sessions), "sessions", ""),
		r.add("upcoming_syncs_planned", float64(planned), "a day", "upcoming_sessions"),
		r.add("upcoming_listings", float64(s.listed), "a day", "upcoming_calendars"))
}

// startSoon gives every twentieth poll that start.
func startSoon(ctx context.Context, documents store.Store, count int, start time.Time) error {
	soon := rules.Timed(start, start.Add(time.Hour)).String()
	for n := 0; n < count; n += oneOf {
		err := documents.Run(ctx, func(_ context.Context, tx store.Tx) error {
			return tx.Update(poll.Path(fmt.Sprintf("poll-%05d-0", n)), store.Update{Path: poll.SyncField("lastEventFingerprint"), Value: soon})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// day runs the jobs and the drains of a day, of which every minute has one. sessions is how many
// the last plan found, and planned how many syncs all of them planned.
func (s *swept) day(ctx context.Context) (sessions, planned int, err error) {
	for minute := range 24 * 60 {
		if minute%int(worldtest.FallbackEvery/time.Minute) == 0 {
			_, err := s.plan(ctx)
			if err := errors.Join(err, s.tasks.Wait()); err != nil { // what was due at once has ended
				return 0, 0, err
			}
		}
		if minute%int(calendarsync.UpcomingEvery/time.Minute) == 0 {
			did, err := s.planUpcoming(ctx)
			if err != nil {
				return 0, 0, err
			}
			sessions, planned = did.Sessions, planned+did.Syncs
		}
		for more := true; more; {
			woken, err := s.outbox.Drain(ctx)
			if err := errors.Join(err, s.tasks.Wait()); err != nil {
				return 0, 0, err
			}
			more = false
			for _, kind := range woken {
				more = more || kind.Cut
			}
		}
		s.now.Add(int64(time.Minute))
	}
	return sessions, planned, nil
}

// planUpcoming plans to the end, as the timers do.
func (s *swept) planUpcoming(ctx context.Context) (all calendarsync.Upcoming, err error) {
	for at := ""; ; {
		did, next, err := s.watcher.PlanUpcoming(ctx, scheduler.Cause{Trigger: "timer"}, at, calendarsync.UpcomingEvery)
		all.Sessions += did.Sessions
		all.Syncs += did.Syncs
		if err != nil || next == "" {
			return all, err
		}
		at = next
	}
}
