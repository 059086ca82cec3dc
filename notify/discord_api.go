package notify

import (
	"context"
	"errors"

	"questscheduler/internal/fault"
)

// DiscordAPI is what this package needs of Discord. Its errors have the kinds of
// package fault: RateLimited (RetryAfter says how long) and Unavailable (the
// effect may have taken place) are temporary; every other is a final refusal and
// carries one of the codes below.
type DiscordAPI interface {
	// Post posts a message. If a message with the nonce was posted in the past few
	// minutes, Post returns that one, whatever it shows, and posts nothing; the
	// error is CodeUnknownMessage if that one was deleted since.
	Post(ctx context.Context, channelID string, message DiscordMessage, nonce string) (DiscordMessage, error)
	// Edit replaces what a message shows. It pings only those whom the post pinged.
	Edit(ctx context.Context, channelID, messageID string, message DiscordMessage) error
	// Recent lists the channel's newest messages, at most 100, newest first. The
	// list is empty if the bot may not read the channel's history.
	Recent(ctx context.Context, channelID string) ([]DiscordMessage, error)
}

// Codes of refusals.
const (
	CodeUnknownChannel    = "unknown_channel"
	CodeUnknownMessage    = "unknown_message"
	CodeMissingAccess     = "missing_access"
	CodeMissingPermission = "missing_permission"
	CodeThreadArchived    = "thread_archived"
	CodeBadToken          = "bot_token_refused"
	CodeRefused           = "refused" // for any other reason
)

// refusal is one of Discord's final refusals. Its sentence is written to the poll
// (discord.pendingSyncError) for the person who looks after the group.
type refusal struct {
	kind     fault.Kind
	code     string
	sentence string
}

// refusals are keyed by Discord's error codes.
var refusals = map[int]refusal{
	10003: {fault.NotFound, CodeUnknownChannel,
		"The Discord channel is gone. Choose another one in the group's settings."},
	10008: {fault.NotFound, CodeUnknownMessage,
		"The Discord message was deleted. It is posted again with the next change."},
	50001: {fault.Forbidden, CodeMissingAccess,
		"The bot cannot see the Discord channel. Give it access to the channel."},
	50013: {fault.Forbidden, CodeMissingPermission,
		"The bot may not post in the Discord channel. Let it send messages and embed links there."},
	50083: {fault.Provider, CodeThreadArchived,
		"The Discord thread is archived. Open it again, or choose another channel."},
}

var (
	badToken = refusal{fault.Provider, CodeBadToken,
		"Discord does not accept the bot's token. Whoever runs this server must set a valid one."}
	refused = refusal{fault.Provider, CodeRefused,
		"Discord refused the message. Whoever runs this server finds the reason in its log."}
)

func (r refusal) because(cause error) error {
	return &fault.Error{Kind: r.kind, Code: r.code, Message: r.sentence, Err: cause}
}

// isRefusal tells a final refusal by Discord from a temporary error.
func isRefusal(err error) bool {
	kind := fault.KindOf(err)
	return kind == fault.NotFound || kind == fault.Forbidden || kind == fault.Provider
}

// sentenceOf is what people read of a refusal; "" for no error.
func sentenceOf(err error) string {
	if refusal, ok := errors.AsType[*fault.Error](err); ok {
		return refusal.Message
	}
	return ""
}

// isOurs tells a sentence of ours from one that the web app's own functions wrote
// into the same field.
func isOurs(sentence string) bool {
	for _, known := range refusals {
		if known.sentence == sentence {
			return true
		}
	}
	return sentence == badToken.sentence || sentence == refused.sentence
}
