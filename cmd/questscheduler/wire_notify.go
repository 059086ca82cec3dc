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

// newDiscord returns nil without QS_DISCORD_BOT_TOKEN.
func (s *server) newDiscord() (*notify.DiscordClient, error) {
	if !s.config.DiscordBotToken.IsSet() {
		return nil, nil
	}
	return notify.NewDiscordClient(s.config.DiscordBotToken.Reveal(), s.config.DiscordEndpoint, s.outbound)
}

// notifyChannels registers the channels that carry announcements.
func (s *server) notifyChannels(inApp *notify.InApp, discord *notify.DiscordClient) []notify.Channel {
	channels := []notify.Channel{inApp}
	if discord != nil {
		channels = append(channels, &notify.Discord{
			API: discord, Store: s.documents, Now: s.now, AppURL: s.config.AppURL, Cards: s.drawsCards(),
			Votes: s.config.CallablesUpstream != "", Answers: s.config.InteractionKey() != nil, Log: s.log,
		})
	}
	return channels
}

func (s *server) newAnnouncer(channels []notify.Channel, polls calendarsync.Polls) *notify.Announcer {
	return &notify.Announcer{
		Store: s.documents, Now: s.now, Channels: channels, PerHour: s.config.NoticesPerHour,
		Repair: func(ctx context.Context, pollID, trace string) error {
			_, err := polls.Reconcile(ctx, pollID, scheduler.Cause{Trigger: "announcement", Trace: trace})
			return err
		},
		Log: s.log, Meter: s.metrics.Count,
	}
}

// drawsCards reports whether this server draws the polls' cards on Discord.
func (s *server) drawsCards() bool {
	return s.config.DiscordOwn == config.DiscordAll && s.config.DiscordBotToken.IsSet()
}

// cards keeps the Discord cards of polls; nil functions if this server draws none of them.
type cards struct {
	// check and sweep are for polls that others write.
	check func(ctx context.Context, pollID string, cause scheduler.Cause) error
	sweep func(ctx context.Context, at string, cause scheduler.Cause) (int, string, error)
	// checkOf is for a group that a person gives a channel here.
	checkOf func(ctx context.Context, groupID, at string, cause scheduler.Cause) (string, error)
}

func (s *server) cardsOf(service *scheduler.Service) cards {
	switch {
	case !s.drawsCards():
		return cards{}
	case s.config.Sync != config.SyncOn: // commands still work
		return cards{checkOf: service.CheckCards}
	default:
		return cards{check: service.CheckCard, sweep: service.SweepCards, checkOf: service.CheckCards}
	}
}

// owners notifies the owners of accounts and calendars of problems that only they
// can solve.
type owners interface {
	calendarsync.Owners
	calendarsync.LinkOwners
}

// owners notifies nobody while the server only observes.
func (s *server) owners(inApp *notify.InApp, linked *accounts.Repository) owners {
	if s.config.Sync == config.SyncObserve {
		return calendarsync.SilentOwners{}
	}
	return notify.Owners{InApp: inApp, Occasion: func(ctx context.Context, accountID string) (string, error) {
		account, err := linked.Get(ctx, accountID)
		return strconv.FormatInt(account.Grant, 10), err // each grant fails once
	}}
}
