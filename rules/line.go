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

// Limits of what people enter, in characters.
const (
	MaxTitle       = 200
	MaxLocation    = 500
	MaxDescription = 8000
)

// Line returns a title or name without surrounding space. Invalid, with the field and the
// rule: it is empty, has more than most characters, or has a deceptive one.
func Line(field, text string, most int) (line string, err error) {
	line, err = Title(field, text, most)
	if err == nil && strings.ContainsFunc(line, IsDeceptive) {
		return "", fault.Field(field, "must not have control characters, line breaks or characters that change the direction of text")
	}
	return line, err
}

// Title is Line that takes any characters.
func Title(field, text string, most int) (title string, err error) {
	title = strings.TrimSpace(text)
	if title == "" || len([]rune(title)) > most {
		return "", fault.Field(field, "must be 1 to "+strconv.Itoa(most)+" characters long")
	}
	return title, nil
}

// CheckText refuses a text of more than most characters. Invalid, with the field and the rule.
func CheckText(field, text string, most int) error {
	if len([]rune(text)) > most {
		return fault.Field(field, "must be at most "+strconv.Itoa(most)+" characters long")
	}
	return nil
}
