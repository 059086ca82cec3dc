package main

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"questscheduler/api"
	"questscheduler/fault"
	"questscheduler/internal/config"
	"questscheduler/internal/discord"
	"questscheduler/web-hooks/interactions"
)

// pressesPerMinute is how many interactions a Discord user may cause a minute.
const pressesPerMinute = 30

// discordLinks links Discord users to people.
func (s *server) discordLinks() discord.Links {
	return discord.Links{
		Store: s.documents, Now: s.now, Moves: s.config.Auth == config.AuthLocal, Guilds: s.config.DiscordGuilds,
	}
}

// registerInteractions adds the route of what people do on Discord, where the settings name the
// application.
func (s *server) registerInteractions(edge *echo.Echo, to routes, commands *api.Commands) {
	key := s.config.InteractionKey()
	if key == nil {
		return
	}
	appURL := s.config.AppURL
	if appURL == s.config.PublicURL {
		appURL = "" // this server has no page of polls
	}
	interactions.Register(edge, interactions.Options{
		Polls: to.scheduler, Groups: to.scheduler, Links: s.discordLinks(), Store: s.documents,
		HasCalendar: func(ctx context.Context, uid string) (bool, error) {
			_, err := to.linked.Accounts.Default(ctx, uid)
			if fault.Is(err, fault.Revoked) || fault.Is(err, fault.NotFound) {
				return false, nil
			}
			return err == nil, err
		},
		EmailOf:       to.signIn.emailOf,
		Count:         commands.Count,
		ApplicationID: s.config.DiscordApplicationID, Key: key,
		Upstream: s.config.DiscordUpstream, HTTP: &http.Client{
			Transport:     s.outbound,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}, AppURL: appURL,
		Refuse:    func(c echo.Context) error { return api.AdmitPush(c, "", false) },
		LimitUser: api.LimitPerson(api.Rate{PerSecond: pressesPerMinute / 60.0, Burst: pressesPerMinute}, s.now),
		Now:       s.now, Log: s.log, Refused: api.Sampled(s.log, s.now),
	})
}
