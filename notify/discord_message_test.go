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

// What is compared with what Discord returned are the words and the titles, and no colour.
func TestShows_DiffersByWhatPeopleSee(t *testing.T) {
	t.Parallel()
	was := DiscordMessage{Content: "Moved", Embeds: []discordgo.MessageEmbed{{Title: "Session", Color: 1}}}
	words, title, colour := was, was, was
	words.Content = "Cancelled"
	title.Embeds = []discordgo.MessageEmbed{{Title: "Another", Color: 1}}
	colour.Embeds = []discordgo.MessageEmbed{{Title: "Session", Color: 2}}
	if words.shows() == was.shows() || title.shows() == was.shows() || colour.shows() != was.shows() {
		t.Errorf("%s, %s, %s and %s", was.shows(), words.shows(), title.shows(), colour.shows())
	}
}
