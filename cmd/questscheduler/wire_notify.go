package main

import (
	"context"
	"strconv"

	"questscheduler/calendarsync"
	"questscheduler/internal/accounts"
	"questscheduler/internal/config"
	"questscheduler/notify"
	"questscheduler/scheduler"
)

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

// owners notifies the owners of accounts and calendars of problems that only they
// can solve.
type owners interface {
	calendarsync.Owners
	calendarsync.LinkOwners
}

// owners notifies nobody while the server only observes.
func (s *server) owners(announcer *notify.Announcer, linked *accounts.Repository) owners {
	if s.config.Sync == config.SyncObserve {
		return calendarsync.NobodyTold{}
	}
	return notify.Owners{Announcer: announcer, Occasion: func(ctx context.Context, accountID string) (string, error) {
		account, err := linked.Get(ctx, accountID)
		return strconv.FormatInt(account.Grant, 10), err // each grant fails once
	}}
}
