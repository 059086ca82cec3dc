package notify

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/bwmarrin/discordgo"

	"questscheduler/internal/poll"
	"questscheduler/rules"
)

// scene is all that a card shows.
type scene struct {
	poll  poll.Poll
	group *poll.Group
	// channel is where the card is to be; "" where there is none to be drawn.
	channel string
	slots   []poll.Slot // earliest first
	votes   []poll.Vote
}

// cardMark is the id of the card's button, which the web app's own functions
// answer to and by which a card is found again.
func cardMark(pollID string) string { return "vote_btn:" + pollID }

// card is the embed that stands for a poll in its group's channel, in the form
// that channels show today. It mentions nobody.
func (a *Announcer) card(s scene) Message {
	button := &discordgo.Button{Label: voteLabel, Style: discordgo.PrimaryButton, CustomID: cardMark(s.poll.ID)}
	if s.poll.Status != rules.Open {
		button.Label, button.Disabled = closedLabel, true
	}
	return Message{
		Embed: &discordgo.MessageEmbed{
			Title:  titleMark + discordTitle(s.poll.Title, maxEmbedTitle),
			Fields: a.cardFields(s),
		},
		Button: button,
	}
}

// cardFields leaves out what there is nothing to say of: Discord refuses a
// field without a value.
func (a *Announcer) cardFields(s scene) []*discordgo.MessageEmbedField {
	var fields []*discordgo.MessageEmbedField
	add := func(name, value string, inline bool) {
		if value != "" {
			fields = append(fields, &discordgo.MessageEmbedField{Name: name, Value: value, Inline: inline})
		}
	}
	count, span := s.offered()
	add("Slots", fmt.Sprintf("%d available", count), true)
	add("Status", s.status(), true)
	add("Votes", s.voted(), true)
	add("Range", span, false)
	add("Winning slot", s.winningTime(), false)
	if link := a.pollLink(s.poll.ID); link != "" {
		add("View on web", "["+openPollLabel+"]("+link+")", false)
	}
	return fields
}

func (s scene) status() string {
	if s.poll.Status == rules.Finalized && s.poll.Sync.Rescheduled != nil {
		return rescheduledLabel
	}
	return string(s.poll.Status)
}

// offered counts the slots that people can choose and spans them. The slot of
// a move in the calendar is none of them.
func (s scene) offered() (count int, span string) {
	var first, last poll.Slot
	for _, slot := range s.slots {
		if slot.Source == poll.SourceCalendar {
			continue
		}
		if count++; count == 1 {
			first, last = slot, slot
		}
		if slot.End.After(last.End) {
			last = slot
		}
	}
	switch {
	case count == 0:
		return 0, ""
	case first.AllDay && last.AllDay:
		return count, days(rules.Fingerprint{Start: first.Start.UnixMilli(), End: last.End.UnixMilli(), AllDay: true})
	default:
		return count, timeTag(first.Start) + " – " + timeTag(last.End)
	}
}

// voted counts the participants who voted. While the session is rescheduled
// nothing is said of votes.
func (s scene) voted() string {
	people := s.poll.People(s.group)
	switch {
	case len(people) == 0:
		return ""
	case s.poll.Sync.Rescheduled != nil:
		return hiddenVotes
	}
	answered := make(map[string]bool, len(s.votes))
	for _, vote := range s.votes {
		answered[vote.UserID] = vote.Given()
	}
	count := 0
	for _, id := range people {
		if answered[id] {
			count++
		}
	}
	text := fmt.Sprintf("%d/%d voted", count, len(people))
	if pending := len(people) - count; pending > 0 {
		text += fmt.Sprintf(" (%d pending)", pending)
	}
	return text
}

// winningTime is when the session takes place, struck out where it no longer
// does.
func (s scene) winningTime() string {
	winning := s.winning()
	switch {
	case winning.IsZero():
		return ""
	case s.poll.Status == rules.Finalized:
		return discordTime(winning)
	case s.poll.Status == rules.Cancelled:
		return "~~" + discordTime(winning) + "~~"
	default:
		return ""
	}
}

// winning is the time of the winning slot; zero where there is none.
func (s scene) winning() rules.Fingerprint {
	for _, slot := range s.slots {
		if slot.ID == s.poll.WinningSlotID {
			return slot.Fingerprint()
		}
	}
	return rules.Fingerprint{}
}

// hash is of everything that the card shows, and of calendarSync.state and the
// winning time besides: the card is edited when it changes, and
// only then.
func (s scene) hash(card Message) (string, error) {
	text, err := card.encode("")
	if err != nil {
		return "", err
	}
	all, err := json.Marshal([]string{string(text), string(s.poll.Sync.State), s.winning().String()})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(all)
	return hex.EncodeToString(sum[:16]), nil
}
