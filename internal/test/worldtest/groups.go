package worldtest

import (
	"context"
	"log/slog"
	"time"

	"questscheduler/groupevents"
	"questscheduler/internal/outbox"
	"questscheduler/internal/store"
	"questscheduler/mirrors"
	"questscheduler/scheduler"
)

// wireListeners has changes of accounts carried on in the order of production.
func (w *World) wireListeners(p *Program) {
	if p.Mappings != nil {
		p.Links.Listeners = append(p.Links.Listeners, p.Mappings)
	}
	if w.options.Grouped {
		p.Links.Listeners = append(p.Links.Listeners, p.Groups)
	}
	if p.Writer != nil {
		p.Links.Listeners = append(p.Links.Listeners, p.Writer)
	}
}

// wireGroups makes what follows the sessions of groups, and what plans their mirrors if
// nothing does yet.
func (w *World) wireGroups(p *Program, documents store.Store, now func() time.Time, log *slog.Logger) {
	planner := p.Mirrors
	if planner == nil {
		planner = &mirrors.Service{
			Store: documents, Outbox: p.Outbox, Installation: "world", SharedBy: groupevents.SharedBy, HoldShare: 0.5, HoldMin: 5, Now: now,
			Follow: func(context.Context, string, string, scheduler.Cause) error { return nil },
			NewID:  func() string { return w.ulid(now()) }, Log: log,
		}
	}
	p.Groups = &groupevents.Service{
		Store: documents, Outbox: p.Outbox, Plans: planner, Now: now, CheckCards: p.Scheduler.CheckCards,
		NewID: func(prefix string) string { return prefix + "_" + w.ulid(now()) }, Log: log,
	}
	p.Groups.Settle = w.options.Settle
	p.Outbox.Add(p.Groups.Work())
	p.Outbox.Add(planner.PlanWork(), planner.EventWork())
	if p.Mirrors == nil {
		// Nothing writes in such a world: what mirrors want stays in their documents.
		work := (&mirrors.Writer{Service: planner}).Work()
		work.Handle = func(context.Context, outbox.Item) outbox.Result { return outbox.Done() }
		p.Outbox.Add(work)
	}
}
