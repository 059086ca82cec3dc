package main

import (
	"cmp"
	"context"
	"time"

	"questscheduler/internal/config"
)

// openedDemo is a demo that a test begins and ends, with the program that it runs.
type openedDemo struct {
	*demo
	*program
}

// openTestDemo opens a demo as the command does.
func openTestDemo(ctx context.Context, at demoPlace, process Process) (*openedDemo, error) {
	at.Patience = cmp.Or(at.Patience, stopPatience)
	wiring := &watchedWiring{demoWiringOf: demoWiringOf{process}}
	d, err := openDemo(ctx, at, wiring)
	return &openedDemo{d, wiring.opened}, err
}

// watchedWiring keeps the program that it opened.
type watchedWiring struct {
	demoWiringOf
	opened *program
}

func (w *watchedWiring) Open(ctx context.Context, cfg config.Config, now func() time.Time) (demoProgram, error) {
	p, err := w.demoWiringOf.Open(ctx, cfg, now)
	if err == nil {
		w.opened = p.demoLifecycle.(demoed).program
	}
	return p, err
}
