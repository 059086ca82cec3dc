package notify

import (
	"context"
	"log/slog"
	"slices"

	"questscheduler/internal/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

// recordCard records where the card is and what it shows.
func (d *Discord) recordCard(ctx context.Context, c cardData, drawn drawnCard, hash string) error {
	if drawn.stale {
		hash = ""
	}
	now := store.Instant(d.Now())
	updates := []store.Update{
		cardField("messageId", drawn.messageID), cardField("channelId", drawn.channelID),
		cardField("lastStatus", string(c.poll.Status)), cardField("lastSyncedHash", store.NullIfEmpty(hash)),
		cardField("lastUpdatedAt", now),
	}
	if drawn.posted {
		guild := c.group.Discord.GuildID
		var address any
		if guild != "" {
			address = "https://discord.com/channels/" + guild + "/" + drawn.channelID + "/" + drawn.messageID
		}
		updates = append(updates, cardField("lastPostedAt", now), cardField("guildId", store.NullIfEmpty(guild)), cardField("messageUrl", address))
	}
	changed := func(known poll.Card) bool {
		return drawn.posted || hash == "" || hash != known.Hash || drawn.messageID != known.MessageID || drawn.channelID != known.ChannelID
	}
	return d.writeCard(ctx, c.poll, updates, poll.Delivery{MessageID: drawn.messageID, At: now}, drawn.posted, changed)
}

// recordRefusedCard records why the card could not be drawn.
func (d *Discord) recordRefusedCard(ctx context.Context, c cardData, refused *fault.Error) error {
	d.Log.WarnContext(ctx, "discord refused a card", slog.String("poll", c.poll.ID), slog.Any("error", refused))
	delivery := poll.Delivery{MessageID: c.poll.Discord.MessageID, Error: refused.Message, At: store.Instant(d.Now())}
	return d.writeCard(ctx, c.poll, nil, delivery, false, func(poll.Card) bool { return false })
}

// writeCard records a card's delivery, in the announcement if there is one, and on
// the poll with what is wrong with its channel. posted: the channel took a new
// message, so nothing is wrong; an edit does not show that, since a bot may edit
// where it may not post. The poll is written only if that or the card changed: each
// write is a hint to check the card, and so they would never end. Nothing is
// recorded on a poll that was deleted since, also if another one has its id.
func (d *Discord) writeCard(ctx context.Context, of poll.Poll, updates []store.Update, delivery poll.Delivery, posted bool, changed func(poll.Card) bool) error {
	return d.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		documents, err := tx.GetAll(ctx, []store.Path{poll.Path(of.ID), poll.AnnouncementPath(of.ID)})
		if err != nil || !documents[0].Exists() || !poll.Decode(documents[0]).Same(of) {
			return err
		}
		announcement := poll.DecodeAnnouncement(documents[1])
		known := poll.Decode(documents[0]).Discord
		problem := delivery.Error
		if before := announcement.Channels[d.Name()].Error; problem == "" && !posted && known.Error == before {
			problem = before
		}
		if problem != known.Error || changed(known) {
			err = tx.Update(poll.Path(of.ID), slices.Concat(updates, problemUpdates(problem, delivery.At))...)
		}
		if err != nil || !documents[1].Exists() {
			return err
		}
		delivery.Ref = announcement.Announced.Ref
		return tx.Update(poll.AnnouncementPath(of.ID), poll.DeliveryUpdate(CardName, delivery))
	})
}
