package notify

import "questscheduler/rules"

// English is the only Language so far. Readers of notices may compare their first
// words with the web app's: keep them.
var English = Language{
	Notices: map[rules.Notice]NoticeTexts{
		rules.NoticeRescheduled: {
			Title: "Session rescheduled", Body: englishRescheduled, Message: englishRescheduled,
		},
		rules.NoticeRestored: {
			Title: "Session restored",
			Body: []string{
				"Session '{title}' has been restored to its original time, {time}. {old} is no longer valid.",
				"Session '{title}' has been restored to its original time, {time}",
				"Session '{title}' has been restored to its original time",
			},
			Message: []string{
				"Session '{title}' has been restored to {time}, its original time. {old} is no longer valid.",
				"Session '{title}' has been restored to {time}, its original time",
				"Session '{title}' has been restored to its original time",
			},
		},
		rules.NoticeCancelled: {
			Title: "Session cancelled", Body: englishCancelled, Message: englishCancelled,
		},
		rules.NoticeOnAgain: {
			Title: "Session on again", Body: englishOnAgain, Message: englishOnAgain,
		},
	},
	Owners: OwnerTexts{
		SyncErrorTitle: "Calendar sync paused",
		SyncErrorBody:  "Calendar sync paused. Re-link your calendar in Settings to resume.",
		UnlinkedTitle:  "Calendar unlinked",
		UnlinkedBody: "Your calendar is unlinked, and the sessions in it are not followed any more. " +
			"Link it again in Settings to resume.",
		LostTitle: "Calendar lost",
		LostBody: "A calendar of your sessions is gone or no longer shared with your account, and the sessions in it are not " +
			"followed any more. " +
			"Share it again, or finalise them anew in another calendar.",
		HeldTitle: "Cancellations held",
		HeldBody: Forms{
			"A calendar event of your sessions is gone. No session was cancelled. " +
				"Confirm in Settings that it is cancelled, or restore the event.",
			"{n} calendar events of your sessions are gone at once. No session was cancelled. " +
				"Confirm in Settings that they are cancelled, or restore the events.",
		},
		Resource: "Google Calendar",
	},
	Card: CardTexts{
		Slots: "Slots", Status: "Status", Votes: "Votes", Range: "Range", WinningSlot: "Winning slot", ViewOnWeb: "View on web",
		Available: Forms{"{n} available", "{n} available"},
		Statuses: map[rules.Status]string{
			rules.Open: "OPEN", rules.Finalized: "FINALIZED", rules.Cancelled: "CANCELLED", rules.Archived: "ARCHIVED",
		},
		Rescheduled: "RESCHEDULED",
		Voted:       "{voted}/{all} voted", VotedSome: "{voted}/{all} voted ({pending} pending)",
		HiddenVotes: "Hidden while rescheduled",
		Vote:        "Vote", Closed: "Voting closed", Who: "Who is missing", Manage: "Manage",
	},
	Times: TimeTexts{
		Weekdays: [7]string{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"},
		Months: [12]string{
			"January", "February", "March", "April", "May", "June",
			"July", "August", "September", "October", "November", "December",
		},
		Day: "{weekday}, {day} {month} {year}", Clock: "15:04", Moment: "{day}, {clock}", Zoned: "{time} ({zone})",
		Span: "{from} – {to}",
	},
	Distance: DistanceTexts{
		Minutes: Forms{"{n} minute", "{n} minutes"}, Hours: Forms{"{n} hour", "{n} hours"},
		HoursMinutes: "{hours} {minutes}", Moment: "less than a minute",
		Days: Forms{"a day", "{n} days"}, Weeks: Forms{"a week", "{n} weeks"},
		Later: "{much} later", Earlier: "{much} earlier", Longer: "{much} longer", Shorter: "{much} shorter",
		SameDay: "{far}, same day", NextDay: "{far}, the next day", DayBefore: "{far}, the day before",
		SameTime:   "{far}, at the same time",
		LaterInDay: "{far}, and {much} later in the day", EarlierInDay: "{far}, and {much} earlier in the day",
		AllDay: "now all day", Timed: "no longer all day",
		Also: "{one}, {other}", AndLength: "{one}, and {other}",
	},
	Untitled: "Untitled session",
	OpenPoll: "Open poll",
	Refusals: map[string]string{
		CodeRefused:          "Discord refused the message. Whoever runs this server finds the reason in its log.",
		CodeUnknownMessage:   "The Discord message was deleted. It is posted again with the next change.",
		"bot_token_refused":  "Discord does not accept the bot's token. Whoever runs this server must set a valid one.",
		"unknown_channel":    "The Discord channel is gone. Choose another one in the group's settings.",
		"missing_access":     "The bot cannot see the Discord channel. Give it access to the channel.",
		"missing_permission": "The bot may not post in the Discord channel. Let it send messages and embed links there.",
		"thread_archived":    "The Discord thread is archived. Open it again, or choose another channel.",
	},
	Plural: func(n int) int {
		if n == 1 {
			return 0
		}
		return 1
	},
}

var englishRescheduled = []string{
	"Session '{title}' has been rescheduled to {time}: {distance}. It was planned for {old}.",
	"Session '{title}' has been rescheduled to {time}",
	"Session '{title}' has been rescheduled to a new time",
}

var englishCancelled = []string{
	"Session '{title}' has been cancelled. It was planned for {time}.",
	"Session '{title}' has been cancelled",
}

var englishOnAgain = []string{
	"Session '{title}' is on again for {time}: {distance}. It was planned for {old} before it was cancelled.",
	"Session '{title}' is on again for {time}",
	"Session '{title}' is on again",
}
