package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"time"

	"questscheduler/demo"
	"questscheduler/internal/config"
)

// demoWiringOf builds the real program for a demo, with the settings of a process.
type demoWiringOf struct{ process Process }

func (w demoWiringOf) Settings(defaults config.Config) (config.Config, error) {
	return loadSettings(w.process.Environ, defaults)
}

func (w demoWiringOf) Open(ctx context.Context, cfg config.Config, now func() time.Time) (demo.Program, error) {
	p, err := openProgram(ctx, cfg, now, newLogger(cfg, w.process.Stderr))
	if err != nil {
		return demo.Program{}, err
	}
	return demo.Program{
		Lifecycle: demoed{p}, Edge: p.edge, Issuer: p.issuer, Accounts: p.accounts, Consents: p.consents,
		Scheduler: p.scheduler, Links: p.discordLinks(), NewTrace: p.newTrace,
	}, nil
}

// demoed is the program as a demo starts and stops it.
type demoed struct{ *program }

func (d demoed) Start(ctx context.Context, listener net.Listener) error {
	if err := d.start(ctx, listener); err != nil {
		return err
	}
	if err := d.registerDiscord(ctx); err != nil {
		return fmt.Errorf("register with Discord's simulator: %w", err)
	}
	return nil
}

// registerDiscord registers the commands with the simulator, and has it send here what people do.
func (d demoed) registerDiscord(ctx context.Context) error {
	client, err := d.newDiscord()
	if err != nil || client == nil || d.config.InteractionKey() == nil {
		return err
	}
	return registerCommand{Endpoint: true}.carryOut(ctx, d.config, client, io.Discard)
}

func (d demoed) Failed() <-chan error                { return d.failed }
func (d demoed) StopWork(ctx context.Context) error  { return d.stopWork(ctx) }
func (d demoed) StartWork(ctx context.Context) error { return d.startWork(ctx) }
func (d demoed) AwaitIdle(ctx context.Context) error { return d.awaitIdle(ctx) }
func (d demoed) ClockSet(ctx context.Context) error  { return d.clockSet(ctx) }

// Stop leaves watch channels where the simulated Google refuses, since the page revoked an
// account's access.
func (d demoed) Stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), stopPatience)
	defer cancel()
	if err := d.watcher.StopAll(ctx); err != nil {
		d.log.Info("watch channels are left to expire", "error", err)
	}
	return d.stop()
}
