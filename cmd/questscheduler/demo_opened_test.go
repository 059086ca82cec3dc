package main

import (
	"cmp"
	"context"
	"time"

	"questscheduler/demo"
	"questscheduler/internal/config"
)

// openedDemo is a demo that a test begins and ends, with the program that it runs.
type openedDemo struct {
	*demo.Demo
	*program
}

// openTestDemo opens a demo as the command does.
func openTestDemo(ctx context.Context, at demo.Place, process Process) (*openedDemo, error) {
	at.Patience = cmp.Or(at.Patience, stopPatience)
	wiring := &watchedWiring{demoWiringOf: demoWiringOf{process}}
	d, err := demo.Open(ctx, at, wiring)
	return &openedDemo{d, wiring.opened}, err
}

// watchedWiring keeps the program that it opened.
type watchedWiring struct {
	demoWiringOf
	opened *program
}

func (w *watchedWiring) Open(ctx context.Context, cfg config.Config, now func() time.Time) (demo.Program, error) {
	p, err := w.demoWiringOf.Open(ctx, cfg, now)
	if err == nil {
		w.opened = p.Lifecycle.(demoed).program
	}
	return p, err
}
