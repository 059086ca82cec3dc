package notify

import (
	"encoding/json"
	"strings"
)

// DiscordMessage is a message in the form of Discord's API, as it is sent and as
// it comes back. Stored hashes of cards depend on the order of the fields.
type DiscordMessage struct {
	ID         string          `json:"id,omitempty"`
	Content    string          `json:"content,omitempty"`
	Embeds     []discordEmbed  `json:"embeds,omitempty"`
	Components []discordRow    `json:"components,omitempty"`
	Mentions   discordMentions `json:"allowed_mentions"`
}

type discordEmbed struct {
	Title  string         `json:"title,omitempty"`
	Fields []discordField `json:"fields,omitempty"`
}

type discordField struct {
	Name   string `json:"name"`
	Value  string `json:"value"` // Discord refuses an empty one
	Inline bool   `json:"inline,omitempty"`
}

type discordRow struct {
	Buttons []discordButton `json:"components"`
	Type    int             `json:"type"`
}

// discordButton has either a URL or a CustomID, by its style.
type discordButton struct {
	Label    string `json:"label"`
	Style    int    `json:"style"`
	Disabled bool   `json:"disabled"`
	URL      string `json:"url,omitempty"`
	CustomID string `json:"custom_id,omitempty"`
	Type     int    `json:"type"`
}

// discordMentions is whom a message may ping; the zero value is nobody, whatever
// the text says.
type discordMentions struct {
	Parse   []string `json:"parse"`
	Roles   []string `json:"roles,omitempty"`
	Replied bool     `json:"replied_user"`
}

// Discord's numbers for components and styles of buttons.
const (
	rowComponent, buttonComponent = 1, 2
	primaryStyle, linkStyle       = 1, 5
)

func withButton(button discordButton) []discordRow {
	button.Type = buttonComponent
	return []discordRow{{Type: rowComponent, Buttons: []discordButton{button}}}
}

// encode is the body of a post with a nonce, or of an edit without.
func (m DiscordMessage) encode(nonce string) []byte {
	if m.Mentions.Parse == nil {
		m.Mentions.Parse = []string{} // without a list every mention pings
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
	m.ID, m.Mentions = "", discordMentions{}
	return string(m.encode(""))
}

// mark identifies a message of ours: the custom id or the link of its button.
func (m DiscordMessage) mark() string {
	if len(m.Components) == 0 || len(m.Components[0].Buttons) == 0 {
		return ""
	}
	button := m.Components[0].Buttons[0]
	return button.CustomID + button.URL
}

// isSnowflake tells one of Discord's ids from other text.
func isSnowflake(text string) bool {
	return text != "" && len(text) <= 20 && strings.Trim(text, "0123456789") == ""
}
