package feed

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"questscheduler/internal/ids"
)

// MaxBytes is how large the text of a feed may be. Calendar programs refuse larger ones.
const MaxBytes = 1 << 20

const (
	// mostFixed is the size of a feed without sessions, and of a session without its texts, with
	// line ends.
	mostFixed, mostFixedOfSession = 300, 300
	// leastLine is how much of a content line fits between two line ends: 75 octets less the space
	// that begins it and a character that is cut nowhere.
	leastLine = 71
)

// nearest leaves sessions out until the feed fits into MaxBytes: tentative ones before the others,
// of both first those farthest from a time.
func nearest(sessions []Session, at time.Time) []Session {
	left := MaxBytes - mostFixed
	for _, s := range sessions {
		left -= s.mostBytes()
	}
	if left >= 0 {
		return sessions
	}
	far := func(s Session) time.Duration { return s.Start.Sub(at).Abs() }
	sorted := slices.SortedFunc(slices.Values(sessions), func(a, b Session) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(far(a), far(b)), strings.Compare(a.PollID, b.PollID))
	})
	left = MaxBytes - mostFixed
	for i, s := range sorted {
		left -= s.mostBytes()
		if left < 0 {
			return sorted[:i]
		}
	}
	return sorted
}

// rank orders sessions that compete for the room of a feed: 0 before 1.
func (s Session) rank() int {
	if s.Tentative {
		return 1
	}
	return 0
}

// mostBytes is the size of the session in a feed, or slightly more.
func (s Session) mostBytes() int {
	return mostFixedOfSession + mostInLines(plain(s.PollID)+uidDomain) + mostInLines(s.title()) + mostInLines(s.text()) +
		mostInLines(plain(s.URL))
}

// mostInLines is the size of a text in content lines: escaped, and folded by RFC 5545.
func mostInLines(text string) int {
	escaped := len(text)
	for _, special := range []string{`\`, "\n", ";", ","} {
		escaped += strings.Count(text, special)
	}
	return escaped + 3*(escaped/leastLine+1)
}

// format is the version of Render's output for the same sessions.
const format = 1

// tagOf names what Render makes of sessions, in whatever order, without rendering them.
func tagOf(sessions []Session) string {
	var all strings.Builder
	fmt.Fprintln(&all, format)
	for _, s := range inOrder(sessions) {
		fmt.Fprintf(&all, "%#v\n", s) // with each field by its name, and texts quoted
	}
	return ids.Of(all.String()).Hex(16)
}
