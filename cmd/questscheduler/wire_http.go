package main

import (
	"context"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"questscheduler/api"
	"questscheduler/api/callables"
	"questscheduler/availability"
	"questscheduler/calendarsync"
	"questscheduler/feed"
	"questscheduler/groupevents"
	"questscheduler/internal/accounts"
	"questscheduler/internal/config"
	"questscheduler/internal/gcal"
	"questscheduler/internal/signin"
	"questscheduler/mirrors"
	"questscheduler/operations/health"
	"questscheduler/scheduler"
	webhooks "questscheduler/web-hooks"
	"questscheduler/web-hooks/documentchanges"
	"questscheduler/web-hooks/timers"
)

// answerTimeout is how long a request may take, from its header to the end of its
// answer: longer than api and callables take (AnswerTime), or the client would get
// no answer instead of 503.
const answerTimeout = 90 * time.Second

// routes are the parts behind the HTTP routes.
type routes struct {
	signIn       signIn
	scheduler    *scheduler.Service
	watcher      *calendarsync.Watcher
	groups       *groupevents.Service
	linked       api.LinkedAccounts
	mirroring    mirroring
	mappings     api.Mappings // nil if second addresses are off
	availability *availability.Service
	health       *health.Reader
	timers       *timers.Timers
	changed      *documentchanges.Intake
}

// newFeeds builds the calendar feeds, which end with their owners' sign-ins.
func (s *server) newFeeds(to routes) *feed.Service {
	return &feed.Service{
		Store: s.documents, Now: s.now, URL: reachedAt(s.config), AppURL: s.config.AppURL, SignIns: to.signIn.revoked,
		MembersListed: s.config.GroupMembers == config.MembersListed,
	}
}

// newEdge builds every route: the API, the web app's calls, and what machines call.
func (s *server) newEdge(to routes) (*echo.Echo, error) {
	operators, deliverers := s.newMachines()
	people := signin.WithAdmins(to.signIn.people, s.config.AdminUsers)
	commands := api.NewCommands(s.config.PollCommands, s.now)
	browsers := origins(append([]string{s.config.AppURL}, s.config.AllowedOrigins...))
	edge := api.New(api.Options{
		Commands: commands, Scheduler: to.scheduler, GroupEvents: to.groups, Calendars: to.watcher, Accounts: to.linked,
		Policies: mirrors.Policies{Service: to.mirroring.service}, Events: to.mirroring.events, Mappings: to.mappings,
		Availability: to.availability, Health: to.health, Work: s.outbox,
		Feeds: s.newFeeds(to), Discord: s.discordLinks(),
		Store: s.documents, Changes: s.documents, SingleProcess: s.config.Store == config.StoreSQLite, // the data file is locked
		SignIn: people, Operators: operators, Ready: s.isReady,
		AllowedOrigins: browsers, TrustedProxies: s.config.TrustedProxies,
		HTTPS: strings.HasPrefix(s.config.PublicURL, "https://"),
		Now:   s.now, Wait: wait, Stopping: s.ending.Done(), NewID: s.newPrefixedID, Log: s.log, Version: version,
		Metrics: s.metrics.Handler(), MetricsToken: s.config.MetricsToken.Reveal(), MetricsLocal: s.forThisMachine(),
		OnAnswer: s.metrics.Answered,
	})
	var pushes webhooks.Pushes = to.watcher
	var documents webhooks.Documents = &documentchanges.RecordedIntake{Intake: to.changed, Store: s.documents, Log: s.log}
	if s.config.Sync == config.SyncOff {
		pushes, documents = pushSink{to.watcher.Tokens}, documentSink{}
	}
	webhooks.Register(edge, pushes, webhooks.Guard{Admit: api.AdmitPush, Log: api.Sampled(s.log, s.now)})
	webhooks.RegisterDocuments(edge, operators, documents)
	webhooks.RegisterJobs(edge, operators, to.timers)
	s.registerInteractions(edge, to, commands)
	if s.tasks != nil {
		webhooks.RegisterTasks(edge, deliverers, s.tasks)
	}
	return edge, callables.Register(edge, callables.Options{
		Polls: to.scheduler, SignIn: people, StartLink: startLink(to.linked), Calendars: calendarsOf(to.linked), Availability: to.availability,
		LimitPerson: api.LimitPerson(api.Rate{}, s.now), LimitAddress: api.LimitAddress(api.Rate{}, s.now), Count: commands.Count,
		Upstream: s.config.CallablesUpstream, Origins: browsers,
		Callback: api.PathCallback, Log: s.log, Refused: api.Sampled(s.log, s.now),
	})
}

// forThisMachine reports whether the server's address leads here from this machine
// alone, as the demo's does.
func (s *server) forThisMachine() bool {
	address, err := url.Parse(s.config.PublicURL)
	if err != nil {
		return false // the settings were checked
	}
	host := address.Hostname()
	return host == "" || host == "localhost" || net.ParseIP(host).IsLoopback()
}

// pushSink acknowledges pushes without a sync (QS_SYNC=off), so that Google does not
// send them again: channels of an earlier setting may still live. Nothing is read,
// so forged pushes get the same answer, at the rate of their address.
type pushSink struct{ tokens calendarsync.Tokens }

// Push implements webhooks.Pushes.
func (p pushSink) Push(_ context.Context, push calendarsync.Push) error {
	_, proven := p.tokens.VerifyChannelToken(push.Token, push.ChannelID)
	return push.Admit(proven)
}

// documentSink ignores document changes (QS_SYNC=off).
type documentSink struct{}

// Changed implements webhooks.Documents.
func (documentSink) Changed(context.Context, string, string) error { return nil }

// startLink gives where a user's browser begins to link a Google account.
func startLink(linked api.LinkedAccounts) func(context.Context, signin.Person) (string, error) {
	return func(ctx context.Context, person signin.Person) (string, error) {
		ask := accounts.Ask{PersonID: person.UID}
		if person.EmailVerified {
			ask.PersonName = person.Email
		}
		address, _, err := linked.Start(ctx, ask)
		return address, err
	}
}

// calendarsOf lists the calendars of all accounts that a user linked, each once; the
// primary calendar is that of the first account. It fails only if no account could
// be read.
func calendarsOf(linked api.LinkedAccounts) func(context.Context, string) ([]gcal.CalendarEntry, error) {
	return func(ctx context.Context, uid string) ([]gcal.CalendarEntry, error) {
		first, err := linked.Accounts.Default(ctx, uid)
		if err != nil { // none is linked
			return nil, err
		}
		all, err := linked.Accounts.List(ctx, uid)
		if err != nil {
			return nil, err
		}
		var found []gcal.CalendarEntry
		var failed error
		for _, account := range all {
			if account.Status == accounts.Unlinked {
				continue
			}
			entries, _, err := linked.CalendarsOf(ctx, account)
			if err != nil && failed == nil {
				failed = err
			}
			for _, entry := range entries {
				entry.Primary = entry.Primary && account.ID == first.ID
				if !slices.ContainsFunc(found, func(other gcal.CalendarEntry) bool { return other.ID == entry.ID }) {
					found = append(found, entry)
				}
			}
		}
		if len(found) > 0 {
			return found, nil
		}
		return nil, failed
	}
}
