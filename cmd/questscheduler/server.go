package main

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"questscheduler/api"
	"questscheduler/attendees"
	"questscheduler/attendees/mappings"
	"questscheduler/availability"
	"questscheduler/calendarsync"
	"questscheduler/fault"
	"questscheduler/groupevents"
	"questscheduler/internal/accounts"
	"questscheduler/internal/bodylimit"
	"questscheduler/internal/calendars"
	"questscheduler/internal/config"
	"questscheduler/internal/discord"
	"questscheduler/internal/ids"
	"questscheduler/internal/mirror"
	"questscheduler/internal/outbox"
	"questscheduler/internal/outbox/cloudtasks"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/store/changes"
	"questscheduler/mirrors"
	"questscheduler/notify"
	"questscheduler/operations/health"
	"questscheduler/operations/metrics"
	"questscheduler/operations/transfer"
	"questscheduler/scheduler"
	"questscheduler/web-hooks/documentchanges"
	"questscheduler/web-hooks/timers"
)

// kinds are all kinds of work; with Cloud Tasks each has a queue of its own. kindsOf are those
// in use.
var kinds = []string{
	calendars.SyncKind, calendarsync.SweepKind, calendarsync.WatchKind, calendarsync.LinkKind, scheduler.KindIntent, poll.AnnounceKind,
	documentchanges.Kind, timers.Kind, poll.GroupWorkKind, mirrors.PlanKind, mirrors.EventKind, mirrors.WriteKind, attendees.Kind,
}

// queries are all queries that the program runs.
func queries() []*store.Query {
	return slices.Concat(
		poll.Queries, discord.Queries, calendars.Queries, accounts.Queries, calendarsync.Queries, notify.Queries, api.Queries, timers.Queries,
		mirror.Queries, attendees.Queries, mappings.Queries, availability.Queries, groupevents.Queries,
	)
}

// server is what the parts are built on: settings, clock, log, stores, outbox and
// outgoing connections. The wire_*.go files hold a constructor for each part.
type server struct {
	config   config.Config
	now      func() time.Time
	log      *slog.Logger
	metrics  *metrics.Metrics
	outbound *http.Transport
	stores
	documents *changes.Store       // the store, for parts that write documents
	outbox    *outbox.Outbox       // what the kinds of work are added to
	pool      *outbox.Pool         // what runs the work, else nil
	tasks     *cloudtasks.Waker    // what Cloud Tasks delivers, else nil
	ready     health.Cached[error] // why the server cannot work
	ending    context.Context      // done when the server stops
	end       context.CancelFunc
}

// program is the server with the parts that commands use. start puts it to work,
// stop ends it; a command that needs single parts does not start it.
type program struct {
	*server
	accounts     *accounts.Repository
	consents     *accounts.Linking
	issuer       issuer // nil with Firebase, which issues its users' tokens
	scheduler    *scheduler.Service
	watcher      *calendarsync.Watcher
	timers       *timers.Timers
	pollListener *documentchanges.Listener // nil unless it listens to Firestore
	edge         *echo.Echo
	http         *http.Server
	patience     time.Duration // stopPatience
	failed       chan error    // why the server cannot go on; sent once
	listening    sync.WaitGroup
}

// openProgram opens the stores and the waker and builds all parts. now is the
// program's clock.
func openProgram(ctx context.Context, cfg config.Config, now func() time.Time, log *slog.Logger) (*program, error) {
	s, err := openServer(ctx, cfg, now, log)
	if err != nil {
		return nil, err
	}
	p, err := s.wire(ctx)
	if err != nil {
		return nil, errors.Join(err, s.closeStores())
	}
	return p, nil
}

func openServer(ctx context.Context, cfg config.Config, now func() time.Time, log *slog.Logger) (*server, error) {
	counted := metrics.New(versionText(), now, kinds)
	log = slog.New(counted.Log(log.Handler()))
	opened, err := openStores(ctx, cfg, log)
	if err != nil {
		return nil, err
	}
	// A store that does not answer is no reason not to start: /readyz reports it.
	if err := transfer.Unfinished(ctx, opened.store); fault.Is(err, fault.Conflict) {
		return nil, errors.Join(err, opened.close())
	}
	documents := changes.New(opened.store)
	ending, end := context.WithCancel(context.WithoutCancel(ctx))
	s := &server{
		config: cfg, now: now, log: log, metrics: counted, outbound: newTransport(quiet, quietPatience),
		stores: opened, documents: documents, ending: ending, end: end,
	}
	if err := s.newOutbox(ctx); err != nil {
		return nil, errors.Join(err, s.closeStores())
	}
	return s, nil
}

// wire builds the parts, each from those above it.
func (s *server) wire(ctx context.Context) (*program, error) {
	signIn, err := s.newSignIn(ctx)
	if err != nil {
		return nil, err
	}
	google, err := s.newGoogle()
	if err != nil {
		return nil, err
	}
	discord, err := s.newDiscord()
	if err != nil {
		return nil, err
	}
	service, watcher := s.newScheduler(google, discord)
	polls := s.polls(service)
	inApp := &notify.InApp{Store: s.documents, Now: s.now, AppURL: s.config.AppURL}
	announcer := s.newAnnouncer(s.notifyChannels(inApp, discord), polls)
	owners := s.owners(inApp, google.accounts)
	mirroring := s.newMirroring(google, watcher)
	attending := s.newAttending(google, watcher)
	syncer := s.newSyncer(google, polls, owners, append(attending.consumers(), mirrors.Consumer{Service: mirroring.service})...)
	cards := s.cardsOf(service)
	groups := s.newGroupEvents(mirroring.service, cards)
	links := s.newLinks(google, watcher, polls, owners, append(attending.listeners(), groups, mirroring.writer))
	jobs := s.newTimers(google, watcher, cards, groups, mirroring, attending)
	health := s.newHealth(watcher, jobs.Jobs)
	changed := &documentchanges.Intake{Outbox: s.outbox, Polls: polls, Now: s.now, NewTrace: s.newTrace, Cards: cards.check}
	err = s.addWork(append(
		attending.work(), service.Intents(), announcer.Work(), links.Work(), s.withSync(syncer.Work()),
		s.withSync(watcher.Sweeps()), s.withSync(watcher.Channels()),
		groups.Work(), mirroring.service.PlanWork(), mirroring.service.EventWork(), s.withSync(mirroring.writer.Work()),
		jobs.Work(), changed.Work(),
	)...)
	if err != nil {
		return nil, err
	}
	consents := s.newConsents(google)
	edge, err := s.newEdge(routes{
		signIn: signIn, scheduler: service, watcher: watcher, groups: groups, health: health, timers: jobs, changed: changed,
		mirroring: mirroring, mappings: attending.loader(), availability: s.newAvailability(google),
		linked: api.LinkedAccounts{
			Accounts: google.accounts, Consents: consents, Calendars: google.client.Calendars, Follow: links.Follow, URL: reachedAt(s.config),
		},
	})
	if err != nil {
		return nil, err
	}
	s.metrics.Read(metrics.Stored{Work: s.outbox, Records: jobs.Records, Figures: health.Figures, Log: s.log})
	return &program{
		server: s, accounts: google.accounts, consents: consents, issuer: signIn.issuer,
		scheduler: service, watcher: watcher, timers: jobs,
		pollListener: s.newListener(changed, cards),
		edge:         edge, http: bodylimit.Server(edge, answerTimeout), patience: stopPatience, failed: make(chan error, 1),
	}, nil
}

// wallClock is the time without Go's monotonic reading, which stands still while
// the machine sleeps: an access token that expired in the meantime would seem valid.
func wallClock() time.Time { return time.Now().Round(0) }

func (s *server) newID() string { return ids.ULID(s.now()) }

// newTrace is an ID for everything that one trigger causes.
func (s *server) newTrace() string { return "trc_" + s.newID() }

// wait returns after d, or with ctx's error if that ends first.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
