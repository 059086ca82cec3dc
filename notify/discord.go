package notify

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"slices"
	"time"

	"github.com/bwmarrin/discordgo"

	"questscheduler/fault"
	"questscheduler/internal/discord"
	"questscheduler/internal/ids"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

// Discord is the Channel that posts to the Discord channel of a poll's group, and
// keeps the poll's card there. API, Store, Now and Log are needed.
type Discord struct {
	API   DiscordAPI
	Store store.Store
	Now   func() time.Time
	// AppURL is the web app's address. "" leaves out links, and with them the mark
	// by which a message is found again if Discord's response was lost.
	AppURL string
	// Cards says that this server draws cards too (setting QS_DISCORD_OWN), and not
	// the web app's own functions.
	Cards bool
	// Votes says that something answers the Vote button of cards: the web app's functions,
	// which setting QS_CALLABLES_UPSTREAM names.
	Votes bool
	// Answers says that this server answers buttons itself (package interactions).
	Answers bool
	Log     *slog.Logger
}

var _ CardChannel = (*Discord)(nil)

// Name implements Channel.
func (d *Discord) Name() string { return "discord" }

// Reaches implements Channel: the group has a channel, and did not turn the notice off
// (preferences.go).
func (d *Discord) Reaches(m Message) bool {
	return channelID(m.Group) != "" && !mutedIn(m.Group, m.Notice)
}

// Deliver implements Channel. A refusal is recorded on the poll too.
func (d *Discord) Deliver(ctx context.Context, m Message) (Receipt, error) {
	id, err := d.post(ctx, channelID(m.Group), m)
	if err != nil && !isRefusal(err) {
		return Receipt{}, err
	}
	refused, _ := errors.AsType[*fault.Error](err)
	log := d.Log.With(slog.String("poll", m.Poll.ID), slog.String("ref", m.State.Ref), slog.String("trace", m.State.Trace))
	if refused != nil {
		log.WarnContext(ctx, "discord refused a message", slog.Any("error", err))
	} else if id != "" {
		log.InfoContext(ctx, "discord has the message", slog.String("message", id))
	}
	return Receipt{MessageID: id, Refused: refused, Record: d.recordOnPoll}, nil
}

// post posts a message unless an earlier run did. The nonce finds that one for
// some minutes, and its mark as long as it is among the channel's newest. A
// message that was deleted since counts as delivered, without an id.
func (d *Discord) post(ctx context.Context, channel string, m Message) (id string, err error) {
	if m.Retry {
		found, err := d.find(ctx, channel, "", messageMark(m.State.Ref))
		if err != nil || found.ID != "" {
			return found.ID, err
		}
	}
	posted, err := d.API.Post(ctx, channel, d.message(m), nonceOf("line", m.State.Ref, channel))
	if fault.CodeOf(err) == CodeUnknownMessage {
		return "", nil
	}
	return posted.ID, err
}

// find returns the newest message with one of some marks among a channel's newest, except
// one; the zero one if there is none, or the bot may not read them.
func (d *Discord) find(ctx context.Context, channel, except string, marks ...string) (DiscordMessage, error) {
	recent, err := d.API.Recent(ctx, channel)
	for _, posted := range recent {
		if posted.ID != except && slices.ContainsFunc(marks, posted.hasMark) {
			return posted, err
		}
	}
	return DiscordMessage{}, err
}

// recordOnPoll shows on the poll what is wrong with its Discord channel.
func (d *Discord) recordOnPoll(ctx context.Context, tx store.Tx, announcement poll.Announcement, delivery poll.Delivery) error {
	p, err := poll.Load(ctx, tx, announcement.PollID)
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	problem := delivery.Error
	if problem == "" && d.Cards {
		problem = announcement.Channels[CardName].Error // until the card can be drawn
	}
	if p.ReplacesAnnounced(announcement) || problem == "" && !isOurs(p.Discord.Error) {
		return nil
	}
	return tx.Update(poll.Path(p.ID), problemUpdates(problem, delivery.At)...)
}

// problemUpdates are the fields that show on a poll what is wrong with its Discord
// channel; "" for nothing.
func problemUpdates(problem string, at time.Time) []store.Update {
	var since any
	if problem != "" {
		since = at
	}
	return []store.Update{
		cardField("pendingSync", problem != ""), cardField("pendingSyncAt", since), cardField("pendingSyncError", store.NullIfEmpty(problem)),
	}
}

func cardField(name string, value any) store.Update {
	return store.Update{Path: store.Field("discord", name), Value: value}
}

func channelID(group *poll.Group) string {
	if group == nil {
		return ""
	}
	return group.Discord.ChannelID
}

// message announces a transition in the group's channel. Its button leads to the
// poll and marks the message as that transition's. It pings nobody if the poll's
// creator is not in the group, so that a person who left cannot reach all of it.
func (d *Discord) message(m Message) DiscordMessage {
	title := discordTitle(m.Poll.Title, maxMessageTitle)
	message := DiscordMessage{Content: m.text(spoken, spoken.Notices[m.Notice].Message, title, spoken.discordTime)}
	if mentions(m.Notice) && m.Group.Has(m.Poll.CreatorID) {
		prefix, allowed := mentionsOf(m.Group.Discord)
		message.Content, message.Mentions = prefix+message.Content, allowed
	}
	if d.AppURL != "" { // Discord refuses a link without an address
		link := PollURL(d.AppURL, m.Poll.ID) + messageMark(m.State.Ref)
		message.Components = withButton(discordgo.Button{Label: spoken.OpenPoll, Style: discordgo.LinkButton, URL: link})
	}
	return message
}

// messageMark ends the link of the message on a transition.
func messageMark(ref string) string { return markOfLink + url.QueryEscape(ref) }

const markOfLink = "?ref="

// mentionsOf is whom a group wants to be pinged, and the text that does it. A role
// that is neither an id nor one of the two words pings nobody: Discord would refuse
// the whole message for it.
func mentionsOf(group poll.GroupDiscord) (prefix string, mentions discordgo.MessageAllowedMentions) {
	everyone := []discordgo.AllowedMentionType{discordgo.AllowedMentionTypeEveryone}
	switch role := group.NotifyRoleID; {
	case role == "" || role == poll.NotifyEveryone || role == group.GuildID:
		return "@everyone ", discordgo.MessageAllowedMentions{Parse: everyone} // a guild's id is the role that all have
	case discord.IsSnowflake(role):
		return "<@&" + role + "> ", discordgo.MessageAllowedMentions{Roles: []string{role}}
	default:
		return "", discordgo.MessageAllowedMentions{}
	}
}

// nonceOf derives a message's nonce: the same for every attempt to post it, another
// for every other message. Discord takes 25 characters and compares the nonces of
// all channels.
func nonceOf(parts ...string) string {
	return ids.Of(parts...).Base64(18)
}
