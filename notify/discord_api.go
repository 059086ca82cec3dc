package notify

import (
	"context"

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

// Codes of refusals that other code distinguishes; package metrics lists all codes.
const (
	CodeUnknownMessage = "unknown_message"
	CodeRefused        = "refused" // for any reason that has no code of its own
)

// refusals are Discord's final refusals by its error codes. The messages are
// written to the poll (discord.pendingSyncError) for the person who maintains the
// group.
var refusals = map[int]fault.Error{
	anyRefusal: {Kind: fault.Provider, Code: CodeRefused,
		Message: "Discord refused the message. Whoever runs this server finds the reason in its log."},
	unauthorized: {Kind: fault.Provider, Code: "bot_token_refused",
		Message: "Discord does not accept the bot's token. Whoever runs this server must set a valid one."},
	unknownChannel: {Kind: fault.NotFound, Code: "unknown_channel",
		Message: "The Discord channel is gone. Choose another one in the group's settings."},
	10008: {Kind: fault.NotFound, Code: CodeUnknownMessage,
		Message: "The Discord message was deleted. It is posted again with the next change."},
	50001: {Kind: fault.Forbidden, Code: "missing_access",
		Message: "The bot cannot see the Discord channel. Give it access to the channel."},
	50013: {Kind: fault.Forbidden, Code: "missing_permission",
		Message: "The bot may not post in the Discord channel. Let it send messages and embed links there."},
	50083: {Kind: fault.Provider, Code: "thread_archived",
		Message: "The Discord thread is archived. Open it again, or choose another channel."},
}

// Keys of refusals that the client uses directly; keys below 1 are not Discord's
// error codes.
const (
	unauthorized   = -1
	anyRefusal     = 0
	unknownChannel = 10003
)

// refusal is the refusal of a code, or of anyRefusal if the code is not known.
func refusal(code int, cause error) error {
	known, ok := refusals[code]
	if !ok {
		known = refusals[anyRefusal]
	}
	known.Err = cause
	return &known
}

// isRefusal tells a final refusal by Discord from a temporary error.
func isRefusal(err error) bool {
	kind := fault.KindOf(err)
	return kind == fault.NotFound || kind == fault.Forbidden || kind == fault.Provider
}

// isOurs tells a message of ours from one that the web app's own functions wrote
// into the same field.
func isOurs(message string) bool {
	for _, known := range refusals {
		if known.Message == message {
			return true
		}
	}
	return false
}
