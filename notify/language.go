package notify

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"questscheduler/rules"
)

// Language is every text that people read of this package, in one language. Words
// in braces are placeholders. A second language is a second value, in languages.
type Language struct {
	Notices  map[rules.Notice]NoticeTexts
	Owners   OwnerTexts
	Card     CardTexts
	Times    TimeTexts
	Distance DistanceTexts
	// Untitled stands for a title that is missing.
	Untitled string
	// OpenPoll is the label of links to a poll.
	OpenPoll string
	// Refusals say what to do about a final refusal by Discord, by its fault.Error's
	// code. Once stored on polls, a text is recognised as ours by its words.
	Refusals map[string]string
	// Plural returns which of Forms fits a number.
	Plural func(n int) int
}

// NoticeTexts are the texts of one notice. Body and Message list the same text with
// less and less in it: the first whose placeholders are all known is used. {title}
// is the poll's title, {time} the time that the notice is about, {old} the time that
// people knew before, and {distance} how far the first is from the second.
type NoticeTexts struct {
	Title   string   // of the in-app document
	Body    []string // of the in-app document
	Message []string // in a group's channel, without the mention before it
}

// OwnerTexts are the notices for the owner of a calendar.
type OwnerTexts struct {
	SyncErrorTitle, SyncErrorBody string
	UnlinkedTitle, UnlinkedBody   string
	LostTitle, LostBody           string
	HeldTitle                     string
	HeldBody                      Forms  // {n} is the number of events
	Resource                      string // what all of them are about
}

// CardTexts are the texts on cards.
type CardTexts struct {
	Slots, Status, Votes, Range, WinningSlot, ViewOnWeb string // names of fields
	Available                                           Forms  // {n} is the number of slots
	Statuses                                            map[rules.Status]string
	Rescheduled                                         string // the status of a poll that the calendar moved
	Voted, VotedSome                                    string // {voted} of {all} people, {pending} of them have not
	HiddenVotes                                         string
	Vote, Closed, Who, Manage                           string // labels of the buttons
}

// TimeTexts are how dates and times are written in the app. Discord writes times in
// each reader's own language and zone, but has no markup for dates alone.
type TimeTexts struct {
	Weekdays [7]string  // from Sunday
	Months   [12]string // from January
	Day      string     // {weekday}, {day}, {month} and {year}
	Clock    string     // a layout of package time
	Moment   string     // {day} and {clock}
	Zoned    string     // {time} in a {zone}
	Span     string     // {from} one time {to} another
}

// Forms are the forms of a text for different numbers, {n}, as Language.Plural
// chooses them.
type Forms []string

// languages are the languages that there are, by their tags of BCP 47.
var languages = map[string]*Language{"en": &English}

// spoken is the language of all texts, as long as nobody can choose one.
var spoken = languages["en"]

func (l *Language) count(forms Forms, n int) string {
	return fill(forms[l.Plural(n)], "{n}", strconv.Itoa(n))
}

func (l *Language) day(at time.Time) string {
	return fill(l.Times.Day, "{weekday}", l.Times.Weekdays[at.Weekday()], "{day}", strconv.Itoa(at.Day()),
		"{month}", l.Times.Months[at.Month()-time.January], "{year}", at.Format("2006"))
}

// fill puts values into a text, in one pass: a value that holds a placeholder stays
// as it is.
func fill(text string, placeholdersAndValues ...string) string {
	return strings.NewReplacer(placeholdersAndValues...).Replace(text)
}

// fillFirst fills the first of the texts that has no placeholder with an empty value.
func fillFirst(texts []string, placeholdersAndValues ...string) string {
	i := slices.IndexFunc(texts, func(text string) bool {
		for pair := range slices.Chunk(placeholdersAndValues, 2) {
			if pair[1] == "" && strings.Contains(text, pair[0]) {
				return false
			}
		}
		return true
	})
	return fill(texts[i], placeholdersAndValues...)
}
