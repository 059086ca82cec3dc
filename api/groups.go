package api

import (
	"context"
	"net/http"

	"questscheduler/poll"
	"questscheduler/scheduler"
)

// groupRoutes are the routes of groups: people who play together, and the
// Discord channel where they hear of it.
func (s *server) groupRoutes() {
	const tag = "groups"
	route(s, operation{
		id: "create-group", method: http.MethodPost, path: "/v1/groups", tag: tag, status: http.StatusCreated,
		audience: persons, vouched: true, summary: "Make a group",
	}, s.createGroup)
	route(s, operation{
		id: "get-group", method: http.MethodGet, path: "/v1/groups/{id}", tag: tag,
		audience: groupMembers, names: namesGroup, summary: "A group",
	}, s.getGroup)
	route(s, operation{
		id: "update-group", method: http.MethodPatch, path: "/v1/groups/{id}", tag: tag,
		audience: groupCreator, names: namesGroup, summary: "Change a group; what is left out stays",
	}, s.updateGroup)
}

type createGroup struct {
	Body createGroupBody
}

type createGroupBody struct {
	Name      string        `json:"name" minLength:"1" maxLength:"200"`
	MemberIDs []personID    `json:"member_ids,omitempty" maxItems:"500" doc:"The creator is a member anyway."`
	Discord   *discordInput `json:"discord,omitempty"`
}

type updateGroup struct {
	ID   string `path:"id" doc:"The group's id."`
	Body updateGroupBody
}

type updateGroupBody struct {
	Name      *string       `json:"name,omitempty" minLength:"1" maxLength:"200"`
	MemberIDs []personID    `json:"member_ids,omitempty" maxItems:"500"`
	Discord   *discordInput `json:"discord,omitempty" doc:"Given whole: it takes the place of what was set."`
}

// discordInput is where and how a group hears on Discord.
type discordInput struct {
	GuildID       string        `json:"guild_id,omitempty" maxLength:"20"`
	ChannelID     string        `json:"channel_id,omitempty" maxLength:"20"`
	NotifyRoleID  string        `json:"notify_role_id,omitempty" maxLength:"20" doc:"everyone, none or a role's id; left out: everyone."`
	Notifications discordWishes `json:"notifications,omitzero"`
}

// discordWishes are what a group wants to hear, by the names that the web app
// has for them.
type discordWishes struct {
	FinalizationEvents *bool `json:"finalizationEvents,omitempty"`
	SlotChanges        *bool `json:"slotChanges,omitempty"`
	VoteSubmitted      *bool `json:"voteSubmitted,omitempty"`
	AllVotesIn         *bool `json:"allVotesIn,omitempty"`
}

// byName gives the wishes as they are stored; what is left out is absent.
func (w discordWishes) byName() map[string]bool {
	wishes := map[string]bool{}
	for name, wish := range map[string]*bool{
		"finalizationEvents": w.FinalizationEvents, "slotChanges": w.SlotChanges,
		"voteSubmitted": w.VoteSubmitted, "allVotesIn": w.AllVotesIn,
	} {
		if wish != nil {
			wishes[name] = *wish
		}
	}
	return wishes
}

func (d *discordInput) asked() *poll.GroupDiscord {
	if d == nil {
		return nil
	}
	return &poll.GroupDiscord{
		GuildID: d.GuildID, ChannelID: d.ChannelID, NotifyRoleID: d.NotifyRoleID, Notifications: d.Notifications.byName(),
	}
}

type onGroup struct {
	ID string `path:"id" doc:"The group's id."`
}

// groupAnswer is a group as its members see it.
type groupAnswer struct {
	ID        string        `json:"id"`
	Name      string        `json:"name"`
	CreatorID string        `json:"creator_id"`
	MemberIDs []string      `json:"member_ids"`
	Discord   discordAnswer `json:"discord"`
}

type discordAnswer struct {
	GuildID       *string         `json:"guild_id"`
	ChannelID     *string         `json:"channel_id"`
	NotifyRoleID  string          `json:"notify_role_id" doc:"everyone, none or a role's id."`
	Notifications map[string]bool `json:"notifications" doc:"What was wished; the rest is as the web app has it by default."`
}

func answerGroup(g poll.Group) groupAnswer {
	role, wishes := g.Discord.NotifyRoleID, g.Discord.Notifications
	if role == "" {
		role = poll.NotifyEveryone
	}
	if wishes == nil {
		wishes = map[string]bool{}
	}
	return groupAnswer{
		ID: g.ID, Name: g.Name, CreatorID: g.CreatorID, MemberIDs: each(g.MemberIDs, itself),
		Discord: discordAnswer{
			GuildID: optional(g.Discord.GuildID), ChannelID: optional(g.Discord.ChannelID), NotifyRoleID: role, Notifications: wishes,
		},
	}
}

func (s *server) createGroup(ctx context.Context, by caller, in *createGroup) (groupAnswer, error) {
	group, err := s.Scheduler.CreateGroup(ctx, by.person, scheduler.EditGroup{
		Name: &in.Body.Name, MemberIDs: texts(in.Body.MemberIDs), Discord: in.Body.Discord.asked(),
	})
	return answerGroup(group), err
}

func (s *server) getGroup(ctx context.Context, by caller, in *onGroup) (groupAnswer, error) {
	group, err := s.Scheduler.Group(ctx, by.person, in.ID)
	return answerGroup(group), err
}

func (s *server) updateGroup(ctx context.Context, by caller, in *updateGroup) (groupAnswer, error) {
	group, err := s.Scheduler.UpdateGroup(ctx, by.person, in.ID, scheduler.EditGroup{
		Name: in.Body.Name, MemberIDs: texts(in.Body.MemberIDs), Discord: in.Body.Discord.asked(),
	})
	return answerGroup(group), err
}
