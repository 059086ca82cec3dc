package interactions

import (
	"encoding/json"
	"strconv"
	"time"

	"questscheduler/internal/discord"
)

// Kinds of interactions.
const (
	kindPing         = 1
	kindCommand      = 2
	kindComponent    = 3
	kindAutocomplete = 4
	kindSubmit       = 5
)

// interaction is what this package reads of an interaction
// (https://docs.discord.com/developers/interactions/receiving-and-responding#interaction-object).
type interaction struct {
	ID            string `json:"id"`
	ApplicationID string `json:"application_id"`
	Kind          int    `json:"type"`
	GuildID       string `json:"guild_id"`
	ChannelID     string `json:"channel_id"`
	Channel       struct {
		Name string `json:"name"`
		// ParentID is a category, or a thread's channel.
		ParentID string `json:"parent_id"`
	} `json:"channel"`
	// AppPermissions are the bot's in the channel, Permissions the member's.
	AppPermissions string `json:"app_permissions"`
	Member         *struct {
		User        user   `json:"user"`
		Permissions string `json:"permissions"`
	} `json:"member"`
	User *user `json:"user"`
	// Message is the one that shows the pressed component.
	Message struct {
		Embeds []embed `json:"embeds"`
	} `json:"message"`
	Data struct {
		// Name and Options are a command's, CustomID a component's or a form's.
		Name     string   `json:"name"`
		Options  []option `json:"options"`
		CustomID string   `json:"custom_id"`
		// Components are a form's labels with what was chosen.
		Components []struct {
			Component field `json:"component"`
		} `json:"components"`
	} `json:"data"`
}

type user struct {
	ID         string `json:"id"`
	Username   string `json:"username"`
	GlobalName string `json:"global_name"`
	Avatar     string `json:"avatar"`
}

// option is an option of a command: a subcommand with options of its own, or a value.
type option struct {
	Name    string          `json:"name"`
	Value   json.RawMessage `json:"value"`
	Options []option        `json:"options"`
	// Focused is the one that is being typed, of an autocompletion.
	Focused bool `json:"focused"`
}

// field is a field of a form as it was submitted: Values of a select, Value of a text or checkbox.
type field struct {
	CustomID string          `json:"custom_id"`
	Values   []string        `json:"values"`
	Value    json.RawMessage `json:"value"`
}

// by is who caused the interaction; in guilds it is the member. Its ID is "" where nobody is
// named.
func (i interaction) by() discord.User {
	var from user
	switch {
	case i.Member != nil:
		from = i.Member.User
	case i.User != nil:
		from = *i.User
	}
	return discord.User{ID: from.ID, Username: from.Username, GlobalName: from.GlobalName, AvatarHash: from.Avatar}
}

// subcommand is the one of a command that was used, and its options by their names.
func (i interaction) subcommand() (name string, given map[string]string) {
	if len(i.Data.Options) == 0 {
		return "", map[string]string{}
	}
	return i.Data.Options[0].Name, textsOf(i.Data.Options[0].Options)
}

// given are the options of a command without subcommands, by their names.
func (i interaction) given() map[string]string { return textsOf(i.Data.Options) }

func textsOf(options []option) map[string]string {
	given := map[string]string{}
	for _, option := range options {
		var value string
		_ = json.Unmarshal(option.Value, &value) // what is no text is none
		given[option.Name] = value
	}
	return given
}

// focused is the option of a subcommand that is being typed, and its text so far.
func (i interaction) focused() (name, typed string) {
	_, given := i.subcommand()
	for _, sub := range i.Data.Options {
		for _, option := range sub.Options {
			if option.Focused {
				return option.Name, given[option.Name]
			}
		}
	}
	return "", ""
}

// fields are the fields of a submitted form, by their ids.
func (i interaction) fields() map[string]field {
	fields := map[string]field{}
	for _, label := range i.Data.Components {
		fields[label.Component.CustomID] = label.Component
	}
	return fields
}

// checked reports whether a checkbox is.
func (f field) checked() bool { return string(f.Value) == "true" }

// discordEpoch is where the time in Discord's ids begins, in milliseconds since 1970.
const discordEpoch = 1420070400000

// made is when Discord made an id; false for what is none.
func made(id string) (time.Time, bool) {
	number, err := strconv.ParseUint(id, 10, 63)
	return time.UnixMilli(int64(number>>22) + discordEpoch), err == nil
}
