package notify

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"questscheduler/internal/fault"
)

// CallTimeout is how long one call to Discord may take. A task has 60 s and
// makes a handful of calls.
const CallTimeout = 10 * time.Second

// DiscordClient calls Discord's REST API, version 9. It never sleeps: after a 429
// the error says how long to wait. No error holds the bot's token. Safe for
// concurrent use.
type DiscordClient struct {
	channels, authorization string
	http                    http.Client
}

var _ DiscordAPI = (*DiscordClient)(nil)

// NewDiscordClient makes a client without calling Discord. token is the bot's,
// without "Bot " before it. endpoint replaces https://discord.com, for example by
// http://127.0.0.1:4000 of a simulator; "" does not. A nil transport is
// http.DefaultTransport. Invalid if the token is missing or the endpoint is not an
// address.
func NewDiscordClient(token, endpoint string, transport http.RoundTripper) (*DiscordClient, error) {
	if token = strings.TrimSpace(token); token == "" {
		return nil, fault.Field("DISCORD_BOT_TOKEN", "must be set")
	}
	address := strings.TrimSuffix(cmp.Or(endpoint, "https://discord.com"), "/")
	if to, err := url.Parse(address); err != nil || to.Host == "" || (to.Scheme != "http" && to.Scheme != "https") {
		return nil, fault.Field("DISCORD_ENDPOINT", "must be an address such as https://discord.com")
	}
	return &DiscordClient{
		channels: address + "/api/v9/channels/", authorization: "Bot " + token,
		http: http.Client{
			Transport:     transport,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

// Post implements DiscordAPI.
func (c *DiscordClient) Post(ctx context.Context, channelID string, m DiscordMessage, nonce string) (posted DiscordMessage, err error) {
	err = c.call(ctx, http.MethodPost, "/messages", m.encode(nonce), &posted, channelID)
	return posted, err
}

// Edit implements DiscordAPI.
func (c *DiscordClient) Edit(ctx context.Context, channelID, messageID string, message DiscordMessage) error {
	return c.call(ctx, http.MethodPatch, "/messages/"+messageID, message.encode(""), nil, channelID, messageID)
}

// Recent implements DiscordAPI.
func (c *DiscordClient) Recent(ctx context.Context, channelID string) (messages []DiscordMessage, err error) {
	err = c.call(ctx, http.MethodGet, "/messages?limit=100", nil, &messages, channelID)
	return messages, err
}

// GuildOf returns the id of a channel's guild; "" for a channel outside guilds,
// such as a direct message. It implements scheduler.Channels.
func (c *DiscordClient) GuildOf(ctx context.Context, channelID string) (string, error) {
	var channel struct {
		GuildID string `json:"guild_id"`
	}
	err := c.call(ctx, http.MethodGet, "", nil, &channel, channelID)
	return channel.GuildID, err
}

// call makes one call below the channel ids[0] and decodes the response into
// into, unless that is nil. Ids come from documents that clients write: one that
// is not a number could lead to another address.
func (c *DiscordClient) call(ctx context.Context, method, path string, body []byte, into any, ids ...string) error {
	for _, id := range ids {
		if !isSnowflake(id) {
			return refusal(unknownChannel, errors.New("discord: an id is not a number"))
		}
	}
	ctx, cancel := context.WithTimeout(ctx, CallTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, c.channels+ids[0]+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", c.authorization)
	request.Header.Set("User-Agent", "DiscordBot (questscheduler, 1)") // the form that Discord asks bots for
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := c.http.Do(request)
	if err != nil {
		if failed, ok := errors.AsType[*url.Error](err); ok {
			err = failed.Err // without the address
		}
		return noResponse(err)
	}
	content, err := io.ReadAll(response.Body)
	if err = errors.Join(err, response.Body.Close()); err != nil {
		return noResponse(err)
	}
	if response.StatusCode >= http.StatusMultipleChoices {
		return classify(response.StatusCode, content)
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(content, into); err != nil {
		return fault.Wrap(fault.Unavailable, err, "Discord's answer could not be read.")
	}
	return nil
}

func noResponse(cause error) error {
	return fault.Wrap(fault.Unavailable, cause, "Discord did not answer.")
}

// classify turns a response that is not a success into an error with a kind. Of
// the content it keeps nothing but Discord's code, since a proxy may have filled
// it with the request and its token.
func classify(status int, content []byte) error {
	var problem struct {
		Code       int     `json:"code"`
		RetryAfter float64 `json:"retry_after"` // seconds
	}
	unreadable := json.Unmarshal(content, &problem) != nil
	cause := fmt.Errorf("discord: status %d, code %d", status, problem.Code)
	switch {
	case status == http.StatusTooManyRequests && !unreadable:
		wait := time.Duration(problem.RetryAfter*1000+1) * time.Millisecond
		return &fault.Error{Kind: fault.RateLimited, Message: "Discord asks to wait.", RetryAfter: wait}
	case status >= http.StatusInternalServerError || status == http.StatusRequestTimeout || status == http.StatusTooManyRequests:
		return noResponse(cause)
	case status == http.StatusUnauthorized:
		return refusal(unauthorized, cause)
	default:
		return refusal(problem.Code, cause)
	}
}
