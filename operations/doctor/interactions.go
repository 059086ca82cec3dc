package doctor

import (
	"context"
	"slices"
	"strings"

	"questscheduler/notify"
	"questscheduler/web-hooks/interactions"
)

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
