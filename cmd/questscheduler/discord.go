package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"questscheduler/internal/config"
	"questscheduler/notify"
	"questscheduler/web-hooks/interactions"
)

// discordCommand holds the commands about Discord.
type discordCommand struct {
	Register registerCommand `cmd:"" help:"Register the bot's commands with Discord, and where it sends what people do."`
}

// registerCommand registers commands.
type registerCommand struct {
	Guild    string `placeholder:"ID" help:"In this guild alone, where a change is seen at once; otherwise in every guild."`
	Remove   bool   `help:"Remove the commands instead."`
	Endpoint bool   `help:"Also have Discord send buttons and commands to QS_PUBLIC_URL. It replaces the address that is set there."`
	DryRun   bool   `help:"Say what would be done, and do nothing."`
}

// Help is what --help says beside the flags.
func (registerCommand) Help() string {
	return `Only /quest, /link-group and /unlink-group are registered or removed; other commands of the application stay. It may be repeated.

Examples:

    questscheduler discord register --guild 1234567890 --endpoint
    questscheduler discord register --remove --dry-run`
}

// Run is the command.
func (c registerCommand) Run(ctx context.Context, process Process) error {
	cfg, problems, err := readSettings(process.Environ, config.Default())
	if err != nil {
		return err
	}
	needed := []string{"QS_DISCORD_APPLICATION_ID", "QS_DISCORD_PUBLIC_KEY", "QS_DISCORD_BOT_TOKEN", "QS_DISCORD_ENDPOINT"}
	if c.Endpoint && cfg.DiscordEndpoint == "" { // a simulator does without HTTPS
		needed = append(needed, "QS_PUBLIC_URL")
	}
	for _, problem := range problems {
		if slices.Contains(needed, problem.Name) {
			return usageError{config.Problems{problem}}
		}
	}
	switch {
	case cfg.InteractionKey() == nil || !cfg.DiscordBotToken.IsSet():
		return usageError{errors.New("set QS_DISCORD_BOT_TOKEN, QS_DISCORD_APPLICATION_ID and QS_DISCORD_PUBLIC_KEY first")}
	case c.Endpoint && cfg.PublicURL == "":
		return usageError{errors.New("set QS_PUBLIC_URL first: it is where Discord reaches this server")}
	}
	client, err := notify.NewDiscordClient(cfg.DiscordBotToken.Reveal(), cfg.DiscordEndpoint, nil)
	if err != nil {
		return err
	}
	return c.carryOut(ctx, cfg, client, process.Stdout)
}

func (c registerCommand) carryOut(ctx context.Context, cfg config.Config, client *notify.DiscordClient, out io.Writer) error {
	registered, err := client.Commands(ctx, cfg.DiscordApplicationID, c.Guild)
	if err != nil {
		return err
	}
	where := "in every guild"
	if c.Guild != "" {
		where = "in guild " + c.Guild
	}
	for _, command := range interactions.Commands(c.Guild != "") {
		i := slices.IndexFunc(registered, func(known notify.RegisteredCommand) bool { return known.Name == command.Name })
		switch {
		case c.Remove && i < 0:
			err = c.do(out, "/"+command.Name+" is not registered "+where, nil)
		case c.Remove:
			err = c.do(out, "/"+command.Name+" removed "+where, func() error {
				return client.DeleteCommand(ctx, cfg.DiscordApplicationID, c.Guild, registered[i].ID)
			})
		default:
			err = c.do(out, "/"+command.Name+" registered "+where, func() error {
				return client.UpsertCommand(ctx, cfg.DiscordApplicationID, c.Guild, command)
			})
		}
		if err != nil {
			return err
		}
	}
	if !c.Endpoint {
		return nil
	}
	address := cfg.PublicURL + interactions.Path
	if c.Remove {
		application, err := client.Application(ctx)
		if err != nil {
			return err
		}
		if application.Endpoint != address {
			return c.do(out, fmt.Sprintf("interactions are sent to %q, which is not this server's address and stays", application.Endpoint), nil)
		}
		address = ""
	}
	return c.do(out, fmt.Sprintf("interactions are sent to %q", address), func() error { return client.SetEndpoint(ctx, address) })
}

// do does one thing and says so; in a dry run it says so alone. nil does nothing.
func (c registerCommand) do(out io.Writer, what string, work func() error) error {
	if c.DryRun {
		what = "would do: " + what
	} else if work != nil {
		if err := work(); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(out, what)
	return err
}
