package api

import (
	"cmp"

	"questscheduler/internal/poll"
	"questscheduler/scheduler"
)

type groupAnswer struct {
	ID               string        `json:"id"`
	Name             string        `json:"name"`
	CreatorID        string        `json:"creator_id"`
	Invited          bool          `json:"invited" doc:"The caller is invited and has not answered: members and Discord are shown after accepting."`
	MemberIDs        []string      `json:"member_ids"`
	PendingMemberIDs []string      `json:"pending_member_ids" doc:"People who are invited and have not accepted; shown to the creator and admins, empty for others."`
	Discord          discordAnswer `json:"discord"`
	ShareSessions    *bool         `json:"share_sessions,omitempty" doc:"The sessions of the group's finalised polls show in every connected account. Absent in lists, false for invitees."`
}

// withSharing adds a setting that is not in the group's own document.
func withSharing(answer groupAnswer, shares bool) groupAnswer {
	answer.ShareSessions = &shares
	return answer
}

type discordAnswer struct {
	GuildID       *string         `json:"guild_id"`
	ChannelID     *string         `json:"channel_id"`
	NotifyRoleID  string          `json:"notify_role_id" doc:"everyone, none or a role's id."`
	Notifications map[string]bool `json:"notifications" doc:"The settings that were chosen; the others have the web app's defaults."`
	Join          string          `json:"join" enum:"members,channel" doc:"Who takes part in the group's polls from its channel: its members, or everybody who sees the channel and votes there."`
}

// answerGroup shows a group to a person: invitees see neither members nor Discord.
func answerGroup(g poll.Group, person scheduler.Person) groupAnswer {
	manages := person.Admin || g.CreatorID == person.ID
	answer := groupAnswer{
		ID: g.ID, Name: g.Name, CreatorID: g.CreatorID, Invited: g.Invites(person.ID) && !manages,
		MemberIDs: []string{}, PendingMemberIDs: []string{},
	}
	if answer.Invited {
		g.Discord = poll.GroupDiscord{}
	} else {
		answer.MemberIDs = each(g.MemberIDs, itself)
	}
	if manages {
		answer.PendingMemberIDs = each(g.PendingMemberIDs, itself)
	}
	answer.Discord = discordAnswer{
		GuildID: optional(g.Discord.GuildID), ChannelID: optional(g.Discord.ChannelID),
		NotifyRoleID: cmp.Or(g.Discord.NotifyRoleID, poll.NotifyEveryone), Notifications: g.Discord.Notifications,
		Join: poll.JoinMembers,
	}
	if g.Discord.Join == poll.JoinChannel {
		answer.Discord.Join = poll.JoinChannel
	}
	if answer.Discord.Notifications == nil {
		answer.Discord.Notifications = map[string]bool{}
	}
	return answer
}
