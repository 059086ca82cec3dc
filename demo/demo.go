// Package demo runs the program against simulators of Google and Discord: it seeds a party with
// polls, serves a page to try them on, and restarts the worker. A Wiring builds the program.
package demo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"path/filepath"
	"sync/atomic"
	"time"

	"questscheduler/demo/sim/control"
	"questscheduler/demo/sim/google"
	"questscheduler/internal/accounts/seal"
	"questscheduler/internal/config"
	"questscheduler/internal/config/keyfile"
	"questscheduler/internal/signin"
)

// Demo is the program on simulators.
type Demo struct {
	program  Program
	config   config.Config
	place    Place
	world    *World
	sims     *Simulators
	worker   *worker
	listener net.Listener
	// seeding: the world is being filled, which nothing else may read then.
	seeding atomic.Bool
}

// Misuse is a mistake in how the demo was started; its text says what to do.
type Misuse struct{ error }

// Unwrap returns the cause.
func (e Misuse) Unwrap() error { return e.error }

// CheckLoopback refuses an address that others could reach: the demo prints its
// tokens.
func CheckLoopback(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("--addr %s is not host:port, such as 127.0.0.1:8080", addr)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("--addr must be on the loopback interface, such as 127.0.0.1:8080, since the demo's tokens are no secret")
	}
	return nil
}

// Place is where and when a demo runs.
type Place struct {
	Dir        string
	Disposable bool           // the folder is removed at the end, so nothing waits for the disk
	Addr       string         // to listen on
	Clock      *control.Clock // nil: the machine's
	Patience   time.Duration  // how long the simulators may take to end
	PeopleOnly bool           // seed no group and no polls
	// After starts the pause of a restart of the worker; nil: time.After.
	After func(time.Duration) <-chan time.Time
}

// Open reads the world of the folder and opens simulators and program on it.
// All of them listen, and none is at work yet. A Misuse is an error of the place or the
// settings.
func Open(ctx context.Context, at Place, wiring Wiring) (*Demo, error) {
	assets, err := fs.Sub(pageFiles, "page")
	if err != nil {
		return nil, err
	}
	at.Clock = cmp.Or(at.Clock, control.NewClock(nil))
	world, err := OpenWorld(at.Dir)
	if err != nil {
		return nil, err
	}
	err = at.Clock.Resume(world.ClockOffset, func(offset time.Duration) error {
		world.ClockOffset = offset
		return world.save(at.Dir)
	})
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", at.Addr) // first, since port 0 becomes a port only now
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s; is something else running there? %w; name another address by --addr, "+
			"or make demo ADDR=127.0.0.1:9090", at.Addr, err)
	}
	d := &Demo{place: at, world: &world, listener: listener}
	d.sims, err = OpenSimulators(at.Dir, d.url(), at.Clock, &world)
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	if err := d.openProgram(ctx, wiring); err != nil {
		return nil, errors.Join(err, listener.Close(), d.sims.Close(ctx))
	}
	at.Clock.OnAdvance(func(time.Duration) error { return d.program.ClockSet(context.Background()) })
	d.worker = newWorker(d.program, at.After)
	d.servePage(assets)
	return d, nil
}

func (d *Demo) openProgram(ctx context.Context, wiring Wiring) error {
	defaults, err := d.defaults()
	if err != nil {
		return err
	}
	d.config, err = wiring.Settings(defaults)
	if err != nil {
		return err
	}
	if d.config.Auth == config.AuthFirebase && !d.config.UnsignedTokens() {
		return Misuse{errors.New("QS_AUTH is firebase, and Firebase does not know the demo's people; unset it, or set " +
			config.AuthEmulatorVariable + " and a QS_FIREBASE_PROJECT that begins with " + signin.DemoPrefix)}
	}
	d.config.Disposable, d.config.SweepAtOnce = d.place.Disposable, true
	d.program, err = wiring.Open(ctx, d.config, d.place.Clock.Now)
	return err
}

// defaults are the demo's settings before the environment overrides them.
func (d *Demo) defaults() (config.Config, error) {
	keys := filepath.Join(d.place.Dir, KeysFile)
	key, err := keyfile.LoadOrCreate(keys, seal.Generate)
	if err != nil {
		return config.Config{}, fmt.Errorf("the demo's sealing key: %w", err)
	}
	if _, err := seal.ParseKeys(string(key)); err != nil {
		return config.Config{}, fmt.Errorf("the demo's sealing key: %s: %w", keys, err)
	}
	cfg := config.Demo()
	cfg.Addr, cfg.PublicURL = d.listener.Addr().String(), d.url()
	cfg.SQLitePath = filepath.Join(d.place.Dir, StoreFile)
	cfg.GoogleEndpoint, cfg.DiscordEndpoint = d.sims.GoogleURL(), d.sims.DiscordURL()
	cfg.DiscordBotToken = config.NewSecret(d.world.DiscordToken)
	cfg.DiscordApplicationID, cfg.DiscordPublicKey = d.sims.Discord.Application()
	cfg.EncKeys = config.NewSecret(string(key))
	cfg.AdminUsers = []string{Admin}
	d.sims.attend(&cfg, d.world)
	return cfg, nil
}

// Begin starts everything and, in a new world, seeds it. Until then its pages answer 503.
func (d *Demo) Begin(ctx context.Context) error {
	d.seeding.Store(!d.world.Seeded)
	defer d.seeding.Store(false)
	if err := d.sims.Start(); err != nil {
		return err
	}
	if err := d.program.Start(ctx, d.listener); err != nil {
		return err
	}
	if d.world.Seeded {
		return nil
	}
	if err := d.seed(ctx); err != nil {
		return fmt.Errorf("seed the demo: %w", err)
	}
	return nil
}

// Wait returns nil once ctx ends, or before that why the demo cannot go on.
func (d *Demo) Wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case err := <-d.program.Failed():
		return err
	case err := <-d.worker.failed:
		return err
	}
}

// Google is the simulator of Google.
func (d *Demo) Google() *google.Server { return d.sims.Google }

// End stops the worker, the program and then the simulators. Whatever fails, the rest is still
// ended.
func (d *Demo) End() error {
	d.worker.end()
	stopped := d.program.Stop()
	ctx, cancel := context.WithTimeout(context.Background(), d.place.Patience)
	defer cancel()
	return errors.Join(stopped, d.sims.Close(ctx))
}
