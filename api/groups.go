package api

import (
	"context"
	"reflect"

	"questscheduler/groupevents"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/scheduler"
)

// groupRoutes are the routes of groups: people who play together, with a Discord
// channel.
func (s *server) groupRoutes() {
	route(s, "POST /v1/groups", "create-group", persons,
		"Make a group, and invite people to it", s.createGroup, created, vouched)
	route(s, "GET /v1/groups", "list-groups", persons,
		"The groups that the caller created, belongs to or is invited to (invited: true), sorted by id", s.listGroups)
	route(s, "GET /v1/groups/{id}", "get-group", groupReaders, "A group; invitees see only its name", s.getGroup)
	route(s, "PATCH /v1/groups/{id}", "update-group", groupCreator, "Change a group; absent fields stay", s.updateGroup)
	route(s, "POST /v1/groups/{id}/accept-invite", "accept-group-invite", groupJoiners,
		"Accept an invitation to a group", s.acceptGroup)
	route(s, "POST /v1/groups/{id}/decline-invite", "decline-group-invite", invitees,
		"Decline an invitation to a group", s.declineGroup)
	route(s, "POST /v1/groups/{id}/leave", "leave-group", groupLeavers,
		"Leave a group; its events are deleted from the caller's accounts, and their votes stay", s.leaveGroup)
}

type createGroupBody struct {
	Name      string        `json:"name" minLength:"1" maxLength:"200"`
	MemberIDs []personID    `json:"member_ids,omitempty" maxItems:"501" doc:"The people to invite, at most 500; the creator is always a member."`
	Discord   *discordInput `json:"discord,omitempty" doc:"Only admins set it, except join."`
}

type updateGroup struct {
	ID   string `path:"id" doc:"The group's id."`
	Body updateGroupBody
}

type updateGroupBody struct {
	Name      *string       `json:"name,omitempty" minLength:"1" maxLength:"200"`
	MemberIDs []personID    `json:"member_ids,omitempty" maxItems:"501" doc:"All members of the group, at most 500 beside the creator: people who are not members are invited, and members who are absent from it are removed, with the group's events in their accounts. Invitations stay; remove_member_ids withdraws them."`
	Add       []personID    `json:"add_member_ids,omitempty" maxItems:"500" doc:"The people to invite; everybody else stays. Not together with member_ids."`
	Remove    []personID    `json:"remove_member_ids,omitempty" maxItems:"500" doc:"The members, with the group's events in their accounts, and invitees to remove; everybody else stays. Not together with member_ids; nobody may be in add_member_ids too."`
	Discord   *discordInput `json:"discord,omitempty" doc:"Only admins set it, and it replaces the earlier settings as a whole; except join, which stays without it, and with which alone the others stay."`
	// ShareSessions is a setting of ours, not of the web app's document.
	ShareSessions *bool `json:"share_sessions,omitempty" doc:"Show the sessions of the group's finalised polls in every connected account."`
}

type discordInput struct {
	GuildID       string        `json:"guild_id,omitempty" maxLength:"20" doc:"Required with channel_id."`
	ChannelID     string        `json:"channel_id,omitempty" maxLength:"20" doc:"A channel of that guild that the bot can see; absent: the group has none."`
	NotifyRoleID  string        `json:"notify_role_id,omitempty" maxLength:"20" doc:"everyone, none or a role's id; absent: everyone."`
	Notifications discordWishes `json:"notifications,omitzero"`
	Join          *string       `json:"join,omitempty" enum:"members,channel" doc:"Who takes part in the group's polls from its channel: its members, or everybody who sees the channel and votes there (channel). Only the group's creator sets it. It is members again once somebody else gives the group another channel."`
}

// discordWishes are the events that a group wants, by the web app's names.
type discordWishes struct {
	FinalizationEvents *bool `json:"finalizationEvents,omitempty"`
	SlotChanges        *bool `json:"slotChanges,omitempty"`
	VoteSubmitted      *bool `json:"voteSubmitted,omitempty"`
	AllVotesIn         *bool `json:"allVotesIn,omitempty"`
}

// byName is the stored form, without what is left out.
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

// asked are the settings but Join; nil where none is given, or Join alone.
func (d *discordInput) asked() *poll.GroupDiscord {
	if d == nil || d.Join != nil && reflect.DeepEqual(*d, discordInput{Join: d.Join}) {
		return nil
	}
	return &poll.GroupDiscord{
		GuildID: d.GuildID, ChannelID: d.ChannelID, NotifyRoleID: d.NotifyRoleID, Notifications: d.Notifications.byName(),
	}
}

func (d *discordInput) join() *string {
	if d == nil {
		return nil
	}
	return d.Join
}

type onGroup struct {
	ID string `path:"id" doc:"The group's id."`
}

func (s *server) createGroup(ctx context.Context, by caller, in *withBody[createGroupBody]) (groupAnswer, error) {
	group, err := s.Scheduler.CreateGroup(ctx, by.person, scheduler.EditGroup{
		Name: &in.Body.Name, MemberIDs: texts(in.Body.MemberIDs), Discord: in.Body.Discord.asked(), Join: in.Body.Discord.join(),
	})
	return withSharing(answerGroup(group, by.person), false), err
}

type groupList struct {
	page
	Groups []groupAnswer `json:"groups"`
}

func (s *server) listGroups(ctx context.Context, by caller, in *struct{ Paging }) (groupList, error) {
	place := listing{name: "groups", collection: "questingGroups", byID: true}
	answer := func(group poll.Group) groupAnswer { return answerGroup(group, by.person) }
	groups, is, err := listed(place, in.Paging, answer, func(part store.Paging, take func(poll.Group) (bool, error)) (*store.Cursor, error) {
		return s.Scheduler.Groups(ctx, by.person, part, take)
	})
	return groupList{page: is, Groups: groups}, err
}

func (s *server) getGroup(ctx context.Context, by caller, in *onGroup) (groupAnswer, error) {
	group, err := s.Scheduler.Group(ctx, by.person, in.ID)
	return s.groupDetails(ctx, by, group, err)
}

// groupDetails shows a group, unless reading it failed.
func (s *server) groupDetails(ctx context.Context, by caller, group poll.Group, err error) (groupAnswer, error) {
	if err != nil {
		return groupAnswer{}, err
	}
	answer, shares := answerGroup(group, by.person), false
	if !answer.Invited {
		shares, err = s.GroupEvents.ShareSessions(ctx, group)
	}
	return withSharing(answer, shares), err
}

func (s *server) updateGroup(ctx context.Context, by caller, in *updateGroup) (groupAnswer, error) {
	edit := scheduler.EditGroup{
		Name: in.Body.Name, MemberIDs: texts(in.Body.MemberIDs), Add: texts(in.Body.Add), Remove: texts(in.Body.Remove),
		Discord: in.Body.Discord.asked(), Join: in.Body.Discord.join(),
	}
	if in.Body.ShareSessions != nil {
		sharing := groupevents.Sharing{PersonID: by.person.ID, GroupID: in.ID, Share: *in.Body.ShareSessions}
		edit.Run = func(ctx context.Context, change func(context.Context, store.Tx) error) error {
			return s.GroupEvents.SetSharing(ctx, sharing, by.cause, change)
		}
	}
	group, err := s.Scheduler.UpdateGroup(ctx, by.person, in.ID, edit)
	if err == nil && (in.Body.MemberIDs != nil || in.Body.Remove != nil) {
		s.endConnections(ctx, by, in.ID)
	}
	return s.groupDetails(ctx, by, group, err)
}

func (s *server) acceptGroup(ctx context.Context, by caller, in *onGroup) (groupAnswer, error) {
	group, err := s.Scheduler.AcceptGroup(ctx, by.person, in.ID)
	return s.groupDetails(ctx, by, group, err)
}

func (s *server) declineGroup(ctx context.Context, by caller, in *onGroup) (declineAnswer, error) {
	return declineAnswer{Declined: true}, s.Scheduler.DeclineGroup(ctx, by.person, in.ID)
}

func (s *server) leaveGroup(ctx context.Context, by caller, in *onGroup) (leaveAnswer, error) {
	err := s.Scheduler.LeaveGroup(ctx, by.person, in.ID)
	if err == nil {
		s.endConnections(ctx, by, in.ID)
	}
	return leaveAnswer{Left: true}, err
}
