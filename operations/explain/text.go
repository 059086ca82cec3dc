package explain

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"questscheduler/rules"
)

// Layouts of the text; all times are UTC.
const (
	momentLayout = "2006-01-02 15:04:05.000"
	dayLayout    = "Mon 2 Jan 2006"
	clockLayout  = "15:04"
)

// WriteText writes the report for a terminal, without characters that a terminal acts on.
func (r Report) WriteText(out io.Writer) error {
	var text strings.Builder
	journal := Line{"journal", fmt.Sprintf("%d, oldest first; all times are UTC", len(r.Steps))}
	if len(r.Steps) == 0 {
		journal.Text = "empty: nothing happened for as long as entries are kept"
	}
	for _, line := range append(slices.Clip(r.Head), journal) {
		line.write(&text, "")
	}
	for _, step := range r.Steps {
		step.write(&text)
	}
	if r.Replay != nil {
		r.Replay.write(&text)
	}
	_, err := io.WriteString(out, text.String())
	return err
}

func (l Line) write(text *strings.Builder, indent string) {
	if l.Text != "" {
		fmt.Fprintf(text, "%s%-10s %s\n", indent, l.Label, clean(l.Text))
	}
}

func (s Step) write(text *strings.Builder) {
	only := ""
	if s.Observed {
		only = "observed, not done: "
	}
	fmt.Fprintf(text, "\n%s  %s%s, by %s\n", at(s.At), only, clean(s.What), clean(s.By))
	for _, line := range []Line{
		{"trigger", cmp.Or(s.Trigger, "none") + after(", trace ", s.Trace)}, {"calendar", s.Calendar}, {"mirror", s.Mirror},
		{"address", s.Address},
		{"why", s.Why}, {"rule", s.Rule}, {"change", s.Change}, {"announced", s.Announced}, {"entry", s.Entry},
	} {
		line.write(text, "    ")
	}
}

func (v Verdict) write(text *strings.Builder) {
	is := Line{"replay", "DISAGREES: the journal does not give back the stored poll"}
	switch {
	case v.Agrees && v.Entries == 0:
		is.Text = "agrees: there is no journal, and nothing that one would hold"
	case v.Agrees:
		is.Text = "agrees: the journal gives back the stored poll"
	}
	text.WriteString("\n")
	is.write(text, "")
	if v.Partial {
		Line{"", "The journal begins in the middle; its first entry is taken as it stands."}.write(text, "")
	}
	for _, b := range v.Breaks {
		Line{"", b.Entry + " does not follow: " + b.What}.write(text, "")
	}
	switch {
	case v.Edited:
		Line{"", "Somebody wrote the poll's document directly; the next sync, command or sweep repairs that, with an entry."}.write(text, "")
	case len(v.Differences) > 0 && len(v.Breaks) == 0:
		Line{"", "The poll was changed without an entry in the journal, as a direct edit of its document does."}.write(text, "")
	}
	v.writeFields(text)
}

// writeFields writes what was compared, side by side.
func (v Verdict) writeFields(text *strings.Builder) {
	var columns strings.Builder
	table := tabwriter.NewWriter(&columns, 0, 4, 2, ' ', 0)
	fmt.Fprintln(table, "           \tjournal\tstored\t")
	for _, field := range v.Fields {
		mark := ""
		if field.Journal != field.Stored {
			mark = "differs"
		}
		fmt.Fprintf(table, "           %s\t%s\t%s\t%s\n", field.Field, clean(cmp.Or(field.Journal, "-")), clean(cmp.Or(field.Stored, "-")), mark)
	}
	_ = table.Flush() // a strings.Builder takes everything
	for row := range strings.Lines(columns.String()) {
		text.WriteString(strings.TrimRight(row, " \n") + "\n")
	}
}

// clean removes what would move a terminal's cursor or change the direction of its text.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// at is a moment for people; "" for none.
func at(moment time.Time) string {
	if moment.IsZero() {
		return ""
	}
	return moment.UTC().Format(momentLayout)
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

// changed says what a state became.
func changed(before, now string) string {
	if before == now {
		return "still " + cmp.Or(now, "none")
	}
	return cmp.Or(before, "none") + " → " + cmp.Or(now, "none")
}

// after puts words before a text, if there is one.
func after(words, text string) string {
	if text == "" {
		return ""
	}
	return words + text
}
