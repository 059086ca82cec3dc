package doctor

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"questscheduler/notify"
	"questscheduler/web-hooks/interactions"
)

func checkDiscord(ctx context.Context, d Doctor) []finding {
	token := d.Config.DiscordBotToken.Reveal()
	switch {
	case d.faulty("QS_DISCORD_BOT_TOKEN") || d.faulty("QS_DISCORD_ENDPOINT"):
		return nil
	case token == "":
		return []finding{{fine, "discord", "off, since QS_DISCORD_BOT_TOKEN is not set; people are notified in the app"}}
	case d.Config.DiscordEndpoint == "":
		return []finding{{fine, "discord", "the token is set; it is not tried, since Discord is outside this machine"}}
	}
	status, err := d.get(ctx, d.Config.DiscordEndpoint+"/api/v9/users/@me", "Bot "+strings.TrimSpace(token))
	switch {
	case err != nil:
		return []finding{{wrong, "discord", "nothing answers at QS_DISCORD_ENDPOINT; correct it, or unset it for Discord itself"}}
	case status == http.StatusOK:
		return []finding{{warning, "discord", "the token is good at QS_DISCORD_ENDPOINT, which stands in for Discord; unset it to reach people"}}
	case status == http.StatusUnauthorized:
		return []finding{{wrong, "discord", "the token is refused; copy QS_DISCORD_BOT_TOKEN anew from the Discord developer portal"}}
	default:
		return []finding{
			{
				wrong, "discord",
				fmt.Sprintf("QS_DISCORD_ENDPOINT answers %d, as Discord would not; correct it, or unset it for Discord itself", status),
			},
		}
	}
}

// checkInteractions looks at what people do with the bot: whether Discord can reach this server,
// and, where a simulator stands in for Discord, whether it is told to.
func checkInteractions(ctx context.Context, d Doctor) []finding {
	const what = "discord buttons"
	cfg := d.Config
	switch {
	case d.faulty("QS_DISCORD_PUBLIC_KEY") || d.faulty("QS_DISCORD_APPLICATION_ID") || d.faulty("QS_DISCORD_ENDPOINT"):
		return nil
	case cfg.InteractionKey() == nil:
		return []finding{{fine, what, "not answered here, since QS_DISCORD_PUBLIC_KEY is not set"}}
	case cfg.DiscordEndpoint == "" && !strings.HasPrefix(cfg.PublicURL, "https://"):
		return []finding{{wrong, what, "Discord sends them to HTTPS alone; set QS_PUBLIC_URL to the address at which it reaches this server"}}
	case cfg.DiscordEndpoint == "" || !cfg.DiscordBotToken.IsSet():
		return []finding{{fine, what, "answered at " + cfg.PublicURL + interactions.Path +
			`; "questscheduler discord register --endpoint" tells Discord so`}}
	}
	client, err := notify.NewDiscordClient(cfg.DiscordBotToken.Reveal(), cfg.DiscordEndpoint, nil)
	if err != nil {
		return []finding{{wrong, what, err.Error()}}
	}
	application, err := client.Application(ctx)
	if err != nil {
		return nil // checkDiscord says why
	}
	commands, err := client.Commands(ctx, cfg.DiscordApplicationID, "")
	isOurs := func(command notify.RegisteredCommand) bool { return command.Name == interactions.Command }
	switch {
	case application.ID != cfg.DiscordApplicationID || application.VerifyKey != strings.ToLower(cfg.DiscordPublicKey):
		return []finding{{
			wrong, what, "the bot belongs to another application than QS_DISCORD_APPLICATION_ID and QS_DISCORD_PUBLIC_KEY; copy both anew",
		}}
	case application.Endpoint != cfg.PublicURL+interactions.Path:
		return []finding{{warning, what, `Discord sends them elsewhere; "questscheduler discord register --endpoint" has it send them here`}}
	case err != nil || !slices.ContainsFunc(commands, isOurs):
		return []finding{{warning, what, `/quest is not registered in every guild; run "questscheduler discord register"`}}
	}
	return []finding{{fine, what, "Discord sends them here, and /quest is registered"}}
}

// checkNewcomers looks at who becomes a person by an interaction alone.
func checkNewcomers(_ context.Context, d Doctor) []finding {
	const what = "discord people"
	guilds := d.Config.DiscordGuilds
	switch {
	case len(guilds) == 0 || d.faulty("QS_DISCORD_GUILDS"):
		return nil
	case d.Config.EveryGuild():
		return []finding{{warning, what, "users of every server that the bot is in need no account, and anybody can invite a bot; " +
			"name your servers' numbers in QS_DISCORD_GUILDS"}}
	}
	return []finding{{fine, what, fmt.Sprintf("users of %d servers need no account", len(guilds))}}
}
