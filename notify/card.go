package notify

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/bwmarrin/discordgo"

	"questscheduler/internal/poll"
	"questscheduler/rules"
)

// cardData is everything that a card shows.
type cardData struct {
	poll    poll.Poll
	group   *poll.Group
	channel string      // where the card belongs; "" if the poll gets no card
	slots   []poll.Slot // earliest first
	votes   []poll.Vote
}

// cardMark is the id of the card's button. The web app's own functions answer to
// it, and it identifies the card in a channel.
func cardMark(pollID string) string { return "vote_btn:" + pollID }

// card is the message that stands for a poll in its group's channel. It pings
// nobody.
func (d *Discord) card(c cardData) DiscordMessage {
	button := discordgo.Button{Label: voteLabel, Style: discordgo.PrimaryButton, CustomID: cardMark(c.poll.ID)}
	if c.poll.Status != rules.Open {
		button.Label, button.Disabled = closedLabel, true
	}
	embed := discordgo.MessageEmbed{Title: titleMark + discordTitle(c.poll.Title, maxEmbedTitle)}
	add := func(name, value string, inline bool) {
		if value != "" {
			embed.Fields = append(embed.Fields, &discordgo.MessageEmbedField{Name: name, Value: value, Inline: inline})
		}
	}
	status := string(c.poll.Status)
	if c.poll.Status == rules.Finalized && c.poll.Sync.Rescheduled != nil {
		status = rescheduledLabel
	}
	count, span := c.offered()
	add("Slots", fmt.Sprintf("%d available", count), true)
	add("Status", status, true)
	add("Votes", c.voted(), true)
	add("Range", span, false)
	add("Winning slot", c.winningTime(), false)
	if d.AppURL != "" {
		add("View on web", "["+openPollLabel+"]("+pollURL(d.AppURL, c.poll.ID)+")", false)
	}
	return DiscordMessage{Embeds: []discordgo.MessageEmbed{embed}, Components: withButton(button)}
}

// offered counts the slots that people can choose, without one that the calendar
// made, and gives their span.
func (c cardData) offered() (count int, span string) {
	slots := slices.DeleteFunc(slices.Clone(c.slots), func(slot poll.Slot) bool { return slot.Source == poll.SourceCalendar })
	if len(slots) == 0 {
		return 0, ""
	}
	first, last := slots[0], slices.MaxFunc(slots, func(a, b poll.Slot) int { return a.End.Compare(b.End) })
	if first.AllDay && last.AllDay {
		return len(slots), days(rules.Fingerprint{Start: first.Start.UnixMilli(), End: last.End.UnixMilli(), AllDay: true})
	}
	return len(slots), timeTag(first.Start) + " – " + timeTag(last.End)
}

// voted counts the participants who voted. Votes of a rescheduled poll are hidden.
func (c cardData) voted() string {
	people := c.poll.People(c.group)
	switch {
	case len(people) == 0:
		return ""
	case c.poll.Sync.Rescheduled != nil:
		return hiddenVotes
	}
	voted := make(map[string]bool, len(c.votes))
	for _, vote := range c.votes {
		voted[vote.UserID] = vote.Given()
	}
	pending := len(slices.DeleteFunc(slices.Clone(people), func(id string) bool { return voted[id] }))
	text := fmt.Sprintf("%d/%d voted", len(people)-pending, len(people))
	if pending > 0 {
		text += fmt.Sprintf(" (%d pending)", pending)
	}
	return text
}

// winningTime is when the session takes place, struck out if it was cancelled.
func (c cardData) winningTime() string {
	winning := c.winning()
	switch {
	case winning.IsZero():
		return ""
	case c.poll.Status == rules.Finalized:
		return discordTime(winning)
	case c.poll.Status == rules.Cancelled:
		return "~~" + discordTime(winning) + "~~"
	default:
		return ""
	}
}

// winning is the time of the winning slot; zero if there is none.
func (c cardData) winning() rules.Fingerprint {
	for _, slot := range c.slots {
		if slot.ID == c.poll.WinningSlotID {
			return slot.Fingerprint()
		}
	}
	return rules.Fingerprint{}
}

// hash covers everything that the card shows, calendarSync.state and the winning
// time. The card is edited when it changes.
func (c cardData) hash(card DiscordMessage) string {
	all, err := json.Marshal([]string{string(card.encode("")), string(c.poll.Sync.State), c.winning().String()})
	if err != nil {
		panic(err) // texts can be encoded
	}
	sum := sha256.Sum256(all)
	return hex.EncodeToString(sum[:16])
}
