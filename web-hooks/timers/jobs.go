package timers

import (
	"context"
	"log/slog"
	"time"

	"questscheduler/calendarsync"
	"questscheduler/internal/store"
	"questscheduler/scheduler"
)

// Parts are what the jobs are made of.
type Parts struct {
	Watcher *calendarsync.Watcher
	// Reconcile compares a calendar's mirrors with what it has; nil leaves the job out.
	Reconcile Step
	// RefreshMappings loads the second addresses of attendees; nil leaves the job out.
	RefreshMappings Step
	// FallbackEvery is the period of the sweep, over which it is spread unless SweepAtOnce.
	FallbackEvery time.Duration
	SweepAtOnce   bool
	// NoSync leaves out what speaks with calendars (QS_SYNC=off).
	NoSync bool
	// CheckAccounts tries the grants of accounts that were not used for a day, so that
	// a dead one is found before it is needed. It is repeated while more is true;
	// nil if account linking is off.
	CheckAccounts func(ctx context.Context) (did Counts, more bool, err error)
	// SweepCards is scheduler.Service.SweepCards; nil where the cards are not ours.
	SweepCards func(ctx context.Context, at string, cause scheduler.Cause) (checked int, next string, err error)
	// Observing leaves shared documents alone (QS_SYNC=observe).
	Observing bool
	Documents store.Store
	// Cleaning is what the cleanup removes beside what every deployment has.
	Cleaning []Cleaning
	// Health counts a page of the linked accounts by their health; nil leaves the
	// job out.
	Health Step
	Now    func() time.Time
	Log    *slog.Logger
}

// Jobs is the table.
func Jobs(p Parts) []Job {
	day := 24 * time.Hour
	table := []Job{
		{
			// At 3 in the morning in Japan.
			Name: RenewWatches, Every: day, Offset: 18 * time.Hour, AtStart: true, Step: p.renew,
			Does: "renew the watch channels that the drain did not, and stop those that nothing needs",
		},
		{
			Name: PollFallback, Every: p.FallbackEvery, AtStart: true, AfterStart: time.Minute, Step: inTurn(p.fallBack()),
			Does: "find what pushes missed, calendar by calendar",
		},
		{
			Name: PlanUpcoming, Every: calendarsync.UpcomingEvery, Step: p.planUpcoming,
			Does: "plan frequent syncs of calendars in which a session starts within two days",
		},
		{
			Name: Cleanup, Every: day, Offset: 3 * time.Hour, Step: inTurn(p.cleanup()),
			Does: "remove what is past its time",
		},
	}
	if p.Reconcile != nil && !p.NoSync {
		table = append(table, Job{
			Name: ReconcileMirrors, Every: day, Offset: 16 * time.Hour, Does: "compare mirrors with what their calendars have", Step: p.Reconcile,
		})
	}
	if p.RefreshMappings != nil && !p.NoSync {
		table = append(table, Job{
			Name: RefreshMappings, Every: 5 * time.Minute, AtStart: true,
			Does: "load second addresses, and follow the calendars of their owners", Step: p.RefreshMappings,
		})
	}
	if p.Health != nil {
		table = append(table, Job{
			Name: Health, Every: 6 * time.Hour, Does: "check the health of the linked accounts", Step: p.Health,
		})
	}
	return table
}

func (p Parts) renew(ctx context.Context, run Run) (Stretch, error) {
	if p.NoSync {
		return Stretch{}, nil
	}
	renewed, next, err := p.Watcher.RenewPage(ctx, run.Cause, run.At)
	return Stretch{Next: next, Did: Counts{
		{"calendars", renewed.Calendars},
		{"watch channels opened", renewed.Opened},
		{"watch channels stopped", renewed.Stopped},
		{"failed", renewed.Failed},
	}}, err
}

// planUpcoming plans syncs for a page of sessions: at once for a person, otherwise spread over
// the period.
func (p Parts) planUpcoming(ctx context.Context, run Run) (Stretch, error) {
	if p.NoSync {
		return Stretch{}, nil
	}
	spread := calendarsync.UpcomingEvery
	if run.ByHand || p.SweepAtOnce {
		spread = 0
	}
	did, next, err := p.Watcher.PlanUpcoming(ctx, run.Cause, run.At, spread)
	return Stretch{Next: next, Did: Counts{{"sessions that start soon", did.Sessions}, {"syncs planned", did.Syncs}}}, err
}

// fallBack is the parts of the sweep.
func (p Parts) fallBack() []part {
	if p.NoSync {
		return []part{{"calendars", func(context.Context, Run) (Stretch, error) { return Stretch{}, nil }}}
	}
	parts := []part{{"calendars", p.sweepCalendars}}
	if p.CheckAccounts != nil {
		parts = append(parts, part{"accounts", func(ctx context.Context, _ Run) (Stretch, error) {
			did, more, err := p.CheckAccounts(ctx)
			return Stretch{Next: again(more), Did: did}, err
		}})
	}
	if p.SweepCards != nil {
		parts = append(parts, part{"cards", func(ctx context.Context, run Run) (Stretch, error) {
			checked, next, err := p.SweepCards(ctx, run.At, run.Cause)
			return Stretch{Next: next, Did: Counts{{"cards checked", checked}}}, err
		}})
	}
	return parts
}

// sweepCalendars sweeps a page of calendars: at once for a person, otherwise
// through tasks that are spread over the period.
func (p Parts) sweepCalendars(ctx context.Context, run Run) (Stretch, error) {
	spread := p.FallbackEvery
	if run.ByHand || p.SweepAtOnce {
		spread = 0
	}
	swept, next, err := p.Watcher.SweepPage(ctx, run.Cause, run.At, spread)
	did := Counts{{"calendars", swept.Calendars}}
	if run.ByHand {
		did = append(did, Count{"looks", swept.Syncs}, Count{"fresh calendars left out", swept.Fresh})
	} else {
		did = append(did, Count{"calendars handed over", swept.HandedOver})
	}
	return Stretch{Next: next, Did: append(did, Count{"polls set right", swept.Repaired}, Count{"failed", swept.Failed})}, err
}
