package notify

import (
	"strings"

	"questscheduler/rules"
)

// wording is one notice in its words. {title} and {time} stand for
// the poll's title and the time of its winning slot; each channel writes both
// in its own way.
type wording struct {
	// title and body are those of the in-app document.
	title, body string
	// discord is the line in the channel, without the mention before it.
	discord string
	// mentions tells whether the line mentions whom the group chose.
	mentions bool
}

// texts are the words of every notice.
var texts = map[rules.Notice]wording{
	rules.NoticeRescheduled: {
		title:    "Session rescheduled",
		body:     "Session '{title}' has been rescheduled to {time}",
		discord:  "Session '{title}' has been rescheduled to {time}",
		mentions: true,
	},
	rules.NoticeRestored: {
		title:   "Session restored",
		body:    "Session '{title}' has been restored to its original time",
		discord: "Session '{title}' has been restored to {time}",
	},
	rules.NoticeCancelled: {
		title:    "Session cancelled",
		body:     "Session '{title}' has been cancelled",
		discord:  "Session '{title}' has been cancelled",
		mentions: true,
	},
	rules.NoticeOnAgain: {
		title:    "Session on again",
		body:     "Session '{title}' is on again for {time}",
		discord:  "Session '{title}' is on again for {time}",
		mentions: true,
	},
}

// Words that stand where there is nothing to show.
const (
	untitled    = "Untitled session"
	unknownTime = "a new time"
)

// fill puts title and time into a text, in one pass: a title that holds a
// placeholder stays as it is.
func fill(text, title, time string) string {
	return strings.NewReplacer("{title}", title, "{time}", time).Replace(text)
}

// rescheduledLabel is the card's Status of a poll that the calendar moved; the
// others are the poll's own.
const rescheduledLabel = "RESCHEDULED"

// The card's other words, as channels show them today.
const (
	titleMark     = "📅 "
	voteLabel     = "Vote"
	closedLabel   = "Voting closed"
	openPollLabel = "Open poll"
	hiddenVotes   = "Hidden while rescheduled"
)
