package notify

import (
	"context"
	"log/slog"
	"slices"

	"questscheduler/internal/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

// maxDrawings bounds how often one run draws a card that changes under it.
const maxDrawings = 5

// drawCard makes the poll's card show what is true, and posts one where it is to
// have one and has none (scene.cardChannel). It ends only where what was drawn last, by whichever
// run, is what the poll says after that: so of two runs at the same time the
// one that ends last sets right what the other drew. redraw draws in any case,
// since an earlier run may have drawn something and not have come to record it.
func (a *Announcer) drawCard(ctx context.Context, pollID string, redraw bool) error {
	if a.Discord == nil || a.Own != OwnAll {
		return nil
	}
	for drawings := range maxDrawings {
		s, err := a.scene(ctx, pollID)
		if fault.Is(err, fault.NotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		card := a.card(s)
		hash, err := s.hash(card)
		if err != nil {
			return err
		}
		known := s.poll.Discord
		redraw = redraw || (drawings == 0 && known.Error != "") // to see whether it is mended
		fresh := known.MessageID != "" && known.Hash == hash && !s.moves()
		if s.channel == "" || (fresh && !redraw) {
			return nil
		}
		drawn, refusal := a.draw(ctx, s, card)
		if refusal != nil {
			return a.cardRefused(ctx, s, refusal)
		}
		if drawn.stale {
			hash = ""
		}
		if err := a.recordCard(ctx, s, drawn, hash); err != nil {
			return err
		}
		redraw = false
	}
	return fault.New(fault.Unavailable, "the poll changed faster than its card could be drawn")
}

// scene reads all that a card shows, or nothing more than the group where there
// is no card to be drawn.
func (a *Announcer) scene(ctx context.Context, pollID string) (s scene, err error) {
	c, err := a.company(ctx, pollID)
	if err != nil {
		return scene{}, err
	}
	s.poll, s.group = c.poll, c.group
	if s.channel = s.cardChannel(); s.channel == "" {
		return s, nil
	}
	if s.slots, err = poll.LoadSlots(ctx, a.Store, pollID); err != nil {
		return scene{}, err
	}
	if s.poll.Discord.MessageID == "" && s.isPast(a.Now()) {
		s.channel = ""
		return s, nil
	}
	s.votes, err = poll.LoadVotes(ctx, a.Store, pollID)
	return s, err
}

// postCard posts a card, unless an earlier run did and did not come to record
// it: then that one is the card. The nonce derives from the card that is
// replaced, so every attempt to replace it has the same, and the next card has
// another.
func (a *Announcer) postCard(ctx context.Context, s scene, card Message) (drawing, error) {
	channel, old := s.channel, s.poll.Discord.MessageID
	wanted, err := card.shows()
	if err != nil {
		return drawing{}, err
	}
	posted, err := a.find(ctx, channel, func(posted Posted) bool {
		return posted.Shows.Mark == cardMark(s.poll.ID) && posted.ID != old
	})
	if err != nil {
		return drawing{}, err
	}
	for _, attempt := range []string{"first", "second"} {
		if posted.ID != "" {
			break
		}
		posted, err = a.Discord.Post(ctx, channel, card, nonceOf("card", s.poll.ID, channel, old, attempt))
		if fault.CodeOf(err) == CodeUnknownMessage {
			continue // an earlier run's, deleted since: its nonce is used up
		}
		if err != nil {
			return drawing{}, err
		}
	}
	return drawing{channelID: channel, messageID: posted.ID, posted: true, stale: posted.Shows != wanted}, err
}

// recordCard writes where the card stands and what it shows.
func (a *Announcer) recordCard(ctx context.Context, s scene, drawn drawing, hash string) error {
	now := store.Instant(a.Now())
	updates := []store.Update{
		cardField("messageId", drawn.messageID), cardField("channelId", drawn.channelID),
		cardField("lastStatus", string(s.poll.Status)), cardField("lastSyncedHash", store.NullIfEmpty(hash)),
		cardField("lastUpdatedAt", now),
	}
	if drawn.posted {
		guild := s.group.Discord.GuildID
		updates = append(updates, cardField("lastPostedAt", now),
			cardField("guildId", store.NullIfEmpty(guild)), cardField("messageUrl", messageURL(guild, drawn)))
	}
	return a.writeCard(ctx, s.poll, updates, poll.Delivery{MessageID: drawn.messageID, At: now}, drawn.posted, standing{drawn, hash})
}

// standing is where a card is and what it shows; the zero one: nothing was drawn.
type standing struct {
	drawing
	hash string
}

// in tells whether a poll says already all that it is to say of its card.
func (s standing) in(known poll.Card) bool {
	return s == standing{} || s.hash != "" && s.hash == known.Hash && s.messageID == known.MessageID && s.channelID == known.ChannelID
}

// messageURL is where people see a message in Discord; nil where the guild is
// not known.
func messageURL(guild string, drawn drawing) any {
	if guild == "" {
		return nil
	}
	return "https://discord.com/channels/" + guild + "/" + drawn.channelID + "/" + drawn.messageID
}

// cardRefused records on the poll why its card could not be drawn; only what
// passes by itself is an error.
func (a *Announcer) cardRefused(ctx context.Context, s scene, refusal error) error {
	if !isRefusal(refusal) {
		return refusal
	}
	a.Meter.Count(DiscordRefused{ChannelCard, fault.CodeOf(refusal)})
	a.Log.WarnContext(ctx, "discord refused a card", slog.String("poll", s.poll.ID), slog.Any("error", refusal))
	return a.writeCard(ctx, s.poll, nil, poll.Delivery{
		MessageID: s.poll.Discord.MessageID, Error: sentenceOf(refusal), At: store.Instant(a.Now()),
	}, false, standing{})
}

// writeCard writes what became of the card: on the poll, with what is wrong
// with the channel, and beside the other channels where the poll has an
// announcement. posted says that the channel took a new message, so that
// nothing is wrong with it; an edit does not show that, since a bot may edit
// where it may not post. A poll that was deleted since needs no record, whatever
// other one has its id, and what it says already is not written again: that would be a change of the
// document, and so a hint to look at the card once more, without end.
func (a *Announcer) writeCard(ctx context.Context, of poll.Poll, updates []store.Update, delivery poll.Delivery, posted bool, shown standing) error {
	return a.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		documents, err := tx.GetAll(ctx, []store.Path{poll.Path(of.ID), poll.AnnouncementPath(of.ID)})
		if err != nil || !documents[0].Exists() || !poll.Decode(documents[0]).Same(of) {
			return err
		}
		announcement := poll.DecodeAnnouncement(documents[1])
		trouble := delivery.Error
		known := poll.Decode(documents[0]).Discord
		if line := announcement.Channels[ChannelLine].Error; trouble == "" && !posted && known.Error == line {
			trouble = line
		}
		if trouble != known.Error || posted || !shown.in(known) {
			err = tx.Update(poll.Path(of.ID), slices.Concat(updates, troubleUpdates(trouble, delivery.At))...)
		}
		if err != nil || !documents[1].Exists() {
			return err
		}
		told := poll.Delivery{Ref: announcement.Announced.Ref, MessageID: delivery.MessageID, Error: delivery.Error, At: delivery.At}
		return tx.Update(poll.AnnouncementPath(of.ID), poll.DeliveryUpdate(ChannelCard, told))
	})
}
