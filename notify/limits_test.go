package notify

import (
	"strings"
	"testing"
	"unicode/utf16"

	"questscheduler/internal/poll"
	"questscheduler/rules"
)

// maxContent is Discord's limit on a message's content.
const maxContent = 2000

// longestMessage is the longest text of any notice about a title, for every pair of
// times, each of which may be missing.
func longestMessage(language *Language, title string, times []rules.Fingerprint) (longest string, length int) {
	for notice, words := range language.Notices {
		for _, old := range times {
			for _, at := range times {
				m := Message{Notice: notice, Poll: poll.Poll{Timezone: "Europe/Berlin"}}
				m.Before.State.At, m.State.State.At = old, at
				content := m.text(language, words.Message, title, language.discordTime)
				if n := len(utf16.Encode([]rune(content))); n > length {
					longest, length = content, n
				}
			}
		}
	}
	return longest, length
}

// Titles are cut, and made of what takes the most characters; times need the longest
// dates and distances.
func TestMessage_LongestText_StaysBelowTheLimit(t *testing.T) {
	t.Parallel()
	var times []rules.Fingerprint
	for _, text := range []string{
		"", "2027-09-22T16:31:00Z|2027-09-22T19:31:00Z|false", "2027-12-29T05:32:00Z|2027-12-29T22:57:00Z|false",
		"2026-11-11T20:59:00Z|2026-11-25T20:58:00Z|false", "2026-09-16|2026-09-30|true", "2027-09-22|2027-11-25|true",
	} {
		at, err := rules.ParseFingerprint(text)
		if err != nil {
			t.Fatal(err)
		}
		times = append(times, at)
	}
	mention, _ := mentionsOf(poll.GroupDiscord{NotifyRoleID: strings.Repeat("9", 20)})
	for tag, language := range languages {
		for _, letter := range []string{"*", "@", "🎲"} {
			title := discordTitle(strings.Repeat(letter, 5000), maxMessageTitle)
			text, length := longestMessage(language, title, times)
			if !strings.Contains(text, title) || strings.Contains(text, "{") {
				t.Errorf("%s, %s: the longest message lacks a value: %s", tag, letter, text)
			}
			length += len(mention)
			if length > maxContent {
				t.Errorf("%s, %s: the longest message has %d characters: %s%s", tag, letter, length, mention, text)
			}
		}
	}
}
