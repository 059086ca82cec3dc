package rules

import (
	"strconv"
	"strings"
	"unicode"

	"questscheduler/fault"
)

// IsDeceptive reports whether a character can make a line of text resemble another: control
// characters, line and paragraph separators, and those of Unicode's property Bidi_Control,
// which change the direction of text.
func IsDeceptive(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp, unicode.Bidi_Control)
}

// Line returns a title or name without surrounding space. Invalid, with the field and the
// rule: it is empty, has more than most characters, or has a deceptive one.
func Line(field, text string, most int) (line string, err error) {
	line = strings.TrimSpace(text)
	switch {
	case line == "" || len([]rune(line)) > most:
		return "", fault.Field(field, "must be 1 to "+strconv.Itoa(most)+" characters long")
	case strings.ContainsFunc(line, IsDeceptive):
		return "", fault.Field(field, "must not have control characters, line breaks or characters that change the direction of text")
	}
	return line, nil
}
