package mappings

import (
	"fmt"
	"strings"
	"unicode"
)

// The longest that addresses and their parts are (RFC 5321, 4.5.3.1; RFC 1035, 2.3.4).
const (
	maxAddress = 254
	maxLocal   = 64
	maxLabel   = 63
)

// addressMistake says why a text is no e-mail address that Google Calendar invites; "" if it
// is one. Quoted local parts, comments and names before the address are mistakes.
func addressMistake(address string) string {
	if len(address) > maxAddress {
		return fmt.Sprintf("it is longer than %d characters", maxAddress)
	}
	for _, c := range address {
		if c != '@' && !localCharacter(c) {
			return "it contains " + named(c)
		}
	}
	local, domain, _ := strings.Cut(address, "@")
	switch {
	case strings.Count(address, "@") != 1:
		return "it needs one @"
	case local == "" || len(local) > maxLocal || !dotted(local):
		return "the part before the @ is not valid"
	case !strings.Contains(domain, ".") || !isDomain(domain):
		return "the part after the @ is no domain"
	}
	return ""
}

// localCharacter reports whether the part before the @ may have it (RFC 5322, dot-atom).
func localCharacter(c rune) bool {
	return letterOrDigit(c) || c < unicode.MaxASCII && strings.ContainsRune(".!#$%&'*+-/=?^_`{|}~", c)
}

func letterOrDigit(c rune) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// dotted reports whether dots only separate.
func dotted(text string) bool {
	return !strings.HasPrefix(text, ".") && !strings.HasSuffix(text, ".") && !strings.Contains(text, "..")
}

func isDomain(domain string) bool {
	for label := range strings.SplitSeq(domain, ".") {
		odd := func(c rune) bool { return c != '-' && !letterOrDigit(c) }
		if label == "" || len(label) > maxLabel || strings.HasPrefix(label, "-") || strings.HasSuffix(label, "-") ||
			strings.ContainsFunc(label, odd) {
			return false
		}
	}
	return true
}

func domainOf(address string) string { return address[strings.LastIndexByte(address, '@')+1:] }

// named is a character that a reader may not see in the sheet.
func named(c rune) string {
	if c == ' ' {
		return "a space"
	}
	if c > unicode.MaxASCII || !unicode.IsPrint(c) {
		return fmt.Sprintf("the character %U", c)
	}
	return "the character " + string(c)
}

// maxShown is how many characters of a cell a sentence quotes.
const maxShown = 60

// shown quotes the beginning of a cell, with nothing that changes how a terminal or a page
// shows the rest.
func shown(cell string) string {
	var out strings.Builder
	length := 0
	for _, c := range cell {
		length++
		if length > maxShown {
			out.WriteRune('…')
			break
		}
		switch {
		case c == '"':
			c = '\''
		case !unicode.IsPrint(c):
			c = '?'
		}
		out.WriteRune(c)
	}
	return `"` + out.String() + `"`
}
