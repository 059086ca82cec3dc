package feed

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	ics "github.com/arran4/golang-ical"
)

// uidDomain ends the UID of every session. Calendar programs recognise a session by its UID, so
// it never changes.
const uidDomain = "@questscheduler.app"

const (
	calendarName = "Quest Scheduler"
	productID    = "-//Quest Scheduler//Sessions//EN"
	// refreshEvery is how often a calendar program is asked to read the feed again.
	refreshEvery = "PT1H"
	// mostTitle and mostDescription bound the runes of a text, so that the largest feed stays
	// small enough for calendar programs.
	mostTitle       = 500
	mostDescription = 2000
)

// Session is one entry of a feed.
type Session struct {
	// PollID identifies the session, wherever its time moves.
	PollID      string
	Title       string
	Description string
	URL         string // of the poll in the web app; "" for none
	// Start and End are instants, or for AllDay the midnights UTC of the first day and of the
	// day after the last. A session that does not end after its start is given without an end.
	Start, End time.Time
	AllDay     bool
	Cancelled  bool
	// Tentative sessions are given without any text but their title.
	Tentative bool
	// Sequence is greater after each move, cancellation or restoration, and once the session is
	// not tentative any more.
	Sequence int
	// Changed is when the session was changed last.
	Changed time.Time
}

// Render gives the sessions as an iCalendar object (RFC 5545, with the name and the refresh
// interval of RFC 7986), earliest session first. The same sessions give the same bytes. Every
// session must be Renderable, and have a PollID of its own.
func Render(sessions []Session) ([]byte, error) {
	calendar := ics.NewCalendarFor(calendarName)
	calendar.SetProductId(productID)
	calendar.SetMethod(ics.MethodPublish)
	calendar.SetCalscale("GREGORIAN")
	calendar.SetXWRCalName(calendarName)
	calendar.SetRefreshInterval(refreshEvery)
	calendar.SetXPublishedTTL(refreshEvery)
	for _, session := range inOrder(sessions) {
		calendar.AddVEvent(session.event())
	}
	var text bytes.Buffer
	if err := calendar.SerializeTo(&text, ics.WithNewLineWindows); err != nil {
		return nil, fmt.Errorf("render a calendar feed: %w", err)
	}
	return bytes.Clone(text.Bytes()), nil // without the buffer's spare room, since it is kept
}

// inOrder are sessions in the order of a feed.
func inOrder(sessions []Session) []Session {
	return slices.SortedFunc(slices.Values(sessions), func(a, b Session) int {
		return cmp.Or(a.Start.Compare(b.Start), strings.Compare(a.PollID, b.PollID))
	})
}

// Renderable reports whether the session's start can be written, which has four digits for the
// year.
func (s Session) Renderable() bool { return writable(s.Start) }

func writable(at time.Time) bool {
	year := at.UTC().Year()
	return !at.IsZero() && year >= 1 && year <= 9999
}

func (s Session) event() *ics.VEvent {
	event := ics.NewEvent(plain(s.PollID) + uidDomain)
	changed := s.Changed
	if !writable(changed) {
		changed = time.Unix(0, 0)
	}
	event.SetDtStampTime(changed)
	event.SetLastModifiedAt(changed)
	event.SetSequence(s.Sequence)
	s.setTimes(event)
	event.SetSummary(s.title())
	if text := s.text(); text != "" {
		event.SetDescription(text)
	}
	if s.URL != "" {
		event.SetURL(plain(s.URL))
	}
	switch {
	case s.Cancelled:
		event.SetStatus(ics.ObjectStatusCancelled)
	case s.Tentative:
		event.SetStatus(ics.ObjectStatusTentative)
	default:
		event.SetStatus(ics.ObjectStatusConfirmed)
	}
	return event
}

func (s Session) setTimes(event *ics.VEvent) {
	ends := s.End.After(s.Start) && writable(s.End)
	if s.AllDay {
		event.SetAllDayStartAt(s.Start.UTC())
		if ends {
			event.SetAllDayEndAt(s.End.UTC())
		}
		return
	}
	event.SetStartAt(s.Start)
	if ends {
		event.SetEndAt(s.End)
	}
}

func (s Session) title() string { return limited(plain(s.Title), mostTitle) }

// text is the description with the link below it, since few calendar programs show URL.
func (s Session) text() string {
	text := limited(plain(s.Description), mostDescription)
	switch {
	case s.URL == "" || s.Tentative:
		return text
	case text == "":
		return plain(s.URL)
	default:
		return text + "\n\n" + plain(s.URL)
	}
}

// plain is a text that a content line can hold: valid UTF-8, lines ended by \n, and no other
// control characters but tabs.
func plain(text string) string {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.ToValidUTF8(text, "\uFFFD"))
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, text)
}

// limited is a text of at most so many runes.
func limited(text string, most int) string {
	runes := 0
	for i := range text {
		if runes == most {
			return text[:i] + "…"
		}
		runes++
	}
	return text
}
