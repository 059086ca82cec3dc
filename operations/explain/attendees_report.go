package explain

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"questscheduler/internal/attendee"
)

// AttendeesReport is what became of second addresses at an event, or at a series and its
// exceptions, as people read it. It names no other guest and no title.
type AttendeesReport struct {
	Records []AttendeesRecord `json:"records"`
}

// AttendeesRecord is the record of one event or exception.
type AttendeesRecord struct {
	ID      string `json:"id"`
	ICalUID string `json:"ical_uid"`
	// Original is the start that an exception has by its series' rule; "" for others.
	Original string     `json:"original,omitempty"`
	SeriesID string     `json:"series_id,omitempty"`
	Version  int64      `json:"version"`
	Due      *time.Time `json:"due,omitempty"`
	Failures int64      `json:"failures,omitempty"`
	Failing  *time.Time `json:"failing_since,omitempty"`
	Error    string     `json:"error,omitempty"`
	EndsAt   *time.Time `json:"ends_at,omitempty"`
	// Copies are the calendars that show the event.
	Copies  []AttendeesCopy  `json:"copies"`
	Entries []AttendeesEntry `json:"entries"`
	// Timeline are the last changes, oldest first.
	Timeline []AttendeesStep `json:"timeline"`
}

// AttendeesCopy is the event in one calendar.
type AttendeesCopy struct {
	AccountID  string `json:"account_id"`
	CalendarID string `json:"calendar_id"`
	EventID    string `json:"event_id"`
	// Use says what the copy can be used for: "organizer", "guests may edit", "read only",
	// "gone".
	Use string `json:"use"`
}

// AttendeesEntry is what became of an address.
type AttendeesEntry struct {
	Address   string     `json:"address"`
	Primary   string     `json:"primary,omitempty"`
	State     string     `json:"state"`
	Confirmed *time.Time `json:"confirmed,omitempty"`
	Declined  bool       `json:"declined,omitempty"`
}

// AttendeesStep is a change of an entry.
type AttendeesStep struct {
	At      time.Time `json:"at"`
	Trigger string    `json:"trigger"`
	Trace   string    `json:"trace,omitempty"`
	Address string    `json:"address"`
	Primary string    `json:"primary,omitempty"`
	Before  string    `json:"before"`
	After   string    `json:"after"`
	// Observed: it was not carried out, since QS_SYNC is observe.
	Observed bool `json:"observed,omitempty"`
}

// NewAttendeesReport makes the report of some records.
func NewAttendeesReport(records []attendee.Event) AttendeesReport {
	report := AttendeesReport{Records: []AttendeesRecord{}}
	for _, record := range records {
		report.Records = append(report.Records, attendeesRecord(record))
	}
	return report
}

func attendeesRecord(e attendee.Event) AttendeesRecord {
	record := AttendeesRecord{
		ID: e.ID, ICalUID: e.ICalUID, Original: e.Original, SeriesID: e.SeriesID, Version: e.Version, Due: instant(e.Due),
		Failures: e.Failures, Failing: instant(e.FailedSince), Error: e.Error, EndsAt: instant(e.EndsAt),
		Copies: []AttendeesCopy{}, Entries: []AttendeesEntry{}, Timeline: []AttendeesStep{},
	}
	for _, key := range slices.Sorted(maps.Keys(e.Copies)) {
		c := e.Copies[key]
		record.Copies = append(record.Copies, AttendeesCopy{AccountID: c.AccountID, CalendarID: c.CalendarID, EventID: c.EventID, Use: useOf(c)})
	}
	for _, address := range slices.Sorted(maps.Keys(e.Entries)) {
		entry := e.Entries[address]
		record.Entries = append(record.Entries, AttendeesEntry{
			Address: address, Primary: entry.Primary, State: string(entry.State), Confirmed: instant(entry.At), Declined: entry.Declined,
		})
	}
	for _, change := range e.History {
		record.Timeline = append(record.Timeline, AttendeesStep{
			At: change.At, Trigger: change.Trigger, Trace: change.Trace, Address: change.Address, Primary: change.Primary,
			Before: string(change.Before), After: string(change.After), Observed: change.Would,
		})
	}
	return record
}

func useOf(c attendee.Copy) string {
	switch {
	case c.Gone:
		return "gone"
	case c.Organized:
		return "organizer"
	case c.MayEdit:
		return "guests may edit"
	default:
		return "read only"
	}
}

// Disagrees is false: there is no replay of these records.
func (AttendeesReport) Disagrees() bool { return false }

// WriteJSON writes the report as one JSON object.
func (r AttendeesReport) WriteJSON(out io.Writer) error { return writeJSON(out, r) }

// WriteText writes the report for a terminal, without characters that a terminal acts on.
func (r AttendeesReport) WriteText(out io.Writer) error {
	var text strings.Builder
	for i, record := range r.Records {
		if i > 0 {
			text.WriteString("\n")
		}
		record.write(&text)
	}
	_, err := io.WriteString(out, text.String())
	return err
}

func (r AttendeesRecord) write(text *strings.Builder) {
	relation := ", exception of "
	if r.Original == "" {
		relation = ", later part of "
	}
	line(text, "", "record", "%s, version %d%s", r.ID, r.Version, after(relation, r.SeriesID))
	line(text, "", "event", "%s%s%s", r.ICalUID, after(", originally at ", r.Original), after(", ends ", shownAt(r.EndsAt)))
	switch {
	case r.Error != "":
		line(text, "", "stands", "failing since %s: %s%s", shownAt(r.Failing), r.Error, after("; next try ", shownAt(r.Due)))
	case r.Due != nil:
		line(text, "", "stands", "to be written, due %s", shownAt(r.Due))
	default:
		line(text, "", "stands", "as wanted")
	}
	for _, c := range r.Copies {
		line(text, "", "copy", "%s in %s of %s: %s", c.EventID, c.CalendarID, c.AccountID, c.Use)
	}
	for _, e := range r.Entries {
		declined := ""
		if e.Declined {
			declined = ", had declined"
		}
		line(text, "", "address", "%s%s: %s%s%s", e.Address, after(" for ", e.Primary), stateWords(e.State), declined, after(", confirmed ", shownAt(e.Confirmed)))
	}
	if len(r.Timeline) == 0 {
		line(text, "", "history", "empty: no address was added, removed or met yet")
		return
	}
	line(text, "", "history", "the last %d, oldest first; all times are UTC", len(r.Timeline))
	for _, step := range r.Timeline {
		step.write(text)
	}
}

func (s AttendeesStep) write(text *strings.Builder) {
	only := ""
	if s.Observed {
		only = "observed, not done: "
	}
	fmt.Fprintf(text, "\n%s  %s%s: %s\n", s.At.UTC().Format(momentLayout), only, clean(s.Address), stateWords(s.After))
	const indent = "    "
	line(text, indent, "trigger", "%s%s", cmp.Or(s.Trigger, "none"), after(", trace ", s.Trace))
	line(text, indent, "state", "%s → %s%s", cmp.Or(s.Before, "none"), cmp.Or(s.After, "none"), after(", second address of ", s.Primary))
}

// attendeeStates say what a state means, by the state.
var attendeeStates = map[attendee.State]string{
	"": "nothing is known of it any more", attendee.Adding: "being added", attendee.Added: "added by us", attendee.Theirs: "invited by a person",
	attendee.Removed: "removed by a person, and not added again", attendee.Withdrawing: "being taken back",
	attendee.Declined: "taken back after it had declined, and not added again",
}

func stateWords(state string) string {
	return clean(cmp.Or(attendeeStates[attendee.State(state)], state))
}

func shownAt(at *time.Time) string {
	if at == nil {
		return ""
	}
	return at.UTC().Format(momentLayout)
}
