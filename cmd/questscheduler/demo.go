package main

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"text/template"
	"time"

	"questscheduler/demo/sim/control"
	"questscheduler/internal/accounts/seal"
	"questscheduler/internal/config"
	"questscheduler/internal/config/keyfile"
	"questscheduler/internal/signin"
)

// demoCommand runs everything on this machine: the real server, with the real
// Google, Discord and database clients, against simulators.
type demoCommand struct {
	Addr     string        `help:"The address to listen on, on the loopback interface." default:"127.0.0.1:8080"`
	Data     string        `placeholder:"DIR" help:"Keep all data in this folder, which a restart continues. Without it a temporary folder, removed at the end." type:"path"`
	JSON     bool          `help:"Print one JSON object, when all is ready, as the first line."`
	Verbose  bool          `help:"Print commands to try, with everybody's tokens."`
	Duration time.Duration `placeholder:"10m" help:"End after this time; without it on an interrupt."`
}

func (demoCommand) Help() string {
	return `The demo has a party of four with their group, a Discord channel and three polls: one open with votes, one finalised, one that ` +
		`follows a calendar event. The page that it prints says what to try.

Examples:

    questscheduler demo
    questscheduler demo --data world      # a restart continues it
    questscheduler demo --verbose         # commands to try
    questscheduler demo --json | head -1 | jq .users.gm.token`
}

// demo is the program on simulators.
type demo struct {
	*program
	dir      string
	world    *demoWorld
	sims     *simulators
	worker   *demoWorker
	listener net.Listener
}

func (c demoCommand) Run(ctx context.Context, process Process) (err error) {
	if err := checkLoopback(c.Addr); err != nil {
		return usageError{err}
	}
	if c.Duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.Duration)
		defer cancel()
	}
	dir := c.Data
	if dir == "" {
		dir, err = os.MkdirTemp("", "questscheduler-demo-")
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return usageError{fmt.Errorf("--data has to name a folder: %w", err)}
	}
	d, err := openDemo(ctx, demoPlace{dir: dir, disposable: c.Data == "", addr: c.Addr}, process)
	if err != nil {
		return unlessInterrupted(ctx, err)
	}
	defer func() { err = errors.Join(err, d.end()) }()
	if err := d.begin(ctx); err != nil {
		return unlessInterrupted(ctx, err)
	}
	if err := c.print(process.Stdout, d.ready()); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-d.failed:
		return err
	}
}

// unlessInterrupted drops the error of a start that ctx ended before all was ready.
func unlessInterrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil //nolint:nilerr // it was asked to end before it was ready
	}
	return err
}

// print writes where everything is. Tokens are printed on demand alone.
func (c demoCommand) print(out io.Writer, ready demoReady) error {
	switch {
	case c.JSON:
		return json.NewEncoder(out).Encode(ready)
	case c.Verbose:
		return demoText.Execute(out, ready)
	default:
		return demoReadyText.Execute(out, ready)
	}
}

// checkLoopback refuses an address that others could reach: the demo prints its
// tokens.
func checkLoopback(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("--addr %s is not host:port, such as 127.0.0.1:8080", addr)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("--addr must be on the loopback interface, such as 127.0.0.1:8080, since the demo's tokens are no secret")
	}
	return nil
}

// demoPlace is where and when a demo runs.
type demoPlace struct {
	dir        string
	disposable bool           // the folder is removed at the end, so nothing waits for the disk
	addr       string         // to listen on
	clock      *control.Clock // nil: the machine's
}

// openDemo reads the world of the folder and opens simulators and program on it.
// All of them listen, and none is at work yet.
func openDemo(ctx context.Context, at demoPlace, process Process) (*demo, error) {
	dir, addr, clock := at.dir, at.addr, cmp.Or(at.clock, control.NewClock(nil))
	world, err := openDemoWorld(dir)
	if err != nil {
		return nil, err
	}
	err = clock.Resume(world.ClockOffset, func(offset time.Duration) error {
		world.ClockOffset = offset
		return world.save(dir)
	})
	if err != nil {
		return nil, err
	}
	listener, err := listen(addr) // first, since port 0 becomes a port only now
	if err != nil {
		return nil, fmt.Errorf("%w; name another address by --addr, or make demo ADDR=127.0.0.1:9090", err)
	}
	sims, err := openSimulators(dir, "http://"+listener.Addr().String(), clock, &world)
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	cfg, err := demoSettings(dir, listener.Addr().String(), &world, sims, process.Environ)
	if err != nil {
		return nil, errors.Join(err, listener.Close(), sims.close())
	}
	cfg.Disposable, cfg.SweepAtOnce = at.disposable, true
	p, err := openProgram(ctx, cfg, clock.Now, newLogger(cfg, process.Stderr))
	if err != nil {
		return nil, errors.Join(err, listener.Close(), sims.close())
	}
	clock.OnAdvance(func(time.Duration) error { return p.clockSet(context.Background()) })
	d := &demo{p, dir, &world, sims, newDemoWorker(p), listener}
	if err := d.servePage(); err != nil {
		return nil, errors.Join(err, listener.Close(), sims.close(), p.closeStores())
	}
	return d, nil
}

// demoSettings are the demo's defaults with what the environment overrides.
func demoSettings(dir, addr string, world *demoWorld, sims *simulators, environ []string) (config.Config, error) {
	keys := filepath.Join(dir, demoKeys)
	key, err := keyfile.LoadOrCreate(keys, seal.Generate)
	if err != nil {
		return config.Config{}, fmt.Errorf("the demo's sealing key: %w", err)
	}
	if _, err := seal.ParseKeys(string(key)); err != nil {
		return config.Config{}, fmt.Errorf("the demo's sealing key: %s: %w", keys, err)
	}
	cfg := config.Demo()
	cfg.Addr, cfg.PublicURL = addr, "http://"+addr
	cfg.SQLitePath = filepath.Join(dir, demoStore)
	cfg.GoogleEndpoint, cfg.DiscordEndpoint = sims.googleURL(), sims.discordURL()
	cfg.DiscordBotToken = config.NewSecret(world.DiscordToken)
	cfg.DiscordApplicationID, cfg.DiscordPublicKey = sims.discordServer.Application()
	cfg.EncKeys = config.NewSecret(string(key))
	cfg.AdminUsers = []string{demoAdmin}
	sims.attend(&cfg, world)
	cfg, err = loadSettings(environ, cfg)
	if err != nil {
		return config.Config{}, err
	}
	if cfg.Auth == config.AuthFirebase && !cfg.UnsignedTokens() {
		return config.Config{}, usageError{errors.New("QS_AUTH is firebase, and Firebase does not know the demo's people; unset it, or set " +
			config.AuthEmulatorVariable + " and a QS_FIREBASE_PROJECT that begins with " + signin.DemoPrefix)}
	}
	return cfg, nil
}

// begin starts everything and, in a new world, seeds it.
func (d *demo) begin(ctx context.Context) error {
	if err := d.sims.start(); err != nil {
		return err
	}
	if err := d.start(ctx, d.listener); err != nil {
		return err
	}
	if err := d.registerDiscord(ctx); err != nil {
		return fmt.Errorf("register with Discord's simulator: %w", err)
	}
	if d.world.Seeded {
		return nil
	}
	if err := d.seed(ctx); err != nil {
		return fmt.Errorf("seed the demo: %w", err)
	}
	return nil
}

// end stops the watch channels, as far as the simulated Google allows: it refuses where the
// page revoked an account's access. Then it ends everything.
func (d *demo) end() error {
	d.worker.end()
	ctx, cancel := context.WithTimeout(context.Background(), stopPatience)
	defer cancel()
	if err := d.watcher.StopAll(ctx); err != nil {
		d.log.Info("watch channels are left to expire", "error", err)
	}
	return errors.Join(d.stop(), d.sims.close())
}

//go:embed demo_ready.txt
var demoReadySource string

var demoReadyText = template.Must(template.New("demo ready").Parse(demoReadySource))

//go:embed demo.txt
var demoTextSource string

var demoText = template.Must(template.New("demo").Parse(demoTextSource))

//go:embed demo_mirrors.txt
var demoMirrorsSource string

var demoMirrors = template.Must(template.New("demo mirrors").Parse(demoMirrorsSource))

// Mirrors returns the shell lines that try mirrors; "" without a second account.
func (r demoReady) Mirrors() (string, error) {
	if r.Users["gm"].Second == nil {
		return "", nil
	}
	var lines strings.Builder
	err := demoMirrors.Execute(&lines, r)
	return lines.String(), err
}
