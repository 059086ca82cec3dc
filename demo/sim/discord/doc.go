// Package discord simulates the part of Discord's REST API that a bot needs to
// post, edit and find its messages: /api/v9/ and /api/v10/ with messages, one
// channel, one guild, the bot's own user and its application with slash commands.
// It sends interactions, signed, to the application's endpoint, and takes what is
// sent by their tokens. The real client calls it over HTTP, by a socket or
// control.Transport; its own tests use discordgo.
//
// It has Discord's limits of messages and embeds with the shape of their errors,
// mentions and whom they ping (allowed_mentions), nonces that make a retry safe,
// permissions and rate limit headers. Where Discord's behaviour is uncertain it is
// strict, so that a client that works here works there: see mentions.go and
// create.go. It has no gateway, other webhooks, threads, attachments or reactions.
//
// One lock guards everything, ids come from the clock and a counter, and the package
// starts no goroutines: the same calls in the same order give the same answers, but
// for the application's key and the tokens of interactions, which are random.
package discord
