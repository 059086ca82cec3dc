package notify

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits on a title as people read it, in characters of what is sent. A title
// may be any text that somebody typed.
const (
	maxInAppTitle   = 200
	maxMessageTitle = 400 // of a message's 2000
	maxEmbedTitle   = 250 // of an embed title's 256, with the mark before it
)

// plainTitle is a title for places that show text as it is: one line, cut to a
// limit.
func plainTitle(title string, limit int) string {
	return writeTitle(title, limit, func(r rune) string { return string(r) })
}

// discordTitle is a title for places that read Markdown. What would be markup
// is escaped, and every @ is parted from what follows, so that no title can
// mention anybody: allowed_mentions alone would let @everyone in a title ping
// where the message itself mentions everyone. Every slash is parted from what
// follows too, so that no title becomes a link: Discord makes one of any address
// after http:// or https://, and an invitation of discord.gg/ and a code even
// without a scheme; a backslash does not prevent either.
func discordTitle(title string, limit int) string {
	return writeTitle(title, limit, escape)
}

// zeroWidthSpace parts an @ from the name behind it, and a slash from the rest of
// an address.
const zeroWidthSpace = "\u200b"

func escape(r rune) string {
	switch r {
	case '@', '/':
		return string(r) + zeroWidthSpace
	case '\\', '*', '_', '~', '`', '|', '<', '>', '[', ']', '(', ')', '#':
		return `\` + string(r)
	default:
		return string(r)
	}
}

// writeTitle writes a title rune by rune, so that a cut never falls into the
// middle of an escape. The result is never empty and has at most limit runes.
func writeTitle(title string, limit int, write func(rune) string) string {
	title = strings.Join(strings.FieldsFunc(title, isBlank), " ")
	if title == "" {
		title = untitled
	}
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

// isBlank tells what a line of text has no use for: white space, control
// characters, and the marks that turn the direction of text and could make one
// title show as another.
func isBlank(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) ||
		(r >= '\u202a' && r <= '\u202e') || (r >= '\u2066' && r <= '\u2069')
}
