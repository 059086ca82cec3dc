package demo

import (
	_ "embed"
	"io"
	"strings"
	"text/template"
)

// Ready is what the demo prints as JSON: where everything is, and who is who.
type Ready struct {
	API                string `json:"api"`
	Page               string `json:"page"`
	Google             string `json:"google"`
	Discord            string `json:"discord"`
	DiscordGuild       string `json:"discord_guild_id"`
	DiscordApplication string `json:"discord_application_id"`
	DiscordPublicKey   string `json:"discord_public_key"`
	Party
}

// Ready says where the demo is, and who is in it.
func (d *Demo) Ready() Ready {
	return Ready{
		API: d.url(), Page: d.url() + "/demo", Google: d.sims.GoogleURL(), Discord: d.sims.DiscordURL(),
		DiscordGuild: GuildID, DiscordApplication: d.config.DiscordApplicationID, DiscordPublicKey: d.config.DiscordPublicKey,
		Party: d.world.Party,
	}
}

// url is where the server answers.
func (d *Demo) url() string { return "http://" + d.listener.Addr().String() }

//go:embed ready.txt
var readySource string

var readyText = template.Must(template.New("demo ready").Parse(readySource))

//go:embed commands.txt
var commandsSource string

var commandsText = template.Must(template.New("demo").Parse(commandsSource))

//go:embed mirrors.txt
var mirrorsSource string

var mirrorsText = template.Must(template.New("demo mirrors").Parse(mirrorsSource))

// WriteAddresses writes where everything is, without a token.
func (r Ready) WriteAddresses(out io.Writer) error { return readyText.Execute(out, r) }

// WriteCommands writes commands to try, with everybody's tokens.
func (r Ready) WriteCommands(out io.Writer) error { return commandsText.Execute(out, r) }

// Mirrors returns the shell lines that try mirrors; "" without a second account.
func (r Ready) Mirrors() (string, error) {
	if r.Users["gm"].Second == nil {
		return "", nil
	}
	var lines strings.Builder
	err := mirrorsText.Execute(&lines, r)
	return lines.String(), err
}
