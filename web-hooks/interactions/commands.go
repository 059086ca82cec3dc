package interactions

// Command is the one command of this server, with subcommands. The web app's functions have
// others, which are never touched.
const Command = "quest"

// Kinds and contexts of commands
// (https://docs.discord.com/developers/interactions/application-commands).
const (
	chatInput    = 1
	subcommand   = 1
	guildContext = 0
	guildInstall = 0
)

// CommandDefinition is a command as Discord takes it.
type CommandDefinition struct {
	Name        string              `json:"name"`
	Kind        int                 `json:"type"`
	Description string              `json:"description"`
	Options     []CommandDefinition `json:"options,omitempty"`
	// Contexts and Integrations are for commands of every guild; a guild's own take neither.
	Contexts     []int `json:"contexts,omitempty"`
	Integrations []int `json:"integration_types,omitempty"`
}

// Commands are the commands that this server answers, for every guild or for one.
func Commands(ofGuild bool) []CommandDefinition {
	quest := CommandDefinition{
		Name: Command, Kind: chatInput, Description: "Group sessions: polls, votes and your account",
		Options: []CommandDefinition{
			{Name: "me", Kind: subcommand, Description: "Shows the account that you are linked to"},
			{Name: "me-code", Kind: subcommand, Description: "Gives a code by which you link your account"},
		},
	}
	if !ofGuild {
		quest.Contexts, quest.Integrations = []int{guildContext}, []int{guildInstall}
	}
	return []CommandDefinition{quest}
}
