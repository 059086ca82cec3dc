package notify_test

import (
	"slices"
	"strings"
	"testing"

	"questscheduler/demo/sim/control"
	"questscheduler/demo/sim/discord"
	"questscheduler/internal/poll"
	"questscheduler/rules"
)

// shows is what the poll's card in a channel shows of it; "" if it has none.
func (w *world) shows(channelID, messageID string) string {
	w.t.Helper()
	for _, card := range w.cards(channelID) {
		if card.ID == messageID {
			return string(card.Embeds[0]) + string(card.Components[0])
		}
	}
	return ""
}

func TestCard_PollOverBeforeIt_IsNotPosted(t *testing.T) {
	t.Parallel()
	for _, status := range []rules.Status{rules.Cancelled, rules.Archived} {
		t.Run(string(status), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.finalise()
			w.set(poll.Set("status", string(status)))
			w.want("gm", 0)
			w.mustEnd()
			if cards := w.cards(channel); len(cards) != 0 {
				t.Errorf("posted %+v", cards)
			}
			w.set(poll.Set("status", string(rules.Finalized)))
			w.checkCard()
			if cards := w.cards(channel); len(cards) != 1 {
				t.Errorf("once it takes place again, cards are %+v", cards)
			}
		})
	}
}

// The first sweep checks every session that ever was.
func TestCard_SessionLongPast_IsNotPosted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.finalise()
	w.clock.add(original.EndTime().Sub(w.clock.Now()))
	w.checkCard()
	if cards := w.cards(channel); len(cards) != 0 {
		t.Errorf("posted %+v", cards)
	}
}

func TestCard_PollWithoutChannel_IsEditedInPlace(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(w *world){
		"the poll left its group":    func(w *world) { w.set(poll.Set("questingGroupId", nil)) },
		"the group lost its channel": func(w *world) { w.setGroup("channelId", nil) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := announced(t)
			card := w.poll().Discord.MessageID
			leave(w)
			w.cancel()
			w.checkCard()
			if shown := w.shows(channel, card); !strings.Contains(shown, "CANCELLED") {
				t.Errorf("the card shows %s", shown)
			}
			w.delete(card)
			w.set(poll.Set("title", "Session ten"))
			w.checkCard()
			if cards, trouble := w.cards(channel), w.poll().Discord.Error; len(cards) != 0 || trouble != "" {
				t.Errorf("once it is deleted, cards are %+v, and the poll says %q", cards, trouble)
			}
		})
	}
}

func TestCard_PollInAnotherChannel_IsPostedThere(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		end     func(w *world) error
		reached bool // whether the old card can be edited still
	}{
		"the old card is there": {func(*world) error { return nil }, true},
		"the old card is deleted": {func(w *world) error {
			w.delete(w.poll().Discord.MessageID)
			return nil
		}, false},
		"the old channel is closed": {func(w *world) error {
			return w.discord.AddChannel(discord.Channel{ID: channel, GuildID: guildID, Gone: true})
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.checkCard() // open: its button can be pressed
			old := w.poll().Discord.MessageID
			w.setGroup("channelId", elsewhere)
			if err := row.end(w); err != nil {
				t.Fatal(err)
			}
			w.checkCard()
			w.checkCard()
			known := w.poll().Discord
			if cards := w.cards(elsewhere); len(cards) != 1 || cards[0].ID != known.MessageID || known.ChannelID != elsewhere || known.Error != "" {
				t.Errorf("the poll says %+v, and the new channel has %+v", known, cards)
			}
			if shown := w.shows(elsewhere, known.MessageID); strings.Contains(shown, `"disabled":true`) {
				t.Errorf("the new card's button is closed: %s", shown)
			}
			if shown := w.shows(channel, old); row.reached && !strings.Contains(shown, `"disabled":true`) {
				t.Errorf("the old card's button is open still: %s", shown)
			}
			w.finalise()
			w.want("gm", 0)
			w.mustEnd()
			w.move(moved)
			w.want("gm", 0)
			w.mustEnd()
			wantTexts(t, "messages", contents(w.messages(elsewhere)), movedMessage)
			if !slices.Equal(w.bell("ana"), []string{movedBody}) {
				t.Errorf("ana reads %q", w.bell("ana"))
			}
		})
	}
}

// A session that is over gets no card in another channel.
func TestCard_OverInAnotherChannel_IsEditedInPlace(t *testing.T) {
	t.Parallel()
	w := announced(t)
	card := w.poll().Discord.MessageID
	w.cancel()
	w.setGroup("channelId", elsewhere)
	w.checkCard()
	if shown := w.shows(channel, card); !strings.Contains(shown, "CANCELLED") || len(w.cards(elsewhere)) != 0 {
		t.Errorf("the old card shows %s, and the new channel has %+v", shown, w.cards(elsewhere))
	}
}

// The bot may be let in again: a card that it cannot see now is drawn with the next change.
func TestCard_OverInAChannelThatHidesIt_SaysSo(t *testing.T) {
	t.Parallel()
	w := announced(t)
	card := w.poll().Discord.MessageID
	w.cancel()
	w.setGroup("channelId", elsewhere)
	w.plant(control.Rule{Match: "messages.edit", Status: 403, Reason: "50001", Times: 1})
	w.checkCard()
	if w.poll().Discord.Error == "" {
		t.Error("the poll shows no problem with its card")
	}
	w.checkCard()
	if shown := w.shows(channel, card); !strings.Contains(shown, "CANCELLED") || w.poll().Discord.Error != "" {
		t.Errorf("let in again, the card shows %s, and the poll the problem %q", shown, w.poll().Discord.Error)
	}
}
