package audit

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// message is one of a channel of Discord.
type message struct {
	ID     string `json:"id"`
	Embeds []struct {
		Title  string `json:"title"`
		Fields []struct {
			Name  string `json:"name"`
			Value string `json:"value"`
		} `json:"fields"`
	} `json:"embeds"`
}

var (
	struck = regexp.MustCompile(`~~[^~]*~~`)
	moment = regexp.MustCompile(`<t:(-?\d+)`)
)

// checkCards compares the cards in channels of Discord with their polls.
func (a *audit) checkCards() error {
	if a.Discord == nil {
		return nil
	}
	channels := map[string][]message{}
	for _, id := range slices.Sorted(maps.Keys(a.polls)) {
		p := a.polls[id]
		card := record{fields: mapOf(p.value("discord"))}
		group := a.groups[p.text("questingGroupId")]
		channel := card.text("channelId")
		if edited(p) || card.text("messageId") == "" || card.text("pendingSyncError") != "" || group.text("discord", "channelId") == "" {
			continue
		}
		if _, known := channels[channel]; !known {
			var all []message
			if _, err := a.get(a.Discord, "http://discord.sim/_sim/channels/"+channel+"/messages", "", &all); err != nil {
				return err
			}
			channels[channel] = all
		}
		at := slices.IndexFunc(channels[channel], func(m message) bool { return m.ID == card.text("messageId") })
		if at < 0 || len(channels[channel][at].Embeds) != 1 {
			a.found("poll %s names card %s, which channel %s does not show", id, card.text("messageId"), channel)
			continue
		}
		a.checkCard(p, channels[channel][at])
	}
	return nil
}

func (a *audit) checkCard(p record, card message) {
	fields := map[string]string{}
	for _, field := range card.Embeds[0].Fields {
		fields[field.Name] = field.Value
	}
	status := p.text("status")
	if status == finalized && p.has("calendarSync", "rescheduled") {
		status = isRescheduled
	}
	if fields["Status"] != status {
		a.found("the card of poll %s says %q; the poll is %s", p.id, fields["Status"], status)
	}
	if !strings.HasSuffix(card.Embeds[0].Title, p.text("title")) {
		a.found("the card of poll %s is called %q; the poll is called %q", p.id, card.Embeds[0].Title, p.text("title"))
	}
	slot := a.slots[p.id+"/"+p.text("winningSlotId")]
	shown := struck.ReplaceAllString(fields["Winning slot"], "")
	want := ""
	if p.text("status") == finalized && slot.fields != nil {
		if wholeDays(slot) {
			return // days have no moments
		}
		want = strconv.FormatInt(slot.when("start").Unix(), 10)
	}
	got := ""
	if found := moment.FindStringSubmatch(shown); found != nil {
		got = found[1]
	}
	if got != want {
		a.found("the card of poll %s shows the time %q (%s); the poll has %q", p.id, got, fields["Winning slot"], want)
	}
}
