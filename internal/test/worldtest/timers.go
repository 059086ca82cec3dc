package worldtest

import (
	"context"
	"log/slog"
	"time"

	"questscheduler/internal/store"
	"questscheduler/scheduler"
	"questscheduler/web-hooks/timers"
)

// FallbackEvery is the period of the sweep, where the timers run.
const FallbackEvery = 6 * time.Hour

// wireTimers makes the timers. A world's Run drains every minute and asks them
// nothing: AskTimers and RunTimers do.
func (w *World) wireTimers(p *Program, documents store.Store, now func() time.Time, log *slog.Logger) {
	var sweepCards func(context.Context, string, scheduler.Cause) (int, string, error)
	if w.options.Discord && !w.observing {
		sweepCards = p.Scheduler.SweepCards
	}
	parts := timers.Parts{
		Watcher: p.Watcher, FallbackEvery: FallbackEvery,
		Documents: documents, Now: now, Log: log, SweepCards: sweepCards,
	}
	p.timedMirrors(&parts)
	p.Timers = &timers.Timers{
		Store: documents, Outbox: p.Outbox, Now: now, ByClock: true, NewTrace: func() string { return "trc_" + w.ulid(now()) }, Log: log,
		Jobs: timers.Jobs(parts),
	}
	work := p.Timers.Work()
	p.jobsDue, work.Due = work.Due, nil // so that no drain asks for them
	p.Outbox.Add(work)
}

// AskTimers wakes the jobs that are due, as the drain of every minute does.
func (w *World) AskTimers() error {
	for doc, err := range w.jobsDue(w.ctx, w.Timers.Store, w.Timers.Now()) {
		if err != nil {
			return err
		}
		w.Outbox.Soon(w.ctx, timers.Kind, doc.Path.ID(), w.Timers.Now())
	}
	return nil
}

// RunTimers lets time go by as the timers see it: in steps of that length, at
// each of which they are asked what is due and everything due is done. It is for
// days and weeks, where Run's every minute is too fine.
func (w *World) RunTimers(d, step time.Duration) {
	w.t.Helper()
	for end := w.Clock.Now().Add(d); w.Clock.Now().Before(end); {
		w.must(w.AskTimers())
		w.DrainOutbox()
		w.RunDue()
		w.advance(min(step, end.Sub(w.Clock.Now())))
	}
	w.must(w.AskTimers())
	w.DrainOutbox()
	w.RunDue()
}
