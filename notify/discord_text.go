package notify

import (
	"crypto/sha256"
	"encoding/base64"
	"net/url"
	"strings"

	"questscheduler/internal/poll"
)

// message announces a transition in the group's channel. Its button leads to the
// poll and marks the message as that transition's. It pings nobody if the poll's
// creator is not in the group, so that a person who left cannot reach all of it.
func (d *Discord) message(m Message) DiscordMessage {
	words := texts[m.Notice]
	message := DiscordMessage{Content: fill(words.message, discordTitle(m.Poll.Title, maxMessageTitle), discordTime(m.State.Story.At))}
	if words.mentions && m.Group.Has(m.Poll.CreatorID) {
		prefix, mentions := mentionsOf(m.Group.Discord)
		message.Content, message.Mentions = prefix+message.Content, mentions
	}
	if d.AppURL != "" { // Discord refuses a link without an address
		link := pollURL(d.AppURL, m.Poll.ID) + messageMark(m.State.Ref)
		message.Components = withButton(DiscordButton{Label: openPollLabel, Style: linkStyle, URL: link})
	}
	return message
}

// messageMark ends the link of the message on a transition.
func messageMark(ref string) string { return "?ref=" + url.QueryEscape(ref) }

// mentionsOf is whom a group wants to be pinged, and the text that does it. A role
// that is neither an id nor one of the two words pings nobody: Discord would refuse
// the whole message for it.
func mentionsOf(discord poll.GroupDiscord) (prefix string, mentions DiscordMentions) {
	switch role := discord.NotifyRoleID; {
	case role == "" || role == poll.NotifyEveryone || role == discord.GuildID:
		return "@everyone ", DiscordMentions{Parse: []string{"everyone"}} // a guild's id is the role that all have
	case isSnowflake(role):
		return "<@&" + role + "> ", DiscordMentions{Roles: []string{role}}
	default:
		return "", DiscordMentions{}
	}
}

// nonceOf derives a message's nonce: the same for every attempt to post it, another
// for every other message. Discord takes 25 characters and compares the nonces of
// all channels.
func nonceOf(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return base64.RawURLEncoding.EncodeToString(sum[:18])
}
