package notify

import (
	"testing"

	"github.com/bwmarrin/discordgo"
)

func TestHasMark_ButtonsOfOthers_AreNotOurs(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		button discordgo.Button
		mark   string
		want   bool
	}{
		"our card":                       {discordgo.Button{CustomID: "vote_btn:p"}, "vote_btn:p", true},
		"another poll's card":            {discordgo.Button{CustomID: "vote_btn:pp"}, "vote_btn:p", false},
		"a link that ends as our card":   {discordgo.Button{URL: "https://other.example/vote_btn:p"}, "vote_btn:p", false},
		"our message":                    {discordgo.Button{URL: "https://app.example/p" + messageMark("jrn_1")}, messageMark("jrn_1"), true},
		"a message of another reference": {discordgo.Button{URL: "https://app.example/p" + messageMark("jrn_2")}, messageMark("jrn_1"), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := (DiscordMessage{Components: withButton(row.button)}).hasMark(row.mark); got != row.want {
				t.Errorf("got %t", got)
			}
		})
	}
	if (DiscordMessage{}).hasMark("vote_btn:p") {
		t.Error("a message without buttons has the mark")
	}
}

// What is compared with what Discord returned are the words, the titles and the buttons with
// where they lead, and no colour.
func TestShows_DiffersByWhatPeopleSee(t *testing.T) {
	t.Parallel()
	vote := discordgo.Button{Label: "Vote", Style: discordgo.PrimaryButton, CustomID: "vote_btn:p"}
	message := func(change func(m *DiscordMessage, button *discordgo.Button)) string {
		m := DiscordMessage{Content: "Moved", Embeds: []discordgo.MessageEmbed{{Title: "Session", Color: 1}}}
		button := vote
		change(&m, &button)
		if m.Components == nil {
			m.Components = withButton(button)
		}
		return m.shows()
	}
	was := message(func(*DiscordMessage, *discordgo.Button) {})
	for name, row := range map[string]struct {
		change func(m *DiscordMessage, button *discordgo.Button)
		same   bool
	}{
		"other words":       {func(m *DiscordMessage, _ *discordgo.Button) { m.Content = "Cancelled" }, false},
		"another title":     {func(m *DiscordMessage, _ *discordgo.Button) { m.Embeds[0].Title = "Another" }, false},
		"another colour":    {func(m *DiscordMessage, _ *discordgo.Button) { m.Embeds[0].Color = 2 }, true},
		"another label":     {func(_ *DiscordMessage, b *discordgo.Button) { b.Label = "Closed" }, false},
		"a button disabled": {func(_ *DiscordMessage, b *discordgo.Button) { b.Disabled = true }, false},
		"another style":     {func(_ *DiscordMessage, b *discordgo.Button) { b.Style = discordgo.SecondaryButton }, false},
		"another poll's":    {func(_ *DiscordMessage, b *discordgo.Button) { b.CustomID = "vote_btn:q" }, false},
		"a link in place":   {func(_ *DiscordMessage, b *discordgo.Button) { b.CustomID, b.URL = "", "https://app.example/p" }, false},
		"another link":      {func(_ *DiscordMessage, b *discordgo.Button) { b.URL = "https://app.example/q" }, false},
		"no button": {func(m *DiscordMessage, _ *discordgo.Button) {
			m.Components = []discordRow{{Type: discordgo.ActionsRowComponent}}
		}, false},
		"no row":             {func(m *DiscordMessage, _ *discordgo.Button) { m.Components = []discordRow{} }, false},
		"another row's type": {func(m *DiscordMessage, b *discordgo.Button) { m.Components = withButton(*b); m.Components[0].Type = 9 }, false},
	} {
		if got := message(row.change); (got == was) != row.same {
			t.Errorf("%s: it shows %s, and before %s", name, got, was)
		}
	}
}
