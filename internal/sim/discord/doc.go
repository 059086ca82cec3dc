// Package discord simulates the part of Discord's REST API that a bot needs to
// post, edit and find its messages: /api/v9/ and /api/v10/ with messages, one
// channel, and the bot's own user. It speaks HTTP, so that the real client
// (discordgo) is what talks to it, over a socket or through control.Transport.
//
// What it takes from Discord: the limits of messages and embeds with the shape
// of their errors, who a message would ping (allowed_mentions), nonces that
// make a retry safe, permissions, rate limit headers. Where Discord's
// behaviour is not known for sure it takes the stricter side, so that a client
// which works here works there: see mentions.go and create.go.
//
// What it does not have: gateway, webhooks, threads, attachments, reactions.
//
// One lock guards everything, ids come from the clock and a counter, and there
// are no goroutines of its own: the same calls in the same order give the same
// answers.
package discord
