package google

import (
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"questscheduler/demo/sim/control"
)

// Options says how a simulator is made. The zero value is a simulator in
// memory on the machine's clock.
type Options struct {
	// Now is the base of the simulator's own clock; nil is time.Now. It is ignored
	// if Clock is given.
	Now func() time.Time
	// Clock, if given, is shared with other simulators, and its maker keeps it
	// across restarts. Without it the simulator makes one over Now and keeps its
	// offset in Dir.
	Clock *control.Clock
	// NewID gives a new text at each call, of which event ids and tokens are
	// made; nil is randomness.
	NewID func() string
	// Dir holds what must outlive the process; "" keeps all in memory. One
	// process at a time may use it.
	Dir string
	// PushClient delivers pushes; nil is a client with a time-out of 10 s.
	PushClient *http.Client
	// Sequential: no goroutines. Pushes wait until Deliver or DeliverNext
	// hands them out.
	Sequential bool
	// ClientID and ClientSecret, where set, are demanded at the token
	// endpoint, ClientID at the consent page too.
	ClientID, ClientSecret string
	// RedirectURIs, where set, are those that a consent may go back to; else
	// any with HTTPS, or on loopback, may.
	RedirectURIs []string
	// Testing: the client is in testing, so its refresh tokens die after seven
	// days.
	Testing bool
	// MaxChannelTTL is the longest that a watch channel is granted for,
	// whatever is asked; 0 is 30 days.
	MaxChannelTTL time.Duration
	// StopGrace is how long a stopped channel still receives pushes.
	StopGrace time.Duration
	// SyncTokenLife is how long a sync token is valid, by the simulator's clock;
	// 0 is 28 days. TombstoneLife is how long a deleted event is visible; 0 is 30
	// days.
	SyncTokenLife, TombstoneLife time.Duration
	// Quota limits calls; GoogleQuota is Google's. The zero Quota is none,
	// since the clocks of tests stand still.
	Quota Quota
	// Origin is that of the page that may use the controls beside the simulator's own,
	// such as "http://127.0.0.1:8080"; "" is none.
	Origin string
	// Log gets one line for each call and push at debug level; nil is silence.
	Log *slog.Logger
}

func (o *Options) setDefaults() {
	if o.NewID == nil {
		o.NewID = randomID
	}
	if o.PushClient == nil {
		o.PushClient = &http.Client{Timeout: 10 * time.Second}
	}
	if o.MaxChannelTTL == 0 {
		o.MaxChannelTTL = 30 * 24 * time.Hour
	}
	if o.SyncTokenLife == 0 {
		o.SyncTokenLife = tooLongAgo
	}
	if o.TombstoneLife == 0 {
		o.TombstoneLife = 30 * 24 * time.Hour
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
}

// Server is the simulator. Safe for concurrent use.
type Server struct {
	opt     Options
	clock   *control.Clock
	control *control.Control
	mux     *http.ServeMux

	mu    sync.Mutex
	world world
	// malformed are by calendar and event. What there is of a calendar is never
	// changed, another takes its place.
	malformed map[string]map[string]malformedFields

	changes int64            // records that were committed, but for those about pushes alone
	journal *control.Journal // nil: in memory
	outbox  outbox
	usage   usage
	masks   masks
	// channelRules are what SetChannelRules set last.
	channelRules ChannelRules
}

// New makes a simulator, with everything that an earlier one answered where
// Options.Dir holds its journal. Pushes are delivered after Start alone, or by
// Deliver.
func New(o Options) (*Server, error) {
	ownClock := o.Clock == nil
	if ownClock {
		o.Clock = control.NewClock(o.Now)
	}
	o.setDefaults()
	s := &Server{
		opt:     o,
		clock:   o.Clock,
		control: control.New(o.Clock, methods()...),
		mux:     http.NewServeMux(),
		world:   newWorld(),

		malformed: map[string]map[string]malformedFields{},

		outbox: newOutbox(),
		usage:  newUsage(o.Quota),
	}
	if o.Dir != "" {
		if err := s.restore(ownClock); err != nil {
			return nil, fmt.Errorf("google simulator: %w", err)
		}
	}
	s.control.Describe(s.describe)
	s.routes()
	return s, nil
}

// Handler serves /calendar/v3/, Google's OAuth (routes.go tells the paths) and
// the controls under /_sim/, which refuse pages of other origins.
func (s *Server) Handler() http.Handler { return control.FromOwnPage(s.mux, s.opt.Origin) }

// Control plants faults and counts calls, as /_sim/faults and /_sim/calls do.
func (s *Server) Control() *control.Control { return s.control }

// commit makes a change durable and then true. The caller holds the lock; on
// an error nothing has changed.
func (s *Server) commit(r record) error {
	if s.journal != nil {
		if err := s.journal.Append(r); err != nil {
			return fmt.Errorf("write the simulator's journal: %w", err)
		}
	}
	if !r.beside() {
		s.changes++
	}
	return s.world.apply(r)
}
