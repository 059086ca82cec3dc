package notify

import (
	"crypto/sha256"
	"encoding/base64"
	"net/url"
	"strings"

	"github.com/bwmarrin/discordgo"

	"questscheduler/internal/poll"
	"questscheduler/rules"
)

// line is the message that tells a transition in the group's channel. Its
// button leads to the poll, and marks the message as the one of that
// transition. It mentions nobody where the poll's creator does not belong to the
// group.
func (a *Announcer) line(notice rules.Notice, told poll.Told, p poll.Poll, group *poll.Group) Message {
	words := texts[notice]
	text := fill(words.discord, discordTitle(p.Title, maxLineTitle), discordTime(told.Story.At))
	message := Message{Content: text}
	if words.mentions && group.Has(p.CreatorID) { // a person who left the group no longer reaches all of it
		prefix, mentions := mentionsOf(group.Discord)
		message.Content, message.Mentions = prefix+text, mentions
	}
	if link := a.pollLink(p.ID); link != "" {
		message.Button = &discordgo.Button{
			Label: openPollLabel, Style: discordgo.LinkButton, URL: link + lineMark(told.Ref),
		}
	}
	return message
}

// lineMark ends the link of the message that tells a transition.
func lineMark(ref string) string { return "?ref=" + url.QueryEscape(ref) }

// mentionsOf is whom a group wants to be mentioned, and the text before the
// line that does it. What is neither a role's id nor one of the two words
// mentions nobody: Discord would refuse the whole message for it.
func mentionsOf(discord poll.GroupDiscord) (string, Mentions) {
	switch role := discord.NotifyRoleID; {
	case role == "" || role == poll.NotifyEveryone || role == discord.GuildID:
		return "@everyone ", Mentions{Everyone: true} // a guild's id is the role that all have
	case isSnowflake(role):
		return "<@&" + role + "> ", Mentions{RoleID: role}
	default:
		return "", Mentions{}
	}
}

// pollLink is where people see a poll; "" where the app's address is not known,
// since Discord refuses a link without one.
func (a *Announcer) pollLink(pollID string) string {
	if a.AppURL == "" {
		return ""
	}
	return a.pollAddress(pollID)
}

// pollAddress is pollLink for places that take an address within the app too.
func (a *Announcer) pollAddress(pollID string) string {
	return strings.TrimSuffix(a.AppURL, "/") + "/scheduler/" + url.PathEscape(pollID)
}

// nonceOf derives the nonce of a message from what it is: the same for every
// attempt to post it, another for every other message. Discord takes 25
// characters and compares the nonces of all channels.
func nonceOf(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return base64.RawURLEncoding.EncodeToString(sum[:18])
}
