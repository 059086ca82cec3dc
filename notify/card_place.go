package notify

import (
	"context"
	"time"

	"questscheduler/internal/fault"
	"questscheduler/rules"
)

// drawing is where a card was drawn.
type drawing struct {
	channelID, messageID string
	// posted tells a new card from one that was edited.
	posted bool
	// stale says that the card is there but shows something older: it was found
	// and not drawn.
	stale bool
}

// cardChannel is the channel where the poll's card is to be: the group's, or
// where it stands while the group has none or the session is over. "": the poll
// gets no card. One that was over before it had a card needs none.
func (s scene) cardChannel() string {
	known, wanted := s.poll.Discord, channelID(s.group)
	takesPlace := s.poll.Status == rules.Open || s.poll.Status == rules.Finalized
	switch {
	case known.MessageID == "" && !takesPlace:
		return ""
	case known.MessageID == "" || known.ChannelID == "" || takesPlace && wanted != "":
		return wanted
	default:
		return known.ChannelID
	}
}

// isPast tells whether the session took place already: what had no card until
// then needs none.
func (s scene) isPast(now time.Time) bool {
	winning := s.winning()
	return s.poll.Status == rules.Finalized && !winning.IsZero() && !winning.EndTime().After(now)
}

// moves tells whether the card stands in another channel than it is to.
func (s scene) moves() bool {
	known := s.poll.Discord
	return known.MessageID != "" && known.ChannelID != "" && known.ChannelID != s.channel
}

// draw edits the card where it stands. One that was deleted is posted anew, and
// so is one that moves to another channel, after it was closed.
func (a *Announcer) draw(ctx context.Context, s scene, card Message) (drawing, error) {
	known := s.poll.Discord
	if known.MessageID == "" {
		return a.postCard(ctx, s, card)
	}
	if s.moves() {
		if err := a.closeCard(ctx, s, card); err != nil {
			return drawing{}, err
		}
		return a.postCard(ctx, s, card)
	}
	here := drawing{channelID: s.channel, messageID: known.MessageID}
	err := a.Discord.Edit(ctx, here.channelID, here.messageID, card)
	switch {
	case isRefusal(err) && s.channel != channelID(s.group):
		return here, nil // it is gone or out of reach, and no channel is to have another
	case fault.CodeOf(err) == CodeUnknownMessage:
		return a.postCard(ctx, s, card)
	default:
		return here, err
	}
}

// closeCard leaves the card that the poll has with a button that nobody can
// press. A card that Discord lets nobody edit any more is left as it is.
func (a *Announcer) closeCard(ctx context.Context, s scene, card Message) error {
	button := *card.Button
	button.Label, button.Disabled = closedLabel, true
	card.Button = &button
	err := a.Discord.Edit(ctx, s.poll.Discord.ChannelID, s.poll.Discord.MessageID, card)
	if isRefusal(err) {
		return nil
	}
	return err
}
