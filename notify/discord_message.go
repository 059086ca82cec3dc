package notify

import (
	"encoding/json"
	"strings"

	"github.com/bwmarrin/discordgo"
)

// DiscordMessage is a message in the form of Discord's API, as it is sent and as
// it comes back. Stored hashes of cards depend on the order of the fields.
type DiscordMessage struct {
	ID      string                   `json:"id,omitempty"`
	Content string                   `json:"content,omitempty"`
	Embeds  []discordgo.MessageEmbed `json:"embeds,omitempty"`
	// Components are rows of buttons: nil leaves those of an edited message, an empty list
	// removes them.
	Components []discordRow `json:"components,omitzero"`
	// Mentions is whom the message may ping; the zero value is nobody, whatever the
	// text says.
	Mentions discordgo.MessageAllowedMentions `json:"allowed_mentions"`
}

// discordRow is a discordgo.ActionsRow of buttons. Unlike that one it can be read
// if another bot's message has components that discordgo does not know.
type discordRow struct {
	Buttons []discordgo.Button      `json:"components"`
	Type    discordgo.ComponentType `json:"type"`
}

func withButton(button discordgo.Button) []discordRow {
	return []discordRow{{Type: discordgo.ActionsRowComponent, Buttons: []discordgo.Button{button}}}
}

// encode is the body of a post with a nonce, or of an edit without.
func (m DiscordMessage) encode(nonce string) []byte {
	if m.Mentions.Parse == nil {
		m.Mentions.Parse = []discordgo.AllowedMentionType{} // without a list every mention pings
	}
	body, err := json.Marshal(struct {
		DiscordMessage
		Nonce   string `json:"nonce,omitempty"`
		Enforce bool   `json:"enforce_nonce,omitempty"`
	}{m, nonce, nonce != ""})
	if err != nil {
		panic(err) // the types above have no values that cannot be encoded
	}
	return body
}

// shows is what people see, and where buttons lead, for comparing a message with
// what Discord returned.
func (m DiscordMessage) shows() string {
	shown := DiscordMessage{Content: m.Content}
	for _, e := range m.Embeds {
		shown.Embeds = append(shown.Embeds, discordgo.MessageEmbed{Title: e.Title, Fields: e.Fields})
	}
	for _, row := range m.Components {
		kept := discordRow{Type: row.Type}
		for _, b := range row.Buttons {
			button := discordgo.Button{Label: b.Label, Style: b.Style, Disabled: b.Disabled, URL: b.URL, CustomID: b.CustomID}
			kept.Buttons = append(kept.Buttons, button)
		}
		shown.Components = append(shown.Components, kept)
	}
	return string(shown.encode(""))
}

// hasMark reports whether the message is the one of ours that a mark identifies: by
// the custom id of a card's button, or the end of the link of a message's button.
func (m DiscordMessage) hasMark(mark string) bool {
	if len(m.Components) == 0 || len(m.Components[0].Buttons) == 0 {
		return false
	}
	button := m.Components[0].Buttons[0]
	return button.CustomID == mark || strings.HasPrefix(mark, markOfLink) && strings.HasSuffix(button.URL, mark)
}
