package interactions

// Command is this server's own command, with subcommands. Of the web app's commands it answers
// those that link channels; the others are never touched.
const Command = "quest"

// Kinds and contexts of commands
// (https://docs.discord.com/developers/interactions/application-commands).
const (
	chatInput    = 1
	subcommand   = 1
	textOption   = 3
	guildContext = 0
	guildInstall = 0
)

// CommandDefinition is a command as Discord takes it.
type CommandDefinition struct {
	Name        string              `json:"name"`
	Kind        int                 `json:"type"`
	Description string              `json:"description"`
	Required    bool                `json:"required,omitempty"`
	Options     []CommandDefinition `json:"options,omitempty"`
	// Autocomplete: Discord asks what the text that is typed may become.
	Autocomplete bool `json:"autocomplete,omitempty"`
	// Contexts and Integrations are for commands of every guild; a guild's own take neither.
	Contexts     []int `json:"contexts,omitempty"`
	Integrations []int `json:"integration_types,omitempty"`
}

// Commands are the commands that this server answers, for every guild or for one.
func Commands(ofGuild bool) []CommandDefinition {
	aPoll := CommandDefinition{
		Name: optionPoll, Kind: textOption, Autocomplete: true, Description: "The poll, by its title; without it the open poll of this channel",
	}
	quest := CommandDefinition{
		Name: Command, Kind: chatInput, Description: "Group sessions: polls, votes and your account",
		Options: []CommandDefinition{
			{Name: "poll", Kind: subcommand, Description: "Makes a poll for the group of this channel", Options: []CommandDefinition{
				{Name: "title", Kind: textOption, Description: "What the session is called", Required: true},
				{Name: "zone", Kind: textOption, Description: "The time zone of the times, such as Europe/Berlin"},
				{Name: "from", Kind: textOption, Description: "The first day to choose from, such as 2026-12-24"},
			}},
			{Name: "who", Kind: subcommand, Description: "Says who has not voted in a poll", Options: []CommandDefinition{aPoll}},
			{Name: "manage", Kind: subcommand, Description: "Offers what you can do with a poll that you created", Options: []CommandDefinition{aPoll}},
			{Name: "link", Kind: subcommand, Description: "Gives this channel to a group; for who manages the channel", Options: []CommandDefinition{
				{Name: optionCode, Kind: textOption, Description: "A code of the group's settings"},
				{Name: optionGroup, Kind: textOption, Autocomplete: true, Description: "The name of a group that you created"},
				{Name: "new", Kind: textOption, Description: "The name of a new group"},
			}},
			{Name: "unlink", Kind: subcommand, Description: "Takes this channel from its group; for who manages the channel"},
			{Name: "me", Kind: subcommand, Description: "Shows the account that you are linked to"},
			{Name: "me-code", Kind: subcommand, Description: "Gives a code by which you link your account"},
		},
	}
	all := []CommandDefinition{
		quest,
		{
			Name: "link-group", Kind: chatInput, Description: "Gives this channel to the group of a code; for who manages the channel",
			Options: []CommandDefinition{
				{Name: optionCode, Kind: textOption, Description: "A code of the group's settings", Required: true},
			},
		},
		{Name: "unlink-group", Kind: chatInput, Description: "Takes this channel from its group; for who manages the channel"},
	}
	for i := range all {
		if !ofGuild {
			all[i].Contexts, all[i].Integrations = []int{guildContext}, []int{guildInstall}
		}
	}
	return all
}
