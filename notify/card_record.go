package notify

import (
	"context"
	"log/slog"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

// beginCard records that the card may show something else from now on than is recorded, so
// that a run after one that dies draws it again.
func (d *Discord) beginCard(ctx context.Context, pollID, ref string) error {
	return d.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		doc, err := tx.Get(ctx, poll.AnnouncementPath(pollID))
		if err != nil || !doc.Exists() {
			return err
		}
		return tx.Update(doc.Path, poll.DecodeAnnouncement(doc).CardBegunUpdates(ref, store.Instant(d.Now()))...)
	})
}

// recordCard records where the card is and what it shows, or why it was refused, on
// the poll and in the announcement if there is one. Nothing is recorded on a poll
// that was deleted since, also if another one has its id. The poll is written only
// if something changed: each write triggers a check of the card, so unconditional
// writes would never end. The card is no longer pending then, unless a newer change asks for it;
// recorded is false where that is left to the caller.
func (d *Discord) recordCard(
	ctx context.Context, c cardData, drawn drawnCard, drawing Drawing, refused *fault.Error,
) (recorded bool, err error) {
	delivery := poll.Delivery{MessageID: drawn.messageID, At: store.Instant(d.Now())}
	var updates []store.Update
	if refused == nil {
		updates = c.updates(drawn, delivery.At)
	} else {
		d.Log.WarnContext(ctx, "discord refused a card", slog.String("poll", c.poll.ID), slog.String("trace", drawing.Trace),
			slog.Any("error", refused))
		delivery.MessageID, delivery.Error = c.poll.Discord.MessageID, refused.Message
	}
	err = d.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		recorded = false
		documents, err := tx.GetAll(ctx, []store.Path{poll.Path(c.poll.ID), poll.AnnouncementPath(c.poll.ID)})
		if err != nil || !documents[0].Exists() {
			return err
		}
		p, announcement := poll.Decode(documents[0]), poll.DecodeAnnouncement(documents[1])
		if !p.Same(c.poll) {
			return nil
		}
		known, problem := p.Discord, delivery.Error
		// An edit does not solve the problem of a message: a bot may edit where it may
		// not post.
		if before := announcement.Channels[d.Name()].Error; problem == "" && !drawn.posted && known.Error == before {
			problem = before
		}
		same := drawn.hash == known.Hash && drawn.messageID == known.MessageID && drawn.channelID == known.ChannelID
		changed := drawn.posted || drawn.hash == "" || !same
		if problem != known.Error || refused == nil && changed {
			err = tx.Update(poll.Path(p.ID), append(problemUpdates(problem, delivery.At), updates...)...)
		}
		if err != nil || !documents[1].Exists() {
			return err
		}
		recorded, delivery.Ref = true, announcement.Announced.Ref
		return tx.Update(poll.AnnouncementPath(p.ID), append(drawing.done(announcement), poll.DeliveryUpdate(CardName, delivery))...)
	})
	return recorded, err
}

func (c cardData) updates(drawn drawnCard, now time.Time) []store.Update {
	updates := []store.Update{
		cardField("messageId", drawn.messageID), cardField("channelId", drawn.channelID),
		cardField("lastStatus", string(c.poll.Status)), cardField("lastSyncedHash", store.NullIfEmpty(drawn.hash)),
		cardField("lastUpdatedAt", now),
	}
	if !drawn.posted {
		return updates
	}
	guild := c.group.Discord.GuildID
	var address any
	if guild != "" {
		address = "https://discord.com/channels/" + guild + "/" + drawn.channelID + "/" + drawn.messageID
	}
	return append(updates, cardField("lastPostedAt", now), cardField("guildId", store.NullIfEmpty(guild)), cardField("messageUrl", address))
}
