package demo

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"net"
	"net/http"
	"path/filepath"
	"sync"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	"questscheduler/demo/sim/control"
	"questscheduler/demo/sim/discord"
	"questscheduler/demo/sim/google"
	"questscheduler/internal/bodylimit"
)

// Simulators stand in for Google Calendar and Discord.
type Simulators struct {
	Google          *google.Server
	Discord         *discord.Server
	google, discord simulator
	serviceKey      string // of the service account that acts as colleagues
	serving         sync.WaitGroup
}

// simulator is the HTTP side of one of them.
type simulator struct {
	listener net.Listener
	http     *http.Server
}

func (s simulator) url() string { return "http://" + s.listener.Addr().String() }

// OpenSimulators restores both from dir, on the ports they had or on free ones. Scripts
// of the demo's own page, at the origin, may call them.
func OpenSimulators(dir, origin string, clock *control.Clock, world *World) (_ *Simulators, err error) {
	world.DiscordToken = cmp.Or(world.DiscordToken, rand.Text())
	s := &Simulators{}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close(context.Background()))
		}
	}()
	s.Google, err = google.New(google.Options{Clock: clock, Dir: filepath.Join(dir, googleFolder), Origin: origin})
	if err != nil {
		return nil, err
	}
	s.serviceKey, err = s.openColleagues(world)
	if err != nil {
		return nil, err
	}
	s.Discord, err = discord.New(discord.Options{
		Clock: clock, Dir: filepath.Join(dir, discordFolder), Token: world.DiscordToken, Origin: origin,
	})
	if err != nil {
		return nil, err
	}
	s.google, err = newSimulator(world.GoogleAddr, sharedWith(origin, s.Google.Handler()))
	if err != nil {
		return nil, err
	}
	s.discord, err = newSimulator(world.DiscordAddr, sharedWith(origin, s.Discord.Handler()))
	if err != nil {
		return nil, err
	}
	world.GoogleAddr, world.DiscordAddr = s.google.listener.Addr().String(), s.discord.listener.Addr().String()
	return s, world.save(dir)
}

// newSimulator listens on addr, or on a free port if addr is "" or taken.
func newSimulator(addr string, handler http.Handler) (simulator, error) {
	listener, err := net.Listen("tcp", addr)
	if addr == "" || err != nil {
		listener, err = net.Listen("tcp", "127.0.0.1:0")
	}
	return simulator{listener, bodylimit.Server(localOnly(handler), 0)}, err
}

// sharedWith lets a browser's scripts of one origin call a handler and read its answers.
func sharedWith(origin string, handler http.Handler) http.Handler {
	share := middleware.CORSWithConfig(middleware.CORSConfig{
		AllowOriginFunc: func(asking string) (bool, error) { return asking == origin, nil },
		AllowMethods:    []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete},
		AllowHeaders:    []string{echo.HeaderAuthorization, echo.HeaderContentType, "If-Match"},
		ExposeHeaders:   []string{"ETag"},
	})(echo.WrapHandler(handler))
	edge := echo.New()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := edge.NewContext(r, w)
		if err := share(c); err != nil {
			edge.HTTPErrorHandler(err, c)
		}
	})
}

// GoogleURL is where Google's simulator answers.
func (s *Simulators) GoogleURL() string { return s.google.url() }

// DiscordURL is where Discord's simulator answers.
func (s *Simulators) DiscordURL() string { return s.discord.url() }

// Start lets both answer, and pushes be delivered: first those that an earlier run
// left behind.
func (s *Simulators) Start() error {
	for _, sim := range []simulator{s.google, s.discord} {
		s.serving.Go(func() { _ = sim.http.Serve(sim.listener) }) // its error is that it was closed
	}
	return s.Google.Start(context.Background())
}

// Close ends both; what was answered is kept. Pushes under way are waited for until ctx ends.
func (s *Simulators) Close(ctx context.Context) error {
	var failures []error
	if s.Google != nil {
		failures = append(failures, s.Google.Close(ctx))
	}
	if s.Discord != nil {
		failures = append(failures, s.Discord.Close())
	}
	for _, sim := range []simulator{s.google, s.discord} {
		if sim.http != nil {
			failures = append(failures, sim.http.Close())
		}
	}
	s.serving.Wait()
	return errors.Join(failures...)
}
