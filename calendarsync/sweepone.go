package calendarsync

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"questscheduler/internal/calendars"
	"questscheduler/internal/outbox"
	"questscheduler/internal/store"
	"questscheduler/scheduler"
)

// SweepKind is the outbox's kind of sweeps of calendars. Its entries are the calendars that
// have a SweepAt.
const SweepKind = "sweep"

const (
	// sweepGap separates a sweep's calendars, so that few are swept at once; ten thousand
	// take most of six hours.
	sweepGap = 2 * time.Second
	// sweepWorkers is how many calendars a process sweeps at once.
	sweepWorkers = 10
)

// slot is when the next calendar is swept. The slots end before the next sweep begins;
// calendars beyond them share slots.
func (p position) slot(spread time.Duration) time.Time {
	return p.Began.Add(time.Duration(p.Handed) * sweepGap % (spread - spread/10))
}

// planSweeps writes when calendars are swept, by key.
func (w *Watcher) planSweeps(ctx context.Context, planned map[string]time.Time, cause scheduler.Cause) error {
	if len(planned) == 0 {
		return nil
	}
	keys := slices.Sorted(maps.Keys(planned))
	err := w.Store.Run(ctx, func(_ context.Context, tx store.Tx) error {
		for _, key := range keys {
			if err := tx.Update(calendars.Path(key), calendars.PlanSweep(planned[key], cause.Trace)...); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, key := range keys {
		w.Outbox.Soon(ctx, SweepKind, key, planned[key])
	}
	return nil
}

// Sweeps is the outbox's kind of the sweeps of calendars. A sweep may be repeated, so none is
// claimed.
func (w *Watcher) Sweeps() outbox.Kind {
	return outbox.Kind{
		Name: SweepKind, Does: "sweeps of calendars", Workers: sweepWorkers, Unclaimed: true, Planned: true,
		Path: calendars.Path, Due: outbox.Query(calendars.SweepsDue), Codec: outbox.DueAt("sweepAt", "sweepTrace"), Handle: w.sweepPlanned,
	}
}

// sweepPlanned sweeps a calendar whose time has come. The end of the sweep is recorded with the
// request for a sync. A failure is tried again three times, and then left to the next sweep.
func (w *Watcher) sweepPlanned(ctx context.Context, item outbox.Item) outbox.Result {
	calendar, _, err := calendars.LoadKey(ctx, w.Store, item.ID)
	switch {
	case err != nil:
		return outbox.Broken(err)
	case calendar.SweepAt.IsZero():
		return outbox.Done()
	case calendar.SweepAt.After(w.Now()):
		return outbox.Kept(calendar.SweepAt)
	}
	cause, stale := scheduler.Cause{Trigger: "sweep", Trace: calendar.SweepTrace}, false
	var failure error
	if calendar.Wanted() {
		stale, failure = w.sweepCalendar(ctx, calendar, cause, &Swept{})
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return outbox.Broken(ctx.Err()) // the program stops: it is due still
	}
	last, cancel := finalContext(ctx)
	defer cancel()
	again, err := w.endSweep(last, calendar, cause, stale, failure != nil)
	if err != nil {
		return outbox.Broken(errors.Join(failure, err))
	}
	if failure != nil && again.IsZero() {
		w.leftToTheNext(ctx, calendar, cause, failure)
	}
	return outbox.Kept(again)
}

// endSweep records the end of a sweep, and requests a sync where the calendar is stale. again
// is when a failed one is tried again. Nothing is recorded twice: another run of the same
// sweep may have ended it.
func (w *Watcher) endSweep(
	ctx context.Context, swept calendars.Calendar, cause scheduler.Cause, stale, failed bool,
) (again time.Time, err error) {
	requested := false
	err = w.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		requested, again = false, time.Time{}
		now, _, err := calendars.LoadKey(ctx, tx, swept.Key)
		if err != nil || !now.SweepAt.Equal(swept.SweepAt) {
			return err
		}
		var updates []store.Update
		updates, again = now.SweepEnded(w.Now(), failed)
		requested = stale && now.Wanted() && !now.Asked()
		if requested {
			updates = append(updates, calendars.RequestSync(cause.Request(w.Now()))...)
		}
		return tx.Update(calendars.Path(swept.Key), updates...)
	})
	if err == nil && requested {
		w.Outbox.Soon(ctx, calendars.SyncKind, swept.Key, w.Now())
	}
	return again, err
}
