package explain

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"questscheduler/internal/mirror"
)

// EventReport is the history of a canonical event as people read it. It names no title.
type EventReport struct {
	Event    EventSummary    `json:"event"`
	Mirrors  []MirrorSummary `json:"mirrors"`
	Timeline []EventStep     `json:"timeline"`
	// Replay is nil where none was asked for.
	Replay *EventVerdict `json:"replay,omitempty"`
}

// EventSummary is the event as it is stored.
type EventSummary struct {
	ID string `json:"id"`
	// Removed: its document is gone, and only the journal is left.
	Removed    bool   `json:"removed,omitempty"`
	OwnerID    string `json:"owner_id,omitempty"`
	AccountID  string `json:"account_id,omitempty"`
	CalendarID string `json:"calendar_id,omitempty"`
	EventID    string `json:"event_id,omitempty"`
	Source     string `json:"source,omitempty"`
	Status     string `json:"status,omitempty"`
	Version    int64  `json:"version,omitempty"`
}

// MirrorSummary is a mirror as it is stored.
type MirrorSummary struct {
	ID              string     `json:"id"`
	OwnerID         string     `json:"owner_id"`
	TargetAccountID string     `json:"target_account_id"`
	State           string     `json:"state"`
	Detail          string     `json:"detail"`
	Target          string     `json:"target"`
	EventID         string     `json:"event_id,omitempty"`
	Generation      int64      `json:"generation"`
	Due             *time.Time `json:"due,omitempty"`
	Error           string     `json:"error,omitempty"`
}

// EventStep is one step of a timeline.
type EventStep struct {
	ID       string    `json:"id"`
	At       time.Time `json:"at"`
	Trigger  string    `json:"hint"`
	Trace    string    `json:"trace,omitempty"`
	Step     string    `json:"step"`
	MirrorID string    `json:"mirror_id,omitempty"`
	Target   string    `json:"target_account_id,omitempty"`
	Before   string    `json:"before"`
	After    string    `json:"after"`
	Reason   string    `json:"reason,omitempty"`
}

// NewEventReport makes the report of a history, with a replay where it is asked for.
func NewEventReport(h EventHistory, replay bool) EventReport {
	e := h.Event
	report := EventReport{
		Event: EventSummary{
			ID: h.ID, Removed: e.ID == "", OwnerID: e.OwnerID, AccountID: e.AccountID, CalendarID: e.CalendarID, EventID: e.EventID,
			Source: string(e.Source), Status: e.Status, Version: e.Version,
		},
		Mirrors: []MirrorSummary{}, Timeline: []EventStep{},
	}
	for _, m := range h.Mirrors {
		summary := MirrorSummary{
			ID: m.ID, OwnerID: m.OwnerID, TargetAccountID: m.TargetAccountID, State: string(m.State), Detail: string(m.Detail), Target: string(m.Target),
			EventID: m.EventID, Generation: m.Generation, Due: instant(m.Due),
		}
		if m.State == mirror.Failed || m.Attempts > 0 {
			summary.Error = m.LastError
		}
		report.Mirrors = append(report.Mirrors, summary)
	}
	for _, entry := range h.Entries {
		report.Timeline = append(report.Timeline, EventStep{
			ID: entry.ID, At: entry.At, Trigger: entry.Trigger, Trace: entry.Trace, Step: string(entry.Step), MirrorID: entry.MirrorID,
			Target: entry.TargetAccountID, Before: entry.Before, After: entry.After, Reason: entry.Reason,
		})
	}
	if replay {
		verdict := JudgeEvent(h)
		report.Replay = &verdict
	}
	return report
}

// Disagrees reports whether a replay was asked for and differs from what is stored.
func (r EventReport) Disagrees() bool { return r.Replay != nil && !r.Replay.Agrees }

// WriteJSON writes the report as one JSON object.
func (r EventReport) WriteJSON(out io.Writer) error {
	return writeJSON(out, r)
}

// WriteText writes the report for a terminal, without characters that a terminal acts on.
func (r EventReport) WriteText(out io.Writer) error {
	var text strings.Builder
	r.Event.write(&text, len(r.Timeline))
	for _, m := range r.Mirrors {
		m.write(&text)
	}
	for _, step := range r.Timeline {
		step.write(&text)
	}
	if r.Replay != nil {
		r.Replay.write(&text)
	}
	_, err := io.WriteString(out, text.String())
	return err
}

func (e EventSummary) write(text *strings.Builder, entries int) {
	line(text, "", "event", "%s", e.ID)
	if e.Removed {
		line(text, "", "stands", "removed; only its journal is left")
	} else {
		line(text, "", "owner", "%s", e.OwnerID)
		line(text, "", "stands", "%s, version %d, made by %s", e.Status, e.Version, e.Source)
	}
	if e.EventID != "" {
		line(text, "", "origin", "%s in %s of %s", e.EventID, e.CalendarID, e.AccountID)
	}
	if entries == 0 {
		line(text, "", "journal", "empty: nothing happened to it for as long as journals are kept")
		return
	}
	line(text, "", "journal", "%d, oldest first; all times are UTC", entries)
}

func (m MirrorSummary) write(text *strings.Builder) {
	due := ""
	if m.Due != nil {
		due = m.Due.UTC().Format(momentLayout)
	}
	line(text, "", "mirror", "%s into %s of %s: %s, %s in %s, generation %d%s%s%s", m.ID, m.TargetAccountID, m.OwnerID, m.State, m.Detail, m.Target,
		m.Generation, after(", event ", m.EventID), after(", due ", due), after(", error: ", m.Error))
}

// stepHeadlines say what happened, by the step.
var stepHeadlines = map[mirror.Step]string{
	mirror.StepObserved: "the event was observed", mirror.StepUnlisted: "the event is no longer in its calendar",
	mirror.StepPlanned: "planned", mirror.StepWritten: "written", mirror.StepDeleted: "deleted", mirror.StepDrift: "changed by a person",
	mirror.StepRemoved: "deleted by a person", mirror.StepFailed: "writing failed", mirror.StepWouldPlan: "observed, not done: planned",
	mirror.StepStray: "an event of ours without a mirror", mirror.StepForgotten: "the mirror's document was removed",
	mirror.StepReconciled: "corrected by the reconciliation",
}

func (s EventStep) write(text *strings.Builder) {
	fmt.Fprintf(text, "\n%s  %s\n", s.At.UTC().Format(momentLayout), clean(cmp.Or(stepHeadlines[mirror.Step(s.Step)], s.Step)))
	const indent = "    "
	line(text, indent, "hint", "%s%s", cmp.Or(s.Trigger, "none"), after(", trace ", s.Trace))
	if s.MirrorID != "" {
		line(text, indent, "mirror", "%s%s", s.MirrorID, after(" into ", s.Target))
	}
	change := cmp.Or(s.Before, "none") + " → " + cmp.Or(s.After, "none")
	if s.Before == s.After {
		change = "still " + cmp.Or(s.After, "none")
	}
	line(text, indent, s.stands(), "%s%s", change, after(": ", s.Reason))
	line(text, indent, "entry", "%s", s.ID)
}

func (s EventStep) stands() string {
	if s.MirrorID == "" {
		return "version"
	}
	return "state"
}

func (v EventVerdict) write(text *strings.Builder) {
	text.WriteString("\nreplay    ")
	if v.Agrees {
		text.WriteString("agrees: the journal gives back what is stored\n")
	} else {
		text.WriteString("DISAGREES: the journal does not give back what is stored\n")
	}
	if v.Partial {
		text.WriteString("          The journal begins in the middle; what it lacks is taken as it stands.\n")
	}
	for _, b := range v.Breaks {
		fmt.Fprintf(text, "          %s does not follow: %s\n", clean(b.Entry), clean(b.What))
	}
	for _, d := range v.Differences {
		fmt.Fprintf(text, "          %s: %s by the journal, %s stored\n", clean(d.Field), clean(cmp.Or(d.Journal, "none")), clean(cmp.Or(d.Stored, "none")))
	}
}
