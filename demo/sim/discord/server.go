package discord

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"questscheduler/demo/sim/control"
)

// BotID and BotName are the user that every call with the right token is made
// by, and so the author of every message.
const (
	BotID   = "1100000000000000001"
	BotName = "questscheduler"
)

// maxBody is far above any message without attachments.
const maxBody = 1 << 20

// Options configure a simulator.
type Options struct {
	// Now is the base of the simulator's own clock; nil is time.Now. It is unused if
	// Clock is given.
	Now func() time.Time
	// Clock, if given, is shared with others, and its maker keeps it over a restart.
	// Otherwise the simulator makes one over Now and keeps its offset in Dir.
	Clock *control.Clock
	// Dir holds what must outlive the process; "" keeps all in memory.
	Dir string
	// Token is the bot token that calls must carry. It must not be empty.
	Token string
	// RouteLimit is how many calls one route of one channel takes in a second;
	// 0 is 1000.
	RouteLimit int
	// GlobalLimit is how many calls all routes take together in a second;
	// Discord's is DefaultGlobalLimit. 0 is no limit, since the clocks of tests
	// stand still.
	GlobalLimit int
	// Origin is that of the page that may use the controls beside the simulator's own,
	// such as "http://127.0.0.1:8080"; "" is none.
	Origin string
	// EndpointClient sends interactions; nil is a client that follows no redirects.
	EndpointClient *http.Client
	// Log gets one line for each call at debug level; nil is silence.
	Log *slog.Logger
}

// Server is the simulator. Safe for concurrent use.
type Server struct {
	token   string
	origin  string
	clock   *control.Clock
	control *control.Control
	client  *http.Client // of interactions
	log     *slog.Logger
	mux     *http.ServeMux

	mu      sync.Mutex
	world   world
	journal *control.Journal // nil: in memory
	limits  rateLimits
}

// New makes a simulator, with everything that an earlier one answered where
// Options.Dir holds its journal.
func New(o Options) (*Server, error) {
	if o.Token == "" {
		return nil, errors.New("discord simulator: give a bot token")
	}
	ownClock := o.Clock == nil
	if ownClock {
		o.Clock = control.NewClock(o.Now)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.EndpointClient == nil {
		o.EndpointClient = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	s := &Server{
		token:   o.Token,
		origin:  o.Origin,
		clock:   o.Clock,
		control: control.New(o.Clock, methods()...),
		client:  o.EndpointClient,
		log:     o.Log,
		mux:     http.NewServeMux(),
		world:   newWorld(),
		limits:  newRateLimits(o.RouteLimit, o.GlobalLimit),
	}
	if o.Dir != "" {
		if err := s.restore(o.Dir, ownClock); err != nil {
			return nil, fmt.Errorf("discord simulator: %w", err)
		}
	}
	if err := s.makeKey(); err != nil {
		return nil, fmt.Errorf("discord simulator: %w", err)
	}
	s.routes()
	return s, nil
}

// Handler serves the API and the controls under /_sim/, which refuse pages of other
// origins.
func (s *Server) Handler() http.Handler { return control.FromOwnPage(s.mux, s.origin) }

// Control plants faults and counts calls, as /_sim/faults and /_sim/calls do.
func (s *Server) Control() *control.Control { return s.control }

// Close gives back the journal's file. Calls that would change something fail
// afterwards; everything answered before is kept.
func (s *Server) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.journal == nil {
		return nil
	}
	return s.journal.Close()
}

// Messages are a channel's messages, oldest first; none for a channel that is
// not known. Their slices are shared and must not be changed.
func (s *Server) Messages(channelID string) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.world.messages(channelID)
}

// commit makes a change durable and then true. The caller holds the lock; on
// an error nothing has changed.
func (s *Server) commit(r record) error {
	if s.journal != nil {
		if err := s.journal.Append(r); err != nil {
			return err
		}
	}
	return s.world.apply(r)
}

// authorised says whether a call carries the bot's token.
func (s *Server) authorised(r *http.Request) bool {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bot ")
	return ok && token == s.token
}
