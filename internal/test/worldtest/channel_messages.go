package worldtest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"questscheduler/demo/sim/discord"
	"questscheduler/internal/poll"
	"questscheduler/rules"
)

// marks of our messages: what a line's link ends with, and what a card's button
// is called.
const (
	lineMark = "?ref="
	cardMark = "vote_btn:"
)

// marked are the messages of a channel, by the mark that is of that kind; none
// where the world has no Discord.
func (w *World) marked(channel, kind string) map[string][]discord.Message {
	found := map[string][]discord.Message{}
	if w.Discord == nil {
		return found
	}
	for _, message := range w.Discord.Messages(channel) {
		for _, component := range message.Components {
			if _, mark, ok := strings.Cut(string(component), kind); ok {
				mark, _, _ = strings.Cut(mark, `"`)
				found[mark] = append(found[mark], message)
			}
		}
	}
	return found
}

// messageProblems: a transition is announced once in a channel (invariant 4), as
// far as the bot could see what it had posted.
func (w *World) messageProblems() (problems []string) {
	if w.Discord == nil || w.past.blind {
		return nil
	}
	posted := len(w.Discord.Messages(Channel)) + len(w.Discord.Messages(OtherChannel))
	if posted == w.past.posted {
		return nil
	}
	w.past.posted = posted
	for _, channel := range []string{Channel, OtherChannel} {
		for _, kind := range []string{lineMark, cardMark} {
			found := w.marked(channel, kind)
			for _, mark := range slices.Sorted(maps.Keys(found)) {
				if problem := w.past.preferences.messageProblem(found[mark][0]); kind == lineMark && problem != "" {
					problems = append(problems, problem)
				}
				if n := len(found[mark]); n > 1 {
					problems = append(problems, fmt.Sprintf("channel %s has %d messages with the mark %s%s", channel, n, kind, mark))
				}
			}
		}
	}
	return problems
}

// Silence says that a group had no channel for a while: its cards show the changes
// of that time with the next change.
func (w *World) Silence() { w.past.silent = true }

// CardProblems says which polls have a card that does not show how they stand.
// There is none once everything has come to rest.
func (w *World) CardProblems() (problems []string) {
	w.t.Helper()
	if w.Discord == nil || w.past.silent {
		return nil
	}
	for _, p := range w.Polls() {
		group, err := poll.LoadGroup(w.ctx, w.Documents, p.GroupID)
		w.must(err)
		if group == nil || group.Discord.ChannelID == "" || p.Discord.MessageID == "" || p.Discord.Error != "" {
			continue // what Discord refused is drawn with the next change
		}
		cards := w.marked(p.Discord.ChannelID, cardMark)[p.ID]
		i := slices.IndexFunc(cards, func(m discord.Message) bool { return m.ID == p.Discord.MessageID })
		status := string(p.Status)
		if p.Status == rules.Finalized && p.Sync.Rescheduled != nil {
			status = "RESCHEDULED"
		}
		switch {
		case i < 0:
			problems = append(problems,
				fmt.Sprintf("poll %s names card %s in channel %s, which is not there", p.ID, p.Discord.MessageID, p.Discord.ChannelID))
		case len(cards[i].Embeds) != 1 || !strings.Contains(string(cards[i].Embeds[0]), `"`+status+`"`):
			problems = append(problems, fmt.Sprintf("poll %s is %s, and its card shows %s", p.ID, status, cards[i].Embeds))
		case !strings.Contains(string(cards[i].Embeds[0]), p.Title):
			problems = append(problems, fmt.Sprintf("poll %s is called %q, and its card shows %s", p.ID, p.Title, cards[i].Embeds))
		}
	}
	return problems
}
