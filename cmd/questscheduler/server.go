package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"
	"github.com/oklog/ulid/v2"

	"questscheduler/api"
	"questscheduler/api/dashboard"
	"questscheduler/calendarsync"
	"questscheduler/internal/accounts"
	"questscheduler/internal/accounts/seal"
	"questscheduler/internal/calendars"
	"questscheduler/internal/config"
	"questscheduler/internal/documentchanges"
	"questscheduler/internal/gcal"
	"questscheduler/internal/health"
	"questscheduler/internal/metrics"
	"questscheduler/internal/poll"
	"questscheduler/internal/queue"
	"questscheduler/internal/queue/cloudtasks"
	"questscheduler/internal/signin"
	"questscheduler/internal/store"
	"questscheduler/internal/store/changes"
	"questscheduler/internal/timers"
	"questscheduler/notify"
	"questscheduler/scheduler"
)

// webhookPath is where Google's pushes arrive.
const webhookPath = "/webhooks/google/calendar"

// server is the whole program, wired: one place where every part meets the
// others. Opening it takes the store; start puts it to work; stop ends it.
type server struct {
	config config.Config
	now    func() time.Time
	log    *slog.Logger
	stores
	documents *changes.Store // the store for all who write documents
	queue     queue.Queue
	tasks     *cloudtasks.Queue // the same, where that is what it is
	signin    signin.Verifier
	issuer    issuer           // nil where others issue people's tokens
	operators *signin.Machines // who may call /jobs, and what else is for machines alone
	accounts  *accounts.Repository
	grants    *accounts.Grants
	google    *gcal.Client
	links     *calendarsync.Links
	consents  *accounts.Linking
	scheduler *scheduler.Service
	looker    *calendarsync.Syncer
	watcher   *calendarsync.Watcher
	health    *health.Reader
	dashboard *dashboard.Reader
	announcer *notify.Announcer
	timers    *timers.Timers
	metrics   *metrics.Metrics
	hints     *documentchanges.Intake
	edge      *echo.Echo
	listener  net.Listener
	http      *http.Server
	patience  time.Duration // stopPatience
	ready     readiness
	outbound  *http.Transport
	vouching  signin.KeySource // machineKeys
	// stopListening ends what startListening began.
	stopListening func()
	failed        chan error // why it stopped answering, though nobody asked it to

	ticking  context.Context //nolint:containedctx // it ends with the server, and nobody else has it
	stopTick context.CancelFunc
}

// kinds are the queues of the program.
var kinds = []string{calendars.SyncKind, scheduler.KindIntent, poll.AnnounceKind, calendarsync.SweepKind, timers.Kind, documentchanges.Kind}

// queries are all queries that the store is asked.
func queries() []*store.Query {
	var all []*store.Query
	for _, some := range [][]*store.Query{poll.Queries, calendars.Queries, accounts.Queries, calendarsync.Queries, notify.Queries, api.Queries, cloudtasks.Queries} {
		all = append(all, some...)
	}
	return all
}

// openServer opens the store and the queue and wires everything to them. now is
// the program's clock.
func openServer(ctx context.Context, cfg config.Config, now func() time.Time, log *slog.Logger) (_ *server, err error) {
	figures := metrics.New(versionText(), now)
	log = slog.New(figures.Log(log.Handler()))
	s := &server{config: cfg, now: now, log: log, metrics: figures, patience: stopPatience, stopListening: func() {}, failed: make(chan error, 1)}
	s.outbound = newTransport(quiet, quietPatience)
	s.ticking, s.stopTick = context.WithCancel(context.WithoutCancel(ctx))
	defer func() {
		if err != nil && s.store != nil {
			err = errors.Join(err, s.closeStores())
		}
	}()
	if s.stores, err = openStores(ctx, cfg, log); err != nil {
		return nil, err
	}
	s.documents = changes.New(s.store)
	if err := s.wireQueue(ctx); err != nil {
		return nil, err
	}
	if err := s.wireSignIn(ctx); err != nil {
		return nil, err
	}
	if err := s.wire(); err != nil {
		return nil, err
	}
	return s, nil
}

// wire makes the parts above the ports.
func (s *server) wire() error {
	keys, err := seal.ParseKeys(s.config.EncKeys.Reveal())
	if err != nil {
		return fmt.Errorf("QS_ENC_KEYS: %w", err)
	}
	s.accounts = accounts.New(accounts.Options{Store: s.documents, Keys: keys, Now: s.now, NewID: func() string { return newULID(s.now()) }})
	s.grants = accounts.NewGrants(accounts.GrantOptions{
		Accounts: s.accounts, ClientID: s.config.GoogleClientID, ClientSecret: s.config.GoogleClientSecret.Reveal(),
		TokenURL: s.oauthURL("/token"), RevokeURL: s.oauthURL("/revoke"), Now: s.now,
		Transport: s.oauthCounted(),
	})
	google := gcal.New(gcal.Options{
		Endpoint: s.config.GoogleEndpoint, Client: s.grants.Client, Refused: s.grants.Refused, Budget: s.budget(), Now: s.now,
		Called: s.metrics.Called,
	})
	s.google = google
	s.watcher = &calendarsync.Watcher{
		Store: s.documents, Queue: s.queue, Google: google, Now: s.now, NewUUID: uuid.NewString, Tokens: keys,
		Address: s.pushAddress(), TTL: s.config.WatchTTL, RenewBefore: s.config.RenewBefore, Log: s.log,
		Meter: s.metrics,
	}
	elsewhere := &calendarsync.MoveFinder{
		Store: s.documents, Accounts: s.accounts, Google: google,
		Calendars: calendarsync.Calendars{Accounts: s.accounts, List: google.Calendars}, Now: s.now,
	}
	s.scheduler = &scheduler.Service{
		Store: s.documents, Queue: s.queue, Calendar: calendarsync.Events{Google: google, MoveFinder: elsewhere}, Accounts: s.accounts,
		Watches: s.watcher, Now: s.now, Wait: wait,
		IDs:    scheduler.IDs{UUID: uuid.NewString, ULID: func(prefix string) string { return prefix + "_" + newULID(s.now()) }},
		Settle: s.config.NotifySettle, AppTells: s.appTells(), SnapshotKeep: s.config.SnapshotKeep,
		GroupsPerPerson: s.config.GroupsPerPerson, Log: s.log,
		Meter: s.metrics,
	}
	observing := s.config.Sync == config.SyncObserve
	s.watcher.Polls, s.watcher.Observing = s.polls(), observing
	s.looker = &calendarsync.Syncer{
		Store: s.documents, Google: google, MoveFinder: elsewhere, Polls: s.polls(), Observing: observing, Now: s.now, MinGap: s.config.SyncMinGap,
		HoldShare: s.config.MassCancelShare, HoldMin: s.config.MassCancelMin, Log: s.log,
		Meter: s.metrics,
	}
	s.health = &health.Reader{
		Store: s.documents, Now: s.now, Recent: s.config.FallbackEvery + time.Hour, Ending: health.Ending(s.watcher.RenewBefore),
		Address: s.pushAddress(), Off: s.config.Sync == config.SyncOff,
	}
	if err := s.wireOutside(); err != nil {
		return err
	}
	s.wireTimers()
	s.wireMachines()
	s.metrics.Read(metrics.Stored{
		Depths: s.queue.Depths, Records: s.timers.Records, Figures: s.health.Figures, Log: s.log,
	})
	s.wireHints()
	return nil
}

// polls is where what is seen of calendars goes: it is applied, or with
// QS_SYNC=observe only journaled.
func (s *server) polls() calendarsync.Polls {
	if s.config.Sync == config.SyncObserve {
		return scheduler.Observer{Service: s.scheduler}
	}
	return s.scheduler
}

// budget holds our calls under Google's quotas; a simulator has none, or its own.
func (s *server) budget() *gcal.Budget {
	if s.config.GoogleEndpoint != "" {
		return nil
	}
	return gcal.NewBudget(gcal.BudgetOptions{Now: s.now, Wait: wait})
}

// oauthURL is an OAuth endpoint of a simulator; "" is Google's own.
func (s *server) oauthURL(path string) string {
	if s.config.GoogleEndpoint == "" {
		return ""
	}
	return s.config.GoogleEndpoint + path
}

// oauthCounted makes the calls of Google, and counts those of its OAuth
// endpoints; the others are counted by the client of the calendar.
func (s *server) oauthCounted() http.RoundTripper {
	return s.metrics.OAuth(s.outbound, cmp.Or(s.oauthURL("/token"), accounts.GoogleTokenURL))
}

// pushAddress is where Google is told to push; "" where it cannot reach us.
func (s *server) pushAddress() string {
	if s.config.PublicURL == "" || s.config.Sync == config.SyncOff {
		return ""
	}
	return s.config.PublicURL + webhookPath
}

// lookLater leaves a look to a server that follows calendars: with QS_SYNC=off
// nothing is looked at, and nothing that was owed is forgotten.
func lookLater(context.Context, queue.Delivery) queue.Verdict {
	return queue.Verdict{Outcome: queue.Later, After: 10 * time.Minute}
}

// handlers are what the queue runs, by kind.
func (s *server) handlers() map[string]queue.Handler {
	look, sweep := s.looker.Handle, s.watcher.HandleSweep
	if s.config.Sync == config.SyncOff {
		look, sweep = lookLater, lookLater
	}
	return s.metrics.Handlers(map[string]queue.Handler{
		calendars.SyncKind:   look,
		scheduler.KindIntent: s.scheduler.HandleIntent,
		poll.AnnounceKind:    s.announcer.Handle,

		calendarsync.SweepKind: sweep,
		timers.Kind:            s.timers.Handle,
		documentchanges.Kind:   s.hints.Handle,
	})
}

// wallClock is the time without what Go measures beside it, which stands still
// while the machine does: by it an access token that ended an hour ago would still
// be good on a laptop that slept meanwhile, or in an instance that was frozen.
func wallClock() time.Time { return time.Now().Round(0) }

// newULID is a ULID for the time; ids made within one millisecond grow too.
func newULID(now time.Time) string {
	return ulid.MustNew(ulid.Timestamp(now), ulid.DefaultEntropy()).String()
}

// newToken is a secret that nobody can guess.
func newToken() (string, error) {
	secret := make([]byte, 32)
	if _, err := rand.Read(secret); err != nil {
		return "", err
	}
	return hex.EncodeToString(secret), nil
}

// wait returns after d, or with ctx's error where that ends first.
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
