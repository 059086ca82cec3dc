package notify

import (
	"cmp"
	"context"

	"questscheduler/fault"
	"questscheduler/internal/refusal"
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

// refusals are Discord's, by its error codes. The texts of final ones (Language.Refusals)
// are written to the poll (discord.pendingSyncError) for the person who maintains the group.
var refusals = refusal.Table{
	{Status: 500, Kind: fault.Unavailable, Message: sayNoResponse},
	{Status: 408, Kind: fault.Unavailable, Message: sayNoResponse},
	{Status: 429, Kind: fault.RateLimited, Message: "Discord asks to wait."},
	{Status: 401, Kind: fault.Provider, Code: "bot_token_refused"},
	{Reasons: []string{unknownChannel}, Kind: fault.NotFound, Code: "unknown_channel"},
	{Reasons: []string{"10008"}, Kind: fault.NotFound, Code: CodeUnknownMessage},
	{Reasons: []string{"50001"}, Kind: fault.Forbidden, Code: "missing_access"},
	{Reasons: []string{"50013"}, Kind: fault.Forbidden, Code: "missing_permission"},
	{Reasons: []string{"50083"}, Kind: fault.Provider, Code: "thread_archived"},
	{Kind: fault.Provider, Code: CodeRefused},
}

const (
	unknownChannel = "10003"
	sayNoResponse  = "Discord did not answer."
)

// refused is the error of an answer, with the text for a final refusal.
func refused(answer refusal.Answer) error {
	err := refusals.Error(answer)
	err.Message = cmp.Or(err.Message, spoken.Refusals[err.Code])
	return err
}

// isRefusal tells a final refusal by Discord from a temporary error.
func isRefusal(err error) bool {
	kind := fault.KindOf(err)
	return kind == fault.NotFound || kind == fault.Forbidden || kind == fault.Provider
}

// isOurs tells a message of ours from one that the web app's own functions wrote
// into the same field.
func isOurs(message string) bool {
	for _, language := range languages {
		for _, text := range language.Refusals {
			if text == message {
				return true
			}
		}
	}
	return false
}
