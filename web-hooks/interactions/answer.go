package interactions

import (
	"encoding/json"
	"unicode/utf8"
)

// Kinds of answers.
const (
	answerPong    = 1
	answerMessage = 4
	answerUpdate  = 7
	answerChoices = 8
	answerForm    = 9
)

const (
	ephemeral  = 1 << 6 // a message that only the one sees who caused it
	maxContent = 2000   // characters of a message
	maxChoices = 25
)

// Kinds of components.
const (
	componentRow      = 1
	componentButton   = 2
	componentSelect   = 3
	componentLabel    = 18
	componentInput    = 4
	componentText     = 10
	componentCheckbox = 23

	styleSecondary = 2
	styleLink      = 5
	styleShort     = 1 // of an input
	styleParagraph = 2
)

// answer is an answer to an interaction
// (https://docs.discord.com/developers/interactions/receiving-and-responding#interaction-response-object).
type answer struct {
	Kind int `json:"type"`
	Data any `json:"data,omitempty"`
}

// message is a message for the one who caused the interaction. It pings nobody.
type message struct {
	Content    string          `json:"content"`
	Flags      int             `json:"flags"`
	Mentions   json.RawMessage `json:"allowed_mentions"`
	Components []component     `json:"components"`
	Embeds     []embed         `json:"embeds,omitempty"`
}

// embed is a text below a message, which Discord sends back with a press of its buttons.
type embed struct {
	Description string       `json:"description,omitempty"`
	Fields      []embedField `json:"fields,omitempty"`
}

type embedField struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// component is a component of a message or a form; see
// https://docs.discord.com/developers/components/reference.
type component struct {
	Kind        int            `json:"type"`
	CustomID    string         `json:"custom_id,omitempty"`
	Label       string         `json:"label,omitempty"`
	Description string         `json:"description,omitempty"`
	Content     string         `json:"content,omitempty"`
	Style       int            `json:"style,omitempty"`
	URL         string         `json:"url,omitempty"`
	Component   *component     `json:"component,omitempty"`
	Components  []component    `json:"components,omitempty"`
	Options     []selectOption `json:"options,omitempty"`
	Placeholder string         `json:"placeholder,omitempty"`
	MinValues   *int           `json:"min_values,omitempty"`
	MaxValues   int            `json:"max_values,omitempty"`
	Value       string         `json:"value,omitempty"`
	MaxLength   int            `json:"max_length,omitempty"`
	Required    *bool          `json:"required,omitempty"`
	Default     bool           `json:"default,omitempty"`
}

type selectOption struct {
	Label string `json:"label"`
	Value string `json:"value"`
	// Description is a second line.
	Description string `json:"description,omitempty"`
	Default     bool   `json:"default,omitempty"`
}

type form struct {
	CustomID   string      `json:"custom_id"`
	Title      string      `json:"title"`
	Components []component `json:"components"`
}

type choices struct {
	Choices []choice `json:"choices"`
}

// choice is what an autocompletion offers: the name is shown, the value sent.
type choice struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// say answers with a text, and with buttons that lead out of Discord.
func say(text string, links ...component) answer {
	shown := message{Content: cut(text, maxContent), Flags: ephemeral, Mentions: json.RawMessage(`{"parse":[]}`), Components: []component{}}
	if len(links) > 0 {
		shown.Components = []component{{Kind: componentRow, Components: links}}
	}
	return answer{answerMessage, shown}
}

// sorry says why an interaction of a kind has no other answer. An autocompletion offers nothing:
// Discord shows no text in its place.
func sorry(kind int, text string) answer {
	if kind == kindAutocomplete {
		return answer{answerChoices, choices{[]choice{}}}
	}
	return say(text)
}

// replace puts a text in the place of the message whose component was pressed, without its
// components.
func replace(text string) answer {
	said := say(text)
	said.Kind = answerUpdate
	return said
}

// link is a button that leads to a page.
func link(label, address string) component {
	return component{Kind: componentButton, Style: styleLink, Label: label, URL: address}
}

// cut shortens a text to so many characters.
func cut(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}
