package notify

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"questscheduler/fault"
	"questscheduler/internal/discord"
	"questscheduler/internal/refusal"
)

// CallTimeout is how long one call to Discord may take. A run of the outbox has 60 s and
// makes a handful of calls.
const CallTimeout = 10 * time.Second

// DiscordClient calls Discord's REST API through discordgo. It never sleeps: after
// a 429 the error says how long to wait. No error holds the bot's token. Safe for
// concurrent use.
type DiscordClient struct{ session *discordgo.Session }

var _ DiscordAPI = (*DiscordClient)(nil)

// NewDiscordClient makes a client without calling Discord. token is the bot's,
// without "Bot " before it. endpoint replaces https://discord.com, for example by
// http://127.0.0.1:4000 of a simulator; "" does not. A nil transport is
// http.DefaultTransport. Invalid if the token is missing or the endpoint is not an
// address.
func NewDiscordClient(token, endpoint string, transport http.RoundTripper) (*DiscordClient, error) {
	token = strings.TrimSpace(token)
	if token == "" {
		return nil, fault.Field("DISCORD_BOT_TOKEN", "must be set")
	}
	to, err := url.Parse(cmp.Or(endpoint, "https://discord.com"))
	if err != nil || to.Host == "" || (to.Scheme != "http" && to.Scheme != "https") {
		return nil, fault.Field("DISCORD_ENDPOINT", "must be an address such as https://discord.com")
	}
	if transport == nil {
		transport = http.DefaultTransport
	}
	session, err := discordgo.New("Bot " + token)
	if err != nil {
		return nil, errors.New("discord: the client could not be made") // discordgo's error could hold the token
	}
	session.Client = &http.Client{
		Transport:     redirected{to: to, next: transport},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	session.ShouldRetryOnRateLimit = false
	session.MaxRestRetries = 0
	return &DiscordClient{session}, nil
}

// redirected sends requests to another server. discordgo keeps Discord's address in
// variables of its package, which all clients share.
type redirected struct {
	to   *url.URL
	next http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (r redirected) RoundTrip(request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	request.URL.Scheme, request.URL.Host, request.Host = r.to.Scheme, r.to.Host, ""
	request.URL.Path = strings.TrimSuffix(r.to.Path, "/") + request.URL.Path
	return r.next.RoundTrip(request)
}

// Post implements DiscordAPI.
func (c *DiscordClient) Post(ctx context.Context, channelID string, m DiscordMessage, nonce string) (posted DiscordMessage, err error) {
	err = c.call(ctx, http.MethodPost, discordgo.EndpointChannelMessages(channelID), m.encode(nonce), &posted, channelID)
	return posted, err
}

// Edit implements DiscordAPI.
func (c *DiscordClient) Edit(ctx context.Context, channelID, messageID string, message DiscordMessage) error {
	address := discordgo.EndpointChannelMessage(channelID, messageID)
	return c.call(ctx, http.MethodPatch, address, message.encode(""), nil, channelID, messageID)
}

// Recent implements DiscordAPI.
func (c *DiscordClient) Recent(ctx context.Context, channelID string) (messages []DiscordMessage, err error) {
	var read []json.RawMessage
	if err := c.call(ctx, http.MethodGet, discordgo.EndpointChannelMessages(channelID)+"?limit=100", nil, &read, channelID); err != nil {
		return nil, err
	}
	for _, text := range read {
		var message DiscordMessage
		if json.Unmarshal(text, &message) == nil { // otherwise it has parts that this bot never sends
			messages = append(messages, message)
		}
	}
	return messages, nil
}

// GuildOf returns the id of a channel's guild; "" for a channel outside guilds,
// such as a direct message. It implements scheduler.Channels.
func (c *DiscordClient) GuildOf(ctx context.Context, channelID string) (string, error) {
	var channel struct {
		GuildID string `json:"guild_id"`
	}
	err := c.call(ctx, http.MethodGet, discordgo.EndpointChannel(channelID), nil, &channel, channelID)
	return channel.GuildID, err
}

// call makes one call and decodes the response into into, unless that is nil. Ids
// come from documents that clients write: one that is not a number could lead to
// another address. Each call has its own rate limit bucket, since discordgo sleeps
// in a shared one after a 429, even if ctx ends.
func (c *DiscordClient) call(ctx context.Context, method, address string, body []byte, into any, ids ...string) error {
	for _, id := range ids {
		if !discord.IsSnowflake(id) {
			return refused(refusal.Answer{Call: "discord: an id is not a number", Reasons: []string{unknownChannel}})
		}
	}
	ctx, cancel := context.WithTimeout(ctx, CallTimeout)
	defer cancel()
	bucket := discordgo.NewRatelimiter().LockBucket(address)
	content, err := c.session.RequestWithLockedBucket(method, address, "application/json", body, bucket, 0, discordgo.WithContext(ctx))
	if err != nil {
		return classify(err)
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(content, into); err != nil {
		return fault.Wrap(fault.Unavailable, err, "Discord's answer could not be read.")
	}
	return nil
}

// classify gives an error of discordgo a kind. It keeps nothing but the status and
// Discord's code: discordgo's errors hold the request with its token and the
// response's content, which a proxy may have filled with the request.
func classify(err error) error {
	answer := refusal.Answer{Call: "discord"}
	if limit, ok := errors.AsType[*discordgo.RateLimitError](err); ok {
		answer.Status, answer.RetryAfter = http.StatusTooManyRequests, limit.RetryAfter+time.Millisecond // discordgo cuts to milliseconds
		return refused(answer)
	}
	if failed, ok := errors.AsType[*url.Error](err); ok {
		return refusals.Unanswered(answer.Call, failed)
	}
	rest, ok := errors.AsType[*discordgo.RESTError](err)
	if !ok {
		return refusals.Unanswered(answer.Call, errors.New("the response is a 502 or cannot be read"))
	}
	answer.Status = rest.Response.StatusCode
	if rest.Message != nil {
		answer.Reasons = []string{strconv.Itoa(rest.Message.Code)}
	}
	return refused(answer)
}
