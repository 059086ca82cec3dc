package notify

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/bwmarrin/discordgo"
)

// Application is an application of Discord, as its bot sees it.
type Application struct {
	ID        string `json:"id"`
	VerifyKey string `json:"verify_key"`
	// Endpoint is where Discord sends interactions; "": it sends none.
	Endpoint string `json:"interactions_endpoint_url"`
}

// RegisteredCommand is a command of an application.
type RegisteredCommand struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

const endpointApplication = "applications/@me"

// Application returns the bot's application.
func (c *DiscordClient) Application(ctx context.Context) (application Application, err error) {
	err = c.call(ctx, http.MethodGet, discordgo.EndpointAPI+endpointApplication, nil, &application)
	return application, err
}

// SetEndpoint says where Discord sends interactions from now on. Discord tries the address
// first, and refuses one that does not answer as it must.
func (c *DiscordClient) SetEndpoint(ctx context.Context, address string) error {
	body, err := json.Marshal(map[string]string{"interactions_endpoint_url": address})
	if err != nil {
		return err
	}
	return c.call(ctx, http.MethodPatch, discordgo.EndpointAPI+endpointApplication, body, nil)
}

// Commands lists the commands of an application: those of one guild, or with guild "" those of
// every guild.
func (c *DiscordClient) Commands(ctx context.Context, application, guild string) (registered []RegisteredCommand, err error) {
	err = c.call(ctx, http.MethodGet, commandsAt(application, guild), nil, &registered, namedIDs(application, guild)...)
	return registered, err
}

// UpsertCommand registers a command, in place of one of the same name. Others stay: the request
// that replaces all would drop those of the web app.
func (c *DiscordClient) UpsertCommand(ctx context.Context, application, guild string, command any) error {
	body, err := json.Marshal(command)
	if err != nil {
		return err
	}
	return c.call(ctx, http.MethodPost, commandsAt(application, guild), body, nil, namedIDs(application, guild)...)
}

// DeleteCommand removes a command.
func (c *DiscordClient) DeleteCommand(ctx context.Context, application, guild, id string) error {
	return c.call(ctx, http.MethodDelete, commandsAt(application, guild)+"/"+id, nil, nil, append(namedIDs(application, guild), id)...)
}

func commandsAt(application, guild string) string {
	if guild == "" {
		return discordgo.EndpointApplicationGlobalCommands(application)
	}
	return discordgo.EndpointApplicationGuildCommands(application, guild)
}

func namedIDs(application, guild string) []string {
	if guild == "" {
		return []string{application}
	}
	return []string{application, guild}
}
