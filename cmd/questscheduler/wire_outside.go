package main

import (
	"context"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"questscheduler/api"
	"questscheduler/api/dashboard"
	"questscheduler/calendarsync"
	"questscheduler/internal/config"
	"questscheduler/internal/signin"
	"questscheduler/notify"
	"questscheduler/scheduler"
	webhooks "questscheduler/web-hooks"
)

// answerTimeout is how long a request may take, from its header to the end of its
// answer: longer than api and callables take (AnswerTime), or the client would
// get no answer instead of 503.
const answerTimeout = 90 * time.Second

// wireOutside makes what people and machines meet: announcements and HTTP.
func (s *server) wireOutside() error {
	s.announcer = &notify.Announcer{
		Store: s.documents, Now: s.now, AppURL: s.config.AppURL, Own: s.config.DiscordOwn, Log: s.log,
		Meter: s.metrics, Repair: s.repair, PerHour: s.config.NoticesPerHour,
	}
	owners := s.owners()
	s.looker.Owners = owners
	linked := s.wireLinks(owners)
	if s.config.DiscordBotToken.IsSet() {
		client, err := notify.NewDiscordClient(notify.DiscordConfig{
			Token: s.config.DiscordBotToken.Reveal(), Endpoint: s.config.DiscordEndpoint,
			Transport: s.outbound,
		})
		if err != nil {
			return err
		}
		s.announcer.Discord, s.scheduler.Channels = client, client
	}
	s.dashboard = &dashboard.Reader{
		Store: s.documents, Tasks: s.queue, Accounts: s.health, Now: s.now, Ending: s.health.Ending, Sync: s.config.Sync, Version: version,
	}
	ending, end := context.WithCancel(context.Background())
	verifier := signin.WithAdmins(s.signin, s.config.AdminUsers)
	s.operators = s.machines(s.audiences(), s.config.MachineAccounts...)
	commands := api.NewCommands(s.config.PollCommands, s.now)
	edge := api.New(api.Options{
		Commands: commands, Scheduler: s.scheduler, Calendars: s.watcher, Linked: linked, Health: s.health, Tasks: s.queue, Dashboard: s.dashboard,
		Store: s.documents, Changes: s.documents, Alone: s.config.Store == config.StoreSQLite, // the data file is locked
		SignIn: verifier, Operators: s.operators, Ready: s.isReady,
		AllowedOrigins: s.config.AllowedOrigins, HTTPS: strings.HasPrefix(s.config.PublicURL, "https://"), TrustedProxies: s.config.TrustedProxies,
		Now: s.now, Wait: wait, Ending: ending.Done(), NewID: s.scheduler.IDs.ULID, Log: s.log, Version: version,
		Metrics: s.metrics.Handler(), MetricsToken: s.config.MetricsToken.Reveal(), MetricsHere: s.forThisMachine(), Answered: s.metrics.Answered,
	})
	webhooks.Register(edge, s.pushes(), webhooks.Guard{Admit: api.AdmitPush, Log: api.Sampled(s.log, s.now)})
	s.edge = edge
	s.http = newHTTPServer(edge)
	s.http.WriteTimeout = answerTimeout
	s.http.RegisterOnShutdown(end) // Shutdown waits for streams, which end by nothing else
	return s.wireCallables(verifier, linked, commands)
}

// repair carries a direct edit of a poll through before people are told of it.
func (s *server) repair(ctx context.Context, pollID, trace string) error {
	_, err := s.polls().Reconcile(ctx, pollID, scheduler.Cause{Hint: "announcement", Trace: trace})
	return err
}

// forThisMachine tells whether the server is led to from this machine alone, as
// the demo is, and not by a name of the network.
func (s *server) forThisMachine() bool {
	address, err := url.Parse(s.config.PublicURL)
	if err != nil {
		return false // the settings were checked
	}
	host := address.Hostname()
	return host == "" || host == "localhost" || net.ParseIP(host).IsLoopback()
}

// owners is where the owners of accounts hear what only they can mend.
func (s *server) owners() owners {
	if s.config.Sync == config.SyncObserve {
		return calendarsync.SilentOwners{}
	}
	return notify.Owners{Announcer: s.announcer, Occasion: s.grantOf}
}

// owners are those of calendars and of accounts.
type owners interface {
	calendarsync.Owners
	calendarsync.LinkOwners
}

// pushes is where Google's pushes go.
func (s *server) pushes() webhooks.Pushes {
	if s.config.Sync == config.SyncOff {
		return unheard{s.watcher.Tokens}
	}
	return s.watcher
}

// unheard takes pushes in and does nothing, for a server that follows no
// calendar but still has channels of before: Google is not to send them again.
// Nothing is read, so those that are forged get the same answer, at the rate of
// their address.
type unheard struct{ tokens calendarsync.Tokens }

// Push implements webhooks.Pushes.
func (u unheard) Push(_ context.Context, push calendarsync.Push) error {
	_, proven := u.tokens.VerifyChannelToken(push.Token, push.ChannelID)
	return push.Admit(proven)
}

// grantOf tells one failing of an account from the next.
func (s *server) grantOf(ctx context.Context, accountID string) (string, error) {
	account, err := s.accounts.Get(ctx, accountID)
	return strconv.FormatInt(account.Grant, 10), err
}
