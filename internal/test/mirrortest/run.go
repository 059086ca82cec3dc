package mirrortest

import (
	"context"
	"slices"
	"time"

	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
	"questscheduler/mirrors"
)

// mostTurns bounds the runs of one RunDue: more never end.
const mostTurns = 1_000_000

// RunDue runs what is due now, and what that wakes.
func (w *World) RunDue() {
	w.t.Helper()
	for turns := 0; ; {
		due := w.Wakes.Due(w.Clock.Now())
		if len(due) == 0 {
			return
		}
		for _, wake := range due {
			turns++
			if turns > mostTurns {
				w.t.Fatalf("runs never end")
			}
			if run, ok := w.Wakes.Take(wake.ID); ok {
				run.Settle(w.handle(run.Kind, run.Entry))
			}
		}
	}
}

// handle runs an entry.
func (w *World) handle(kind, id string) (again time.Time, err error) {
	ctx, cancel := context.WithCancel(w.ctx)
	defer cancel()
	w.Cancel = cancel
	if w.Began != nil {
		w.Began(kind)
	}
	again, err = w.Outbox.Run(ctx, kind, id)
	if w.Ended != nil {
		w.Ended(kind)
	}
	if err != nil {
		w.Failed = append(w.Failed, err)
	}
	return again, err
}

// Settle runs what is due for six seconds.
func (w *World) Settle() {
	w.t.Helper()
	for range 3 {
		w.RunDue()
		w.must(w.Clock.Advance(2 * time.Second))
	}
}

// Run has the clock go on for a time, with the drains each minute.
func (w *World) Run(d time.Duration) {
	w.t.Helper()
	for end := w.Clock.Now().Add(d); w.Clock.Now().Before(end); w.must(w.Clock.Advance(time.Minute)) {
		_, err := w.Outbox.Drain(w.ctx)
		w.must(err)
		w.RunDue()
	}
}

// Reconcile runs the daily reconciliation of all calendars.
func (w *World) Reconcile() (all mirrors.Reconciled) {
	w.t.Helper()
	for at := ""; ; {
		did, next, err := w.Writer.Reconcile(w.ctx, Cause, at, true)
		w.must(err)
		all.Calendars, all.Checked, all.Corrected = all.Calendars+did.Calendars, all.Checked+did.Checked, all.Corrected+did.Corrected
		all.Strays, all.Guarded, all.Failed = all.Strays+did.Strays, all.Guarded+did.Guarded, all.Failed+did.Failed
		at = next
		if at == "" {
			return all
		}
	}
}

// Mirrors are the mirrors into an account.
func (w *World) Mirrors(account string) []mirror.Mirror {
	w.t.Helper()
	all, err := store.Collect(mirror.IntoAccount(w.ctx, w.stored, account))
	w.must(err)
	return all
}

// Events are the canonical events of an account, without copies.
func (w *World) Events(account string) []mirror.Event {
	w.t.Helper()
	all, err := store.Collect(mirror.OfAccount(w.ctx, w.stored, account))
	w.must(err)
	return slices.DeleteFunc(all, func(e mirror.Event) bool { return e.Source == mirror.SourceCopy })
}

// Calls counts the calls to Google since ResetCalls, by method.
func (w *World) Calls() map[string]int { return w.Google.Control().Calls() }

// ResetCalls begins the counts anew, those of the store's operations too.
func (w *World) ResetCalls() {
	w.Google.Control().ResetCalls()
	w.Documents.Reset()
}
