package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"path/filepath"

	"questscheduler/internal/sim/control"
	"questscheduler/internal/sim/discord"
	"questscheduler/internal/sim/google"
)

// simulators are Google Calendar and Discord as the demo has them.
type simulators struct {
	google, discord simulator
	googleServer    *google.Server
	discordServer   *discord.Server
}

// simulator is one of them, listening.
type simulator struct {
	listener net.Listener
	http     *http.Server
}

// openSimulators opens both on the ports they had, or on free ones, with their
// state from dir.
func openSimulators(dir string, clock *control.Clock, world *demoWorld) (_ *simulators, err error) {
	if world.DiscordToken == "" {
		if world.DiscordToken, err = newToken(); err != nil {
			return nil, err
		}
	}
	s := &simulators{}
	s.googleServer, err = google.New(google.Options{Clock: clock, Dir: filepath.Join(dir, demoGoogle)})
	if err != nil {
		return nil, err
	}
	s.discordServer, err = discord.New(discord.Options{Clock: clock, Dir: filepath.Join(dir, demoDiscord), Token: world.DiscordToken})
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	if s.google, err = newSimulator(world.GoogleAddr, s.googleServer.Handler()); err != nil {
		return nil, errors.Join(err, s.close())
	}
	if s.discord, err = newSimulator(world.DiscordAddr, s.discordServer.Handler()); err != nil {
		return nil, errors.Join(err, s.close())
	}
	world.GoogleAddr, world.DiscordAddr = s.google.listener.Addr().String(), s.discord.listener.Addr().String()
	return s, world.save(dir)
}

// newSimulator listens on addr, or where that is taken or "" on a free port.
func newSimulator(addr string, handler http.Handler) (simulator, error) {
	listener, err := net.Listen("tcp", addr)
	if addr == "" || err != nil {
		listener, err = net.Listen("tcp", "127.0.0.1:0")
	}
	if err != nil {
		return simulator{}, err
	}
	return simulator{listener, newHTTPServer(localOnly(handler))}, nil
}

func (s *simulators) googleURL() string  { return "http://" + s.google.listener.Addr().String() }
func (s *simulators) discordURL() string { return "http://" + s.discord.listener.Addr().String() }

// start lets both answer, and pushes be delivered: first those that an earlier
// run left behind.
func (s *simulators) start() error {
	for _, sim := range []simulator{s.google, s.discord} {
		go func() { _ = sim.http.Serve(sim.listener) }() // its error is that it was closed
	}
	return s.googleServer.Start(context.Background())
}

// close ends both; what was answered is kept.
func (s *simulators) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), stopPatience)
	defer cancel()
	var failures []error
	if s.googleServer != nil {
		failures = append(failures, s.googleServer.Close(ctx))
	}
	if s.discordServer != nil {
		failures = append(failures, s.discordServer.Close())
	}
	for _, sim := range []simulator{s.google, s.discord} {
		if sim.http != nil {
			failures = append(failures, sim.http.Close())
		}
	}
	return errors.Join(failures...)
}
