package main

import (
	"context"
	"time"

	"github.com/google/uuid"

	"questscheduler/calendarsync"
	"questscheduler/internal/config"
	"questscheduler/internal/health"
	"questscheduler/notify"
	"questscheduler/scheduler"
)

// webhookPath is where Google's pushes arrive.
const webhookPath = "/webhooks/google/calendar"

// pushAddress is where Google sends pushes; "" if it cannot reach this server.
func (s *server) pushAddress() string {
	if s.config.PublicURL == "" || s.config.Sync == config.SyncOff {
		return ""
	}
	return s.config.PublicURL + webhookPath
}

// appAnnounces is how long the web app's own functions have to announce what was
// done in the app: longer than a call that is passed on may take.
const appAnnounces = 75 * time.Second

// newScheduler builds the scheduler and the watcher together, since each calls the
// other: the scheduler has calendars watched, and the watcher repairs polls.
func (s *server) newScheduler(google googleAccess, discord discordClient) (*scheduler.Service, *calendarsync.Watcher) {
	var rest time.Duration
	if s.config.CallablesUpstream != "" {
		rest = appAnnounces
	}
	service := &scheduler.Service{
		Store: s.documents, Queue: s.queue, Calendar: calendarsync.Events{Google: google.client, Elsewhere: google.elsewhere}, Accounts: google.accounts,
		Channels: discord, Now: s.now, Wait: wait,
		IDs:    scheduler.IDs{UUID: uuid.NewString, ULID: s.newPrefixedID},
		Settle: s.config.NotifySettle, AppTells: rest, SnapshotKeep: s.config.SnapshotKeep, GroupsPerPerson: s.config.GroupsPerPerson,
		Log: s.log, Meter: s.metrics,
	}
	watcher := &calendarsync.Watcher{
		Store: s.documents, Queue: s.queue, Google: google.client, Polls: s.polls(service), Now: s.now, NewUUID: uuid.NewString, Tokens: google.keys,
		Address: s.pushAddress(), TTL: s.config.WatchTTL, RenewBefore: s.config.RenewBefore, Observing: s.config.Sync == config.SyncObserve,
		Log: s.log, Meter: s.metrics,
	}
	service.Watches = watcher
	return service, watcher
}

func (s *server) newPrefixedID(prefix string) string { return prefix + "_" + s.newID() }

// polls applies what calendars show, or with QS_SYNC=observe only journals it.
func (s *server) polls(service *scheduler.Service) calendarsync.Polls {
	if s.config.Sync == config.SyncObserve {
		return scheduler.Observer{Service: service}
	}
	return service
}

func (s *server) newSyncer(google googleAccess, polls calendarsync.Polls, owners owners) *calendarsync.Looker {
	return &calendarsync.Looker{
		Store: s.documents, Google: google.client, Elsewhere: google.elsewhere, Polls: polls, Owners: owners,
		Observing: s.config.Sync == config.SyncObserve, Now: s.now, MinGap: s.config.SyncMinGap,
		HoldShare: s.config.MassCancelShare, HoldMin: s.config.MassCancelMin, Log: s.log, Meter: s.metrics,
	}
}

func (s *server) newHealth(watcher *calendarsync.Watcher) *health.Reader {
	return &health.Reader{
		Store: s.documents, Now: s.now, Recent: s.config.FallbackEvery + time.Hour, Ending: health.Ending(watcher.RenewBefore),
		Address: s.pushAddress(), Off: s.config.Sync == config.SyncOff,
	}
}

// discordClient is what the parts need of Discord; nil without QS_DISCORD_BOT_TOKEN.
type discordClient interface {
	notify.Discord
	scheduler.Channels
}

func (s *server) newDiscord() (discordClient, error) {
	if !s.config.DiscordBotToken.IsSet() {
		return nil, nil
	}
	return notify.NewDiscordClient(notify.DiscordConfig{
		Token: s.config.DiscordBotToken.Reveal(), Endpoint: s.config.DiscordEndpoint, Transport: s.outbound,
	})
}

func (s *server) newAnnouncer(discord discordClient, polls calendarsync.Polls) *notify.Announcer {
	return &notify.Announcer{
		Store: s.documents, Discord: discord, Now: s.now, AppURL: s.config.AppURL, Own: s.config.DiscordOwn, PerHour: s.config.NoticesPerHour,
		Repair: func(ctx context.Context, pollID, trace string) error {
			_, err := polls.Reconcile(ctx, pollID, scheduler.Cause{Hint: "announcement", Trace: trace})
			return err
		},
		Log: s.log, Meter: s.metrics,
	}
}

// cards keeps the Discord cards of polls that others write; nil functions if this
// server draws none of them.
type cards struct {
	check func(ctx context.Context, pollID, occasion string, cause scheduler.Cause) error
	sweep func(ctx context.Context, at string, cause scheduler.Cause) (int, string, error)
}

func (s *server) cardsOf(service *scheduler.Service, discord discordClient) cards {
	if s.config.DiscordOwn != notify.OwnAll || discord == nil || s.config.Sync != config.SyncOn {
		return cards{}
	}
	return cards{check: service.CheckCard, sweep: service.SweepCards}
}
