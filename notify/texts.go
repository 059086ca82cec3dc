package notify

import (
	"strings"

	"questscheduler/rules"
)

// wording is the texts of one notice. {title} and {time} stand for the poll's
// title and the time of its winning slot; each channel formats both in its own way.
type wording struct {
	// title and body are those of the in-app document.
	title, body string
	// message is the message in a group's channel, without the mention before it.
	message string
	// mentions says whether the message mentions whom the group chose.
	mentions bool
}

var texts = map[rules.Notice]wording{
	rules.NoticeRescheduled: {
		title:    "Session rescheduled",
		body:     "Session '{title}' has been rescheduled to {time}",
		message:  "Session '{title}' has been rescheduled to {time}",
		mentions: true,
	},
	rules.NoticeRestored: {
		title:   "Session restored",
		body:    "Session '{title}' has been restored to its original time",
		message: "Session '{title}' has been restored to {time}",
	},
	rules.NoticeCancelled: {
		title:    "Session cancelled",
		body:     "Session '{title}' has been cancelled",
		message:  "Session '{title}' has been cancelled",
		mentions: true,
	},
	rules.NoticeOnAgain: {
		title:    "Session on again",
		body:     "Session '{title}' is on again for {time}",
		message:  "Session '{title}' is on again for {time}",
		mentions: true,
	},
}

// Texts for a title or a time that is missing.
const (
	untitled    = "Untitled session"
	unknownTime = "a new time"
)

// fill puts title and time into a text, in one pass: a title that holds a
// placeholder stays as it is.
func fill(text, title, time string) string {
	return strings.NewReplacer("{title}", title, "{time}", time).Replace(text)
}

// Texts on cards, as Discord channels show them today.
const (
	rescheduledLabel = "RESCHEDULED" // the status of a poll that the calendar moved; others are the poll's own
	titleMark        = "📅 "
	voteLabel        = "Vote"
	closedLabel      = "Voting closed"
	openPollLabel    = "Open poll"
	hiddenVotes      = "Hidden while rescheduled"
)
