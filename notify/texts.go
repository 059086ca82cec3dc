package notify

import (
	"fmt"
	"strings"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/rules"
)

// wording is the texts of one notice. {title} and {time} stand for the poll's
// title and the time of its winning slot; each channel formats both in its own way.
type wording struct {
	title, body string // of the in-app document
	message     string // in a group's channel, without the mention before it
	mentions    bool   // whether the message mentions whom the group chose
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

// Layouts of times as people read them in the app.
const (
	dayLayout    = "Monday, 2 January 2006"
	momentLayout = "Monday, 2 January 2006, 15:04"
)

// inAppTime is the start of a session in the poll's time zone, which it names, or
// in UTC if the poll has none that is known.
func inAppTime(at rules.Fingerprint, zone string) string {
	return sessionTime(at, func(start time.Time) string {
		location, err := poll.Zone(zone)
		if err != nil {
			location = time.UTC
		}
		return start.In(location).Format(momentLayout) + " (" + location.String() + ")"
	})
}

// discordTime is the start of a session as each reader's own clock shows it.
func discordTime(at rules.Fingerprint) string { return sessionTime(at, timeTag) }

// sessionTime formats the start of a session. An all-day session is its dates.
func sessionTime(at rules.Fingerprint, format func(start time.Time) string) string {
	switch {
	case at.IsZero():
		return unknownTime
	case at.AllDay:
		return days(at)
	default:
		return format(at.StartTime())
	}
}

// timeTag is Discord's markup for a moment in full.
func timeTag(at time.Time) string { return fmt.Sprintf("<t:%d:F>", at.Unix()) }

// days are the dates of an all-day session; its end is exclusive.
func days(at rules.Fingerprint) string {
	first, last := at.StartTime(), at.EndTime().AddDate(0, 0, -1)
	if !last.After(first) {
		return first.Format(dayLayout)
	}
	return first.Format(dayLayout) + " – " + last.Format(dayLayout)
}
