package notify

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"

	"questscheduler/rules"
)

// Limits on a title, which may be any text, in characters of what is sent.
const (
	maxInAppTitle   = 200
	maxMessageTitle = 400 // of a message's 2000
	maxEmbedTitle   = 250 // of an embed title's 256, with the mark before it
)

// plainTitle is a title for places without markup: one line, cut to a limit.
func plainTitle(title string, limit int) string {
	return writeTitle(title, limit, func(r rune) string { return string(r) })
}

const zeroWidthSpace = "\u200b"

// discordTitle is a title for Discord's Markdown. Markup is escaped. A zero-width
// space follows each @, since allowed_mentions would let @everyone in a title ping
// if the message itself mentions everyone, and each slash, since Discord links any
// address after http:// and a code after discord.gg/; a backslash prevents neither.
func discordTitle(title string, limit int) string {
	return writeTitle(title, limit, func(r rune) string {
		switch r {
		case '@', '/':
			return string(r) + zeroWidthSpace
		case '\\', '*', '_', '~', '`', '|', '<', '>', '[', ']', '(', ')', '#':
			return `\` + string(r)
		default:
			return string(r)
		}
	})
}

// writeTitle writes a title rune by rune, so that it is never cut inside an escape.
// The result is never empty and has at most limit runes.
func writeTitle(title string, limit int, write func(rune) string) string {
	title = cmp.Or(strings.Join(strings.FieldsFunc(title, isBlank), " "), spoken.Untitled)
	var whole strings.Builder
	length, cutAt := 0, 0 // cutAt: the bytes that leave room for the ellipsis
	for _, r := range title {
		piece := write(r)
		length += utf8.RuneCountInString(piece)
		if length > limit {
			return whole.String()[:cutAt] + "…"
		}
		whole.WriteString(piece)
		if length < limit {
			cutAt = whole.Len()
		}
	}
	return whole.String()
}

// isBlank reports whether r is white space, a control character or a mark for the
// direction of text. Any of these could make one title resemble another.
func isBlank(r rune) bool {
	return unicode.IsSpace(r) || rules.IsDeceptive(r)
}
