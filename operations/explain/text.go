package explain

import (
	"cmp"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"questscheduler/rules"
)

// Layouts of the text; all times are UTC.
const (
	momentLayout = "2006-01-02 15:04:05.000"
	dayLayout    = "Mon 2 Jan 2006"
	clockLayout  = "15:04"
)

func (s Summary) write(text *strings.Builder, entries int) {
	line(text, "", "poll", "%s %q", s.ID, s.Title)
	line(text, "", "creator", "%s", s.CreatorID)
	line(text, "", "stands", "%s, sync %s, %s%s", s.Status, cmp.Or(s.State, "none"), cmp.Or(span(s.at), "no time"), after(", error ", s.Error))
	if s.EventID != "" {
		line(text, "", "event", "%s in %s", s.EventID, cmp.Or(s.CalendarID, "a calendar that is not known"))
	}
	switch entries {
	case 0:
		line(text, "", "journal", "empty: nothing was decided about this poll yet")
	default:
		line(text, "", "journal", "%d, oldest first; all times are UTC", entries)
	}
}

// headlines say what happened, by the decision.
var headlines = map[string]string{
	string(rules.CommandFinalise): "finalised", string(rules.CommandCancel): "cancelled",
	string(rules.CommandReopen): "reopened", string(rules.CommandEditSlots): "slots changed",
	string(rules.CommandArchive): "archived", string(rules.CommandUnarchive): "taken out of the archive",
	string(rules.CommandAcceptNew): "new time accepted", string(rules.CommandDeleteEvent): "event deleted",
	string(rules.Adopt): "time of the event adopted", string(rules.MoveCalendar): "followed to another calendar", string(rules.Reschedule): "rescheduled",
	string(rules.RescheduleAgain): "rescheduled again", string(rules.Restore): "restored to its original time",
	string(rules.Revive): "on again, since its event is back",
	string(rules.Warn):   "something is wrong with the sync", string(rules.Clear): "the error is over",
	string(rules.Record): "noted; nothing changed",
}

func (s Step) write(text *strings.Builder) {
	who := "the calendar"
	switch {
	case s.Trigger == outsideEdit:
		who = "a direct edit of the documents"
	case s.Who != "":
		who = s.Who
	case s.Said == nil:
		who = "the sync"
	}
	only := ""
	if s.Observed {
		only = "observed, not done: "
	}
	fmt.Fprintf(text, "\n%s  %s%s, by %s\n", s.At.UTC().Format(momentLayout), only, cmp.Or(headlines[s.Decision], clean(s.Decision)), clean(who))
	const indent = "    "
	line(text, indent, "hint", "%s%s", cmp.Or(s.Trigger, "none"), after(", trace ", s.Trace))
	if s.Said != nil {
		line(text, indent, "calendar", "%s", s.Said.sentence())
	}
	line(text, indent, "decision", "%s%s", s.Decision, after(": ", s.Why))
	if s.Row != "" {
		line(text, indent, "rule", "%s", s.Row)
	}
	line(text, indent, "poll", "%s", s.After.since(s.Before))
	line(text, indent, "announced", "%s", s.Announced.sentence())
	line(text, indent, "entry", "%s", s.ID)
}

func (s Said) sentence() string {
	var says string
	switch s.EventState {
	case "present":
		says = "the event stands at " + cmp.Or(span(s.at), "no time")
	case "gone":
		says = "the event is gone"
	case "series":
		says = "the event became a recurring one"
	default:
		says = "the event cannot be read"
	}
	if s.Updated != nil {
		says += ", changed " + s.Updated.UTC().Format(momentLayout)
	}
	return says + after("; event ", s.EventID) + after(" in ", s.CalendarID) + after("; found in ", s.MovedTo)
}

// since lists the differences from the state before.
func (s StepState) since(before StepState) string {
	var parts []string
	for _, field := range []struct{ name, was, is string }{
		{"", before.Status, s.Status}, {"sync ", before.State, s.State}, {"error ", before.Error, s.Error},
		{"slot ", before.WinningSlotID, s.WinningSlotID}, {"baseline ", spanOf(before.Baseline), spanOf(s.Baseline)},
	} {
		switch {
		case field.was == field.is:
		case field.was == "":
			parts = append(parts, field.name+field.is)
		default:
			parts = append(parts, field.name+field.was+" → "+cmp.Or(field.is, "none"))
		}
	}
	return cmp.Or(strings.Join(parts, "; "), "as before")
}

func (a *Announced) sentence() string {
	if a == nil {
		return "nothing"
	}
	var channels []string
	for _, c := range a.Channels {
		text := c.Name + " " + c.At.UTC().Format(momentLayout) + after(", message ", c.MessageID) + after(", refused: ", c.Error)
		channels = append(channels, text)
	}
	switch a.State {
	case AnnouncementDue:
		return "not yet; due " + a.Due.UTC().Format(momentLayout)
	case AnnouncementUnderWay:
		return fmt.Sprintf("under way, attempt %d%s", a.Attempts, after("; done: ", strings.Join(channels, "; ")))
	case AnnouncementSent:
		return strings.Join(channels, "; ")
	case AnnouncementNoNews:
		return "nothing that people did not know or are not told"
	default:
		return "no longer on record, since a later one took its place"
	}
}

func (v Verdict) write(text *strings.Builder) {
	text.WriteString("\nreplay    ")
	switch {
	case v.Agrees && v.Entries == 0:
		text.WriteString("agrees: there is no journal, and nothing that it would tell of\n")
	case v.Agrees:
		text.WriteString("agrees: the journal gives back the stored poll\n")
	default:
		text.WriteString("DISAGREES: the journal does not give back the stored poll\n")
	}
	if v.Partial {
		text.WriteString("          The journal begins in the middle; its first entry is taken as it stands.\n")
	}
	for _, b := range v.Breaks {
		fmt.Fprintf(text, "          %s does not follow: %s\n", clean(b.Entry), clean(b.What))
	}
	switch {
	case v.Edited:
		text.WriteString("          Somebody wrote the poll's document directly; the next sync, command or sweep repairs that, with an entry.\n")
	case len(v.Differences) > 0 && len(v.Breaks) == 0:
		text.WriteString("          The poll was changed without an entry in the journal, as a direct edit of its document does.\n")
	}
	v.writeFields(text)
}

// writeFields writes what was compared, side by side.
func (v Verdict) writeFields(text *strings.Builder) {
	var columns strings.Builder
	table := tabwriter.NewWriter(&columns, 0, 4, 2, ' ', 0)
	fmt.Fprintln(table, "          \tjournal\tstored\t")
	for _, field := range v.Fields {
		mark := ""
		if field.Journal != field.Stored {
			mark = "differs"
		}
		fmt.Fprintf(table, "          %s\t%s\t%s\t%s\n", field.Field, clean(cmp.Or(field.Journal, "-")), clean(cmp.Or(field.Stored, "-")), mark)
	}
	_ = table.Flush() // a strings.Builder takes everything
	for row := range strings.Lines(columns.String()) {
		text.WriteString(strings.TrimRight(row, " \n") + "\n")
	}
}

// span is a time for people; "" for none.
func span(f rules.Fingerprint) string {
	start, end := f.StartTime(), f.EndTime()
	switch {
	case f.IsZero():
		return ""
	case f.AllDay:
		last := end.Add(-time.Nanosecond).Format(dayLayout) // the end is exclusive
		if first := start.Format(dayLayout); first != last {
			return first + " to " + last + ", all day"
		}
		return last + ", all day"
	case start.Format(dayLayout) == end.Format(dayLayout):
		return start.Format(dayLayout+" "+clockLayout) + " to " + end.Format(clockLayout)
	default:
		return start.Format(dayLayout+" "+clockLayout) + " to " + end.Format(dayLayout+" "+clockLayout)
	}
}

// spanOf is span of a written fingerprint.
func spanOf(text string) string {
	f, err := rules.ParseFingerprint(text)
	if err != nil {
		return text
	}
	return span(f)
}

// after puts words before a text, where there is one.
func after(words, text string) string {
	if text == "" {
		return ""
	}
	return words + text
}
