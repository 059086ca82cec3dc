package notify

import (
	"context"
	"errors"

	"questscheduler/fault"
	"questscheduler/internal/poll"
	"questscheduler/rules"
)

// maxDrawings limits how often one run draws a card that changes concurrently.
const maxDrawings = 5

// DrawsCards implements CardChannel.
func (d *Discord) DrawsCards() bool { return d.Cards }

// DrawCard implements CardChannel. It ends only when the card that was recorded
// last, by any run, shows the poll as it is after that: so of two concurrent runs
// the later corrects the earlier.
func (d *Discord) DrawCard(ctx context.Context, pollID string, drawing Drawing) (drawn Drawn, err error) {
	if !d.Cards {
		return Drawn{}, nil
	}
	redraw := drawing.Redraw
	for drawings := range maxDrawings {
		c, err := d.cardData(ctx, pollID)
		if fault.Is(err, fault.NotFound) {
			return drawn, nil
		}
		if err != nil {
			return drawn, err
		}
		card := d.card(c)
		hash := c.hash(card)
		known := c.poll.Discord
		redraw = redraw || (drawings == 0 && known.Error != "") // to see whether the problem is solved
		fresh := known.MessageID != "" && known.Hash == hash && !c.moves()
		if c.channel == "" || (fresh && !redraw) {
			return drawn, nil
		}
		if known.MessageID != "" && !drawing.Begun {
			if err := d.beginCard(ctx, pollID, drawing.Ref); err != nil {
				return drawn, err
			}
		}
		at, err := d.draw(ctx, c, card, hash)
		if err != nil && !isRefusal(err) {
			return drawn, err
		}
		drawn.Refused, _ = errors.AsType[*fault.Error](err)
		drawn.Recorded, err = d.recordCard(ctx, c, at, drawing, drawn.Refused)
		if err != nil || drawn.Refused != nil {
			return drawn, err
		}
		redraw, drawing.Begun = false, false
	}
	return drawn, fault.New(fault.Unavailable, "the poll changed faster than its card could be drawn")
}

// cardData reads everything that a card shows, or less if the poll gets no card.
func (d *Discord) cardData(ctx context.Context, pollID string) (c cardData, err error) {
	c.poll, err = poll.Load(ctx, d.Store, pollID)
	if err != nil {
		return c, err
	}
	c.group, err = poll.LoadGroup(ctx, d.Store, c.poll.GroupID)
	if err != nil {
		return c, err
	}
	c.channel = c.cardChannel()
	if c.channel == "" {
		return c, nil
	}
	c.slots, err = poll.LoadSlots(ctx, d.Store, pollID)
	if err != nil {
		return c, err
	}
	winning := c.winning()
	if c.poll.Discord.MessageID == "" && c.poll.Status == rules.Finalized && !winning.IsZero() && !winning.EndTime().After(d.Now()) {
		c.channel = "" // a past session gets no new card
		return c, nil
	}
	c.votes, err = poll.LoadVotes(ctx, d.Store, pollID)
	return c, err
}

// cardChannel is the channel where the poll's card belongs: the group's, or the
// present one if the group has none or the session is over. "": the poll gets no
// card, since it has none and its session is over.
func (c cardData) cardChannel() string {
	known, wanted := c.poll.Discord, channelID(c.group)
	takesPlace := c.poll.Status == rules.Open || c.poll.Status == rules.Finalized
	switch {
	case known.MessageID == "" && !takesPlace:
		return ""
	case known.MessageID == "" || known.ChannelID == "" || takesPlace && wanted != "":
		return wanted
	default:
		return known.ChannelID
	}
}

// moves reports whether the card is in a channel that it does not belong to.
func (c cardData) moves() bool {
	known := c.poll.Discord
	return known.MessageID != "" && known.ChannelID != "" && known.ChannelID != c.channel
}

// drawnCard is where a card was drawn.
type drawnCard struct {
	channelID, messageID string
	posted               bool   // anew, not edited
	hash                 string // of what it shows; "" if that is an earlier run's, and older
}

// draw edits the card. One that was deleted is posted anew, and so is one that
// moves to another channel, after it was closed.
func (d *Discord) draw(ctx context.Context, c cardData, card DiscordMessage, hash string) (drawnCard, error) {
	known := c.poll.Discord
	if c.moves() {
		if err := d.closeCard(ctx, known, card); err != nil {
			return drawnCard{}, err
		}
	}
	if known.MessageID == "" || c.moves() {
		return d.postCard(ctx, c, card, hash)
	}
	here := drawnCard{channelID: c.channel, messageID: known.MessageID, hash: hash}
	err := d.API.Edit(ctx, here.channelID, here.messageID, card)
	switch {
	case fault.Is(err, fault.NotFound) && c.channel != channelID(c.group):
		return here, nil // it is gone, and no channel needs another
	case fault.CodeOf(err) == CodeUnknownMessage:
		return d.postCard(ctx, c, card, hash)
	default:
		return here, err
	}
}

// closeCard disables the button of a card, if it has one. A card that Discord refuses to
// edit is left as it is.
func (d *Discord) closeCard(ctx context.Context, at poll.Card, card DiscordMessage) error {
	if len(card.Components) > 0 {
		card.Components = withButton(closed(card.Components[0].Buttons[0]))
	}
	err := d.API.Edit(ctx, at.ChannelID, at.MessageID, card)
	if isRefusal(err) {
		return nil
	}
	return err
}

// postCard posts a card, unless an earlier run did without recording it: then it
// takes that one. The nonce derives from the card that is replaced, so it is the
// same for each attempt to replace it, and another for the next card.
func (d *Discord) postCard(ctx context.Context, c cardData, card DiscordMessage, hash string) (drawnCard, error) {
	old := c.poll.Discord.MessageID
	posted, err := d.find(ctx, c.channel, old, voteButton(c.poll.ID), cardMark(c.poll.ID))
	if err == nil && posted.ID == "" {
		posted, err = d.API.Post(ctx, c.channel, card, nonceOf("card", c.poll.ID, c.channel, old, "first"))
		if fault.CodeOf(err) == CodeUnknownMessage { // an earlier run's card was deleted, and its nonce is used up
			posted, err = d.API.Post(ctx, c.channel, card, nonceOf("card", c.poll.ID, c.channel, old, "second"))
		}
	}
	if posted.shows() != card.shows() {
		hash = ""
	}
	return drawnCard{channelID: c.channel, messageID: posted.ID, posted: true, hash: hash}, err
}
