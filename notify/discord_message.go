package notify

import (
	"encoding/json"
	"strings"

	"github.com/bwmarrin/discordgo"
)

// Message is what a post or an edit sends.
type Message struct {
	Content string
	Embed   *discordgo.MessageEmbed
	// Button is the one button below, or nil.
	Button   *discordgo.Button
	Mentions Mentions
}

// Mentions is whom a message may ping. The zero value is nobody, whatever its
// text says.
type Mentions struct {
	Everyone bool
	RoleID   string
}

// body is a message as Discord's API takes it. allowed_mentions is in every
// one: where it is left out, all that looks like a mention is one.
type body struct {
	Content    string                           `json:"content,omitempty"`
	Embeds     []*discordgo.MessageEmbed        `json:"embeds,omitempty"`
	Components []discordgo.MessageComponent     `json:"components,omitempty"`
	Mentions   discordgo.MessageAllowedMentions `json:"allowed_mentions"`
	Nonce      string                           `json:"nonce,omitempty"`
	Enforce    bool                             `json:"enforce_nonce,omitempty"`
}

// encode gives the body of a post with a nonce, or of an edit without.
func (m Message) encode(nonce string) ([]byte, error) {
	b := body{
		Content: m.Content, Nonce: nonce, Enforce: nonce != "",
		Mentions: discordgo.MessageAllowedMentions{Parse: []discordgo.AllowedMentionType{}},
	}
	if m.Embed != nil {
		b.Embeds = []*discordgo.MessageEmbed{m.Embed}
	}
	if m.Button != nil {
		b.Components = []discordgo.MessageComponent{
			discordgo.ActionsRow{Components: []discordgo.MessageComponent{*m.Button}},
		}
	}
	if m.Mentions.Everyone {
		b.Mentions.Parse = append(b.Mentions.Parse, discordgo.AllowedMentionTypeEveryone)
	}
	if m.Mentions.RoleID != "" {
		b.Mentions.Roles = []string{m.Mentions.RoleID}
	}
	return json.Marshal(b)
}

// Posted is a message as it stands in a channel.
type Posted struct {
	ID string
	// Shows is what people see of it, and what its buttons lead to.
	Shows Shown
}

// Shown is of a message what Discord gives back as it was sent, so that two
// can be compared with ==.
type Shown struct {
	// Text is content, titles, fields and labels, as JSON.
	Text string
	// Mark is the first button's custom id, or its link: what a message of
	// ours is known by.
	Mark string
}

// shown are the fields of a message, sent or answered, that Shown is made of.
type shown struct {
	Content string `json:"content"`
	Embeds  []struct {
		Title  string `json:"title"`
		Fields []struct {
			Name  string `json:"name"`
			Value string `json:"value"`
		} `json:"fields"`
	} `json:"embeds"`
	Components []struct {
		Components []struct {
			Label    string `json:"label"`
			Disabled bool   `json:"disabled"`
			URL      string `json:"url"`
			CustomID string `json:"custom_id"`
		} `json:"components"`
	} `json:"components"`
}

// readShown reads what a message shows from its JSON.
func readShown(message []byte) (Shown, error) {
	var s shown
	if err := json.Unmarshal(message, &s); err != nil {
		return Shown{}, err
	}
	text, err := json.Marshal(s)
	if err != nil {
		return Shown{}, err
	}
	out := Shown{Text: string(text)}
	if len(s.Components) > 0 && len(s.Components[0].Components) > 0 {
		button := s.Components[0].Components[0]
		out.Mark = button.CustomID + button.URL // a button has one of the two
	}
	return out, nil
}

// shows is what the message will show.
func (m Message) shows() (Shown, error) {
	text, err := m.encode("")
	if err != nil {
		return Shown{}, err
	}
	return readShown(text)
}

// isSnowflake tells an id of Discord's from other text.
func isSnowflake(text string) bool {
	return text != "" && len(text) <= 20 && strings.Trim(text, "0123456789") == ""
}
