package notify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"questscheduler/internal/fault"
)

// CallTimeout is how long one call to Discord may take. A task has 60 s and
// makes a handful of calls.
const CallTimeout = 10 * time.Second

// DiscordConfig is what a DiscordClient is made with.
type DiscordConfig struct {
	// Token is the bot's token, without "Bot " before it.
	Token string
	// Endpoint, where set, stands in for https://discord.com (setting
	// DISCORD_ENDPOINT), such as http://127.0.0.1:4000 of a simulator.
	Endpoint string
	// Transport carries the calls; nil is http.DefaultTransport.
	Transport http.RoundTripper
}

// DiscordClient is Discord over its REST API, through discordgo. It never
// sleeps: after a 429 the error says how long to wait, and the caller's queue
// does. The bot's token is in no error. Safe for concurrent use.
type DiscordClient struct{ session *discordgo.Session }

var _ Discord = (*DiscordClient)(nil)

// NewDiscordClient makes a client; it makes no call yet. Invalid where the
// token is missing or the endpoint is no address.
func NewDiscordClient(config DiscordConfig) (*DiscordClient, error) {
	token := strings.TrimSpace(config.Token)
	if token == "" {
		return nil, fault.Field("DISCORD_BOT_TOKEN", "must be set")
	}
	transport := config.Transport
	if transport == nil {
		transport = http.DefaultTransport
	}
	if config.Endpoint != "" {
		to, err := url.Parse(config.Endpoint)
		if err != nil || to.Host == "" || (to.Scheme != "http" && to.Scheme != "https") {
			return nil, fault.Field("DISCORD_ENDPOINT", "must be an address such as https://discord.com")
		}
		transport = redirected{to: to, next: transport}
	}
	session, err := discordgo.New("Bot " + token)
	if err != nil {
		return nil, errors.New("discord: the client could not be made") // its own text might show the token
	}
	session.Client = &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	session.ShouldRetryOnRateLimit = false
	session.MaxRestRetries = 0
	return &DiscordClient{session}, nil
}

// redirected sends what is meant for Discord elsewhere: discordgo's addresses
// are variables of its package, which one client must not change for others.
type redirected struct {
	to   *url.URL
	next http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (r redirected) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.URL.Scheme, req.URL.Host, req.Host = r.to.Scheme, r.to.Host, ""
	req.URL.Path = strings.TrimSuffix(r.to.Path, "/") + req.URL.Path
	return r.next.RoundTrip(req)
}

// Post implements Discord. discordgo's own message type has no nonce, so the
// body is ours.
func (c *DiscordClient) Post(ctx context.Context, channelID string, message Message, nonce string) (Posted, error) {
	body, err := message.encode(nonce)
	if err != nil {
		return Posted{}, err
	}
	answer, err := c.call(ctx, http.MethodPost, discordgo.EndpointChannelMessages(channelID), body, channelID)
	if err != nil {
		return Posted{}, err
	}
	return readPosted(answer)
}

// Edit implements Discord.
func (c *DiscordClient) Edit(ctx context.Context, channelID, messageID string, message Message) error {
	body, err := message.encode("")
	if err != nil {
		return err
	}
	_, err = c.call(ctx, http.MethodPatch, discordgo.EndpointChannelMessage(channelID, messageID), body, channelID, messageID)
	return err
}

// Recent implements Discord.
func (c *DiscordClient) Recent(ctx context.Context, channelID string) ([]Posted, error) {
	answer, err := c.call(ctx, http.MethodGet, discordgo.EndpointChannelMessages(channelID)+"?limit=100", nil, channelID)
	if err != nil {
		return nil, err
	}
	var messages []json.RawMessage
	if err := json.Unmarshal(answer, &messages); err != nil {
		return nil, unreadable(err)
	}
	list := make([]Posted, len(messages))
	for i, message := range messages {
		if list[i], err = readPosted(message); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// GuildOf gives the id of the guild that a channel belongs to; "" for one of no
// guild, such as a message to one person. It implements scheduler.Channels.
func (c *DiscordClient) GuildOf(ctx context.Context, channelID string) (string, error) {
	answer, err := c.call(ctx, http.MethodGet, discordgo.EndpointChannel(channelID), nil, channelID)
	if err != nil {
		return "", err
	}
	var known struct {
		GuildID string `json:"guild_id"`
	}
	if err := json.Unmarshal(answer, &known); err != nil {
		return "", unreadable(err)
	}
	return known.GuildID, nil
}

func readPosted(message []byte) (Posted, error) {
	var head struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(message, &head); err != nil {
		return Posted{}, unreadable(err)
	}
	shows, err := readShown(message)
	if err != nil {
		return Posted{}, unreadable(err)
	}
	return Posted{ID: head.ID, Shows: shows}, nil
}

// call makes one call. Ids come from documents that clients write, and one that
// is no number would name another address. It uses a rate limit bucket of its own: discordgo's
// shared ones sleep before the call after a 429, whatever ctx says.
func (c *DiscordClient) call(ctx context.Context, method, address string, body []byte, ids ...string) ([]byte, error) {
	for _, id := range ids {
		if !isSnowflake(id) {
			return nil, refusals[10003].because(errors.New("discord: an id is no number"))
		}
	}
	ctx, cancel := context.WithTimeout(ctx, CallTimeout)
	defer cancel()
	bucket := discordgo.NewRatelimiter().LockBucket(address)
	answer, err := c.session.RequestWithLockedBucket(method, address, "application/json", body, bucket, 0, discordgo.WithContext(ctx))
	if err != nil {
		return nil, classify(err)
	}
	return answer, nil
}

// classify gives an error of discordgo its kind. It takes over no more than
// status and code: discordgo's errors hold the request with the token in its
// header, and the answer's body, which whatever stands between may have filled
// with the request.
func classify(err error) error {
	var limit *discordgo.RateLimitError
	var rest *discordgo.RESTError
	switch {
	case errors.As(err, &limit):
		return &fault.Error{
			Kind: fault.RateLimited, Message: "Discord asks to wait.",
			RetryAfter: limit.RetryAfter + time.Millisecond, // discordgo cuts to milliseconds
		}
	case errors.As(err, &rest):
		return classifyAnswer(rest)
	default:
		return fault.Wrap(fault.Unavailable, plain(err), "Discord did not answer.")
	}
}

func classifyAnswer(rest *discordgo.RESTError) error {
	status, code := rest.Response.StatusCode, 0
	if rest.Message != nil {
		code = rest.Message.Code
	}
	cause := fmt.Errorf("discord: status %d, code %d", status, code)
	switch known, ok := refusals[code]; {
	case status >= http.StatusInternalServerError || status == http.StatusRequestTimeout:
		return fault.Wrap(fault.Unavailable, cause, "Discord did not answer.")
	case status == http.StatusUnauthorized:
		return badToken.because(cause)
	case ok:
		return known.because(cause)
	default:
		return refused.because(cause)
	}
}

// plain is the cause of a call that got no answer, without its address.
func plain(err error) error {
	if call, ok := errors.AsType[*url.Error](err); ok {
		return call.Err
	}
	return errors.New("discord: the answer is a 502 or cannot be read")
}

func unreadable(err error) error {
	return fault.Wrap(fault.Unavailable, err, "Discord's answer could not be read.")
}
