package main

import (
	_ "embed"
	"io"
	"strings"
	"text/template"
)

// demoReady is what the demo prints as JSON: where everything is, and who is who.
type demoReady struct {
	API                string `json:"api"`
	Page               string `json:"page"`
	Google             string `json:"google"`
	Discord            string `json:"discord"`
	DiscordGuild       string `json:"discord_guild_id"`
	DiscordApplication string `json:"discord_application_id"`
	DiscordPublicKey   string `json:"discord_public_key"`
	demoParty
}

func (d *demo) Ready() demoReady {
	return demoReady{
		API: d.url(), Page: d.url() + "/demo", Google: d.sims.googleURL(), Discord: d.sims.discordURL(),
		DiscordGuild: demoGuildID, DiscordApplication: d.config.DiscordApplicationID, DiscordPublicKey: d.config.DiscordPublicKey,
		demoParty: d.world.demoParty,
	}
}

// url is where the server answers.
func (d *demo) url() string { return "http://" + d.listener.Addr().String() }

//go:embed demo_ready.txt
var demoReadySource string

var demoReadyText = template.Must(template.New("demo ready").Parse(demoReadySource))

//go:embed demo.txt
var demoTextSource string

var demoText = template.Must(template.New("demo").Parse(demoTextSource))

//go:embed demo_mirrors.txt
var demoMirrorsSource string

var demoMirrors = template.Must(template.New("demo mirrors").Parse(demoMirrorsSource))

// WriteAddresses writes where everything is, without a token.
func (r demoReady) WriteAddresses(out io.Writer) error { return demoReadyText.Execute(out, r) }

// WriteCommands writes commands to try, with everybody's tokens.
func (r demoReady) WriteCommands(out io.Writer) error { return demoText.Execute(out, r) }

// Mirrors returns the shell lines that try mirrors; "" without a second account.
func (r demoReady) Mirrors() (string, error) {
	if r.Users["gm"].Second == nil {
		return "", nil
	}
	var lines strings.Builder
	err := demoMirrors.Execute(&lines, r)
	return lines.String(), err
}
