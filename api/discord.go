package api

import (
	"context"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/discord"
)

func (s *server) discordRoutes() {
	route(s, "GET /v1/me/discord", "get-my-discord", persons, "The Discord user that the caller is linked to", s.myDiscord)
	route(s, "POST /v1/me/discord", "link-my-discord", persons,
		"Link the Discord user of a code, which /quest me-code gives; without confirm only say whose code it is", s.linkDiscord)
	route(s, "DELETE /v1/me/discord", "unlink-my-discord", persons, "End the caller's link", s.unlinkDiscord)
	route(s, "POST /v1/groups/{id}/discord-link-code", "make-discord-link-code", groupManagers,
		"Make a code by which who manages a channel of Discord gives it to the group, with /link-group or /quest link",
		s.makeDiscordLinkCode, created)
}

type discordLinkAnswer struct {
	Linked        bool       `json:"linked"`
	DiscordUserID *string    `json:"discord_user_id"`
	Username      *string    `json:"username" doc:"As Discord showed it when they were linked, or when the code was made."`
	LinkedAt      *time.Time `json:"linked_at"`
}

func answerDiscord(state discord.State, linked bool) discordLinkAnswer {
	return discordLinkAnswer{
		Linked: linked && state.User.ID != "", DiscordUserID: optional(state.User.ID), Username: optional(state.User.Username),
		LinkedAt: instant(state.At),
	}
}

func (s *server) myDiscord(ctx context.Context, by caller, _ *struct{}) (discordLinkAnswer, error) {
	state, err := discord.StateOf(ctx, s.Store, by.person.ID)
	return answerDiscord(state, true), err
}

type linkDiscordInput struct {
	Body struct {
		Code    string `json:"code" minLength:"1" maxLength:"40" doc:"As the bot gave it, in upper or lower case."`
		Confirm bool   `json:"confirm,omitempty" doc:"Link the user whom the answer named without it. Confirm only for yourself: who gave you the code acts as you on Discord afterwards."`
	}
}

func (s *server) linkDiscord(ctx context.Context, by caller, in *linkDiscordInput) (discordLinkAnswer, error) {
	if !in.Body.Confirm {
		user, err := s.Discord.Look(ctx, by.person.ID, in.Body.Code)
		return answerDiscord(discord.State{User: user}, false), err
	}
	state, err := s.Discord.Link(ctx, by.person.ID, in.Body.Code)
	return answerDiscord(state, true), err
}

type discordLinkCodeAnswer struct {
	Code      string    `json:"code" doc:"It works once, in upper or lower case."`
	ExpiresAt time.Time `json:"expires_at"`
}

func (s *server) makeDiscordLinkCode(ctx context.Context, by caller, in *onGroup) (discordLinkCodeAnswer, error) {
	group, err := s.Scheduler.ManagedGroup(ctx, by.person, in.ID)
	if err != nil {
		return discordLinkCodeAnswer{}, err
	}
	code, expires, err := s.Discord.IssueForGroup(ctx, discord.GroupCode{UID: by.person.ID, GroupID: group.ID})
	return discordLinkCodeAnswer{code, expires}, err
}

func (s *server) unlinkDiscord(ctx context.Context, by caller, _ *struct{}) (discordLinkAnswer, error) {
	if !s.Discord.Moves {
		return discordLinkAnswer{}, fault.New(fault.Conflict, "You sign in with Discord. End the link in the app's settings.")
	}
	return discordLinkAnswer{}, s.Discord.Unlink(ctx, by.person.ID)
}
