package notify

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/bwmarrin/discordgo"

	"questscheduler/internal/ids"
	"questscheduler/internal/poll"
	"questscheduler/rules"
)

const titleMark = "📅 " // before a card's title

// cardData is everything that a card shows.
type cardData struct {
	poll    poll.Poll
	group   *poll.Group
	channel string      // where the card belongs; "" if the poll gets no card
	slots   []poll.Slot // earliest first
	votes   []poll.Vote
}

// Beginnings of the ids of a card's buttons, before the poll's: by VoteButton the web app's own
// functions know theirs.
const (
	VoteButton = "vote_btn:"
	WhoButton  = "qs:who:"
	MenuButton = "qs:menu:"
)

// maxCustomID is how long the id of a button may be.
const maxCustomID = 100

// voteButton is the id of the button by which people vote. Like the link of cardMark, it
// identifies the card in a channel.
func voteButton(pollID string) string { return VoteButton + pollID }

// cardMark ends the link of a card's button.
func cardMark(pollID string) string { return messageMark("card:" + pollID) }

// buttons are those of a card: those that this server answers (Discord.Answers), else Vote where
// something else answers it (Discord.Votes), else a link to the poll, else none. A card that had
// one loses it by an empty list.
func (d *Discord) buttons(p poll.Poll) []discordRow {
	button := discordgo.Button{Label: spoken.Card.Vote, Style: discordgo.PrimaryButton, CustomID: voteButton(p.ID)}
	fits := len(button.CustomID) <= maxCustomID
	switch {
	case d.Answers && fits:
		return d.answeredButtons(p, button)
	case d.Votes && fits:
	case d.AppURL != "":
		button.Style, button.CustomID, button.URL = discordgo.LinkButton, "", PollURL(d.AppURL, p.ID)+cardMark(p.ID)
	default:
		return []discordRow{}
	}
	if p.Status != rules.Open {
		button = closed(button)
	}
	return withButton(button)
}

// answeredButtons are those that this server answers. Vote stays first, though nobody can press
// it any more: it identifies the card.
func (d *Discord) answeredButtons(p poll.Poll, vote discordgo.Button) []discordRow {
	other := func(label, id string) discordgo.Button {
		return discordgo.Button{Label: label, Style: discordgo.SecondaryButton, CustomID: id + p.ID}
	}
	buttons := []discordgo.Button{vote, other(spoken.Card.Who, WhoButton)}
	if p.Status != rules.Open {
		buttons = []discordgo.Button{closed(vote)}
	}
	return []discordRow{{Type: discordgo.ActionsRowComponent, Buttons: append(buttons, other(spoken.Card.Manage, MenuButton))}}
}

// closed is a card's button that cannot be pressed.
func closed(button discordgo.Button) discordgo.Button {
	button.Label, button.Disabled = spoken.Card.Closed, true
	return button
}

// card is the message that stands for a poll in its group's channel. It pings
// nobody.
func (d *Discord) card(c cardData) DiscordMessage {
	words := spoken.Card
	embed := discordgo.MessageEmbed{Title: titleMark + discordTitle(c.poll.Title, maxEmbedTitle)}
	add := func(name, value string, inline bool) {
		if value != "" {
			embed.Fields = append(embed.Fields, &discordgo.MessageEmbedField{Name: name, Value: value, Inline: inline})
		}
	}
	status := cmp.Or(words.Statuses[c.poll.Status], string(c.poll.Status))
	if c.poll.Status == rules.Finalized && c.poll.Sync.Rescheduled != nil {
		status = words.Rescheduled
	}
	count, span := c.offered()
	add(words.Slots, spoken.count(words.Available, count), true)
	add(words.Status, status, true)
	add(words.Votes, c.voted(), true)
	add(words.Range, span, false)
	add(words.WinningSlot, c.winningTime(), false)
	if d.AppURL != "" {
		add(words.ViewOnWeb, "["+spoken.OpenPoll+"]("+PollURL(d.AppURL, c.poll.ID)+")", false)
	}
	return DiscordMessage{Embeds: []discordgo.MessageEmbed{embed}, Components: d.buttons(c.poll)}
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
		return len(slots), spoken.days(rules.Fingerprint{Start: first.Start.UnixMilli(), End: last.End.UnixMilli(), AllDay: true})
	}
	return len(slots), fill(spoken.Times.Span, "{from}", timeTag(first.Start), "{to}", timeTag(last.End))
}

// voted counts the participants who voted. Votes of a rescheduled poll are hidden.
func (c cardData) voted() string {
	people := c.poll.People(c.group)
	switch {
	case len(people) == 0:
		return ""
	case c.poll.Sync.Rescheduled != nil:
		return spoken.Card.HiddenVotes
	}
	voted := make(map[string]bool, len(c.votes))
	for _, vote := range c.votes {
		voted[vote.UserID] = vote.Given()
	}
	pending := len(slices.DeleteFunc(slices.Clone(people), func(id string) bool { return voted[id] }))
	text := spoken.Card.Voted
	if pending > 0 {
		text = spoken.Card.VotedSome
	}
	return fill(text, "{voted}", strconv.Itoa(len(people)-pending), "{all}", strconv.Itoa(len(people)), "{pending}", strconv.Itoa(pending))
}

// winningTime is when the session takes place, struck out if it was cancelled. The
// original time of a session that the calendar moved stands struck out before it.
func (c cardData) winningTime() string {
	winning, original := c.winning(), c.original()
	if winning.IsZero() {
		return ""
	}
	ends := between(original, winning, zoneOf(c.poll)).lengthDiffers()
	text := spoken.sessionTime(winning, ends, spoken.discordTime)
	switch {
	case c.poll.Status == rules.Finalized && !original.IsZero() && original != winning:
		return struck(spoken.sessionTime(original, ends, spoken.discordTime)) + " → " + text
	case c.poll.Status == rules.Finalized:
		return text
	case c.poll.Status == rules.Cancelled:
		return struck(spoken.sessionTime(winning, false, spoken.discordTime))
	default:
		return ""
	}
}

func struck(text string) string { return "~~" + text + "~~" }

// winning is the time of the winning slot; zero if there is none.
func (c cardData) winning() rules.Fingerprint { return c.slotTime(c.poll.WinningSlotID) }

// original is the time from which the calendar moved the session; zero if it did not.
func (c cardData) original() rules.Fingerprint {
	if c.poll.Sync.Rescheduled == nil {
		return rules.Fingerprint{}
	}
	return c.slotTime(c.poll.Sync.Rescheduled.FromSlotID)
}

func (c cardData) slotTime(id string) rules.Fingerprint {
	for _, slot := range c.slots {
		if slot.ID == id {
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
	return ids.Of(string(all)).Hex(16)
}
