package explain

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"

	"questscheduler/rules"
)

// Report is a history as people read it.
type Report struct {
	Poll     Summary `json:"poll"`
	Timeline []Step  `json:"timeline"`
	// Replay is nil where none was asked for.
	Replay *Verdict `json:"replay,omitempty"`
}

// Summary is the poll as it is stored.
type Summary struct {
	ID         string `json:"id"`
	Title      string `json:"title"`
	CreatorID  string `json:"creator_id"`
	EventID    string `json:"event_id,omitempty"`
	CalendarID string `json:"calendar_id,omitempty"`
	StepState
	// Winning is the time of the winning slot, as a fingerprint.
	Winning string `json:"winning,omitempty"`
	at      rules.Fingerprint
}

// NewReport makes the report of a history, with a replay where it is asked for.
func NewReport(h History, replay bool) Report {
	p := h.Poll
	report := Report{
		Poll: Summary{
			ID: p.ID, Title: p.Title, CreatorID: p.CreatorID, EventID: p.GoogleEventID, CalendarID: p.GoogleCalendarID,
			StepState: StepState{
				Status: string(p.Status), State: string(p.Sync.State), WinningSlotID: p.WinningSlotID,
				Baseline: p.Sync.Baseline.String(), Rescheduled: p.Sync.Rescheduled != nil, Generation: p.Sync.Generation,
			},
		},
		Timeline: Timeline(h),
	}
	if p.Sync.Error != nil {
		report.Poll.Error = string(p.Sync.Error.Code)
	}
	if h.Winning != nil {
		report.Poll.at = h.Winning.Fingerprint()
		report.Poll.Winning = report.Poll.at.String()
	}
	if replay {
		verdict := Judge(h)
		report.Replay = &verdict
	}
	return report
}

// Disagrees reports whether a replay was asked for and differs from what is stored.
func (r Report) Disagrees() bool { return r.Replay != nil && !r.Replay.Agrees }

// WriteJSON writes the report as one JSON object.
func (r Report) WriteJSON(out io.Writer) error {
	return writeJSON(out, r)
}

func writeJSON(out io.Writer, report any) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(report)
}

// WriteText writes the report for a terminal, without characters that a terminal acts on.
func (r Report) WriteText(out io.Writer) error {
	var text strings.Builder
	r.Poll.write(&text, len(r.Timeline))
	for _, step := range r.Timeline {
		step.write(&text)
	}
	if r.Replay != nil {
		r.Replay.write(&text)
	}
	_, err := io.WriteString(out, text.String())
	return err
}

// line writes one line with a label.
func line(text *strings.Builder, indent, label, format string, args ...any) {
	fmt.Fprintf(text, "%s%-10s %s\n", indent, label, clean(fmt.Sprintf(format, args...)))
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
