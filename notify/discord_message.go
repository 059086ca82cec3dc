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
	Embeds     []DiscordEmbed  `json:"embeds,omitempty"`
	Components []DiscordRow    `json:"components,omitempty"`
	Mentions   DiscordMentions `json:"allowed_mentions"`
}

// DiscordEmbed is a box in a message.
type DiscordEmbed struct {
	Title  string         `json:"title,omitempty"`
	Fields []DiscordField `json:"fields,omitempty"`
}

// DiscordField is a named value in an embed. Discord refuses an empty value.
type DiscordField struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Inline bool   `json:"inline,omitempty"`
}

// DiscordRow is a row of buttons below a message.
type DiscordRow struct {
	Buttons []DiscordButton `json:"components"`
	Type    int             `json:"type"`
}

// DiscordButton has either a URL or a CustomID, by its style.
type DiscordButton struct {
	Label    string `json:"label"`
	Style    int    `json:"style"`
	Disabled bool   `json:"disabled"`
	URL      string `json:"url,omitempty"`
	CustomID string `json:"custom_id,omitempty"`
	Type     int    `json:"type"`
}

// DiscordMentions is whom a message may ping; the zero value is nobody, whatever
// the text says.
type DiscordMentions struct {
	Parse   []string `json:"parse"`
	Roles   []string `json:"roles,omitempty"`
	Replied bool     `json:"replied_user"`
}

// Discord's numbers for components and styles of buttons.
const (
	rowComponent    = 1
	buttonComponent = 2
	primaryStyle    = 1
	linkStyle       = 5
)

// withButton is a row with one button.
func withButton(button DiscordButton) []DiscordRow {
	button.Type = buttonComponent
	return []DiscordRow{{Type: rowComponent, Buttons: []DiscordButton{button}}}
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
	m.ID, m.Mentions = "", DiscordMentions{}
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
