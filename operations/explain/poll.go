package explain

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"questscheduler/internal/poll"
	"questscheduler/rules"
	"questscheduler/transition"
)

// NewReport makes the report of a poll, with a replay if it is requested.
func NewReport(h History, replay bool) Report {
	report := Report{Head: pollHead(h), Steps: []Step{}}
	var before State
	for _, entry := range h.Entries {
		step := pollStep(entry, before)
		step.Announced = announced(h.Announcement, entry.Announcement)
		report.Steps = append(report.Steps, step)
		before = stateAfter(entry)
	}
	if replay {
		verdict := Judge(h)
		report.Replay = &verdict
	}
	return report
}

func pollHead(h History) []Line {
	p, state, when := h.Poll, stateOf(h.Poll), ""
	if h.Winning != nil {
		when = span(h.Winning.Fingerprint())
	}
	head := []Line{
		{"poll", p.ID}, {"title", p.Title}, {"creator", p.CreatorID},
		{
			"status",
			fmt.Sprintf("%s, sync %s, %s%s", state.Status, cmp.Or(string(state.State), "none"), cmp.Or(when, "no time"),
				after(", error ", string(state.Error))),
		},
	}
	if p.GoogleEventID != "" {
		head = append(head, Line{"event", p.GoogleEventID + " in " + cmp.Or(p.GoogleCalendarID, "a calendar that is not known")})
	}
	return head
}

// pollSteps say in words what happened, by the command or action.
var pollSteps = map[string]string{
	string(rules.CommandFinalise): "finalised", string(rules.CommandCancel): "cancelled",
	string(rules.CommandReopen): "reopened", string(rules.CommandEditSlots): "slots changed",
	string(rules.CommandArchive): "archived", string(rules.CommandUnarchive): "taken out of the archive",
	string(rules.CommandAcceptNew): "new time accepted", string(rules.CommandDeleteEvent): "event deleted",
	string(rules.Adopt): "time of the event adopted", string(rules.MoveCalendar): "followed to another calendar",
	string(rules.Reschedule):      "rescheduled",
	string(rules.RescheduleAgain): "rescheduled again", string(rules.Restore): "restored to its original time",
	string(rules.Revive): "on again, since its event is back",
	string(rules.Warn):   "something is wrong with the sync", string(rules.Clear): "the error is over",
	string(rules.Record): "noted; nothing changed",
}

// pollStep is an entry of a poll's journal in words; before is the state before it.
func pollStep(entry poll.JournalEntry, before State) Step {
	name := cmp.Or(string(entry.Command), string(entry.Decision))
	by := "the calendar"
	switch {
	case entry.Trigger == transition.OutsideEdit:
		by = "a direct edit of the documents"
	case entry.Who != "":
		by = entry.Who
	case entry.EventState == "":
		by = "the sync"
	}
	return Step{
		At: entry.At, Step: name, What: cmp.Or(pollSteps[name], name), Observed: entry.Observed, By: by, Trigger: entry.Trigger,
		Trace:    entry.Trace,
		Calendar: calendarText(entry), Why: entry.Reason, Rule: ruleOf(entry), Change: stateAfter(entry).since(before), Entry: entry.ID,
	}
}

// calendarText is what the calendar showed; "" if it was not read.
func calendarText(entry poll.JournalEntry) string {
	var shows, found string
	switch entry.EventState {
	case "":
		return ""
	case "present":
		shows = "the event stands at " + cmp.Or(span(entry.Fingerprint), "no time")
	case "gone":
		shows = "the event is gone"
	case "series":
		shows = "the event became a recurring one"
	default:
		shows = "the event cannot be read"
	}
	if entry.Inputs != nil {
		found = entry.Inputs.MovedTo.CalendarID
	}
	return shows + after(", changed ", at(entry.Updated)) + after("; event ", entry.EventID) +
		after(" in ", entry.CalendarID) + after("; found in ", found)
}

// ruleOf is the row of the rules that decided an entry, in words; "" for a command.
func ruleOf(entry poll.JournalEntry) string {
	name, _, _ := strings.Cut(entry.Reason, ":")
	switch {
	case entry.Trigger == transition.OutsideEdit:
		for _, row := range rules.Repairs() {
			if string(row.Repair) == name {
				return row.Documents
			}
		}
	case entry.Command == "" && entry.EventState != "":
		for _, row := range rules.Transitions() {
			if row.Name == name {
				return "poll: " + row.Poll + "; calendar: " + row.Calendar + "; so: " + row.Does
			}
		}
	}
	return ""
}

// since lists the differences from the state before.
func (s State) since(before State) string {
	var parts []string
	for _, field := range []struct{ name, was, is string }{
		{"", string(before.Status), string(s.Status)}, {"sync ", string(before.State), string(s.State)},
		{"error ", string(before.Error), string(s.Error)},
		{"slot ", before.WinningSlotID, s.WinningSlotID}, {"baseline ", span(before.Baseline), span(s.Baseline)},
	} {
		switch {
		case field.was == field.is:
		case field.was == "":
			parts = append(parts, field.name+field.is)
		default:
			parts = append(parts, field.name+changed(field.was, field.is))
		}
	}
	return cmp.Or(strings.Join(parts, "; "), "as before")
}

// announced says what became of an entry's announcement. The store keeps the newest alone.
func announced(a poll.Announcement, ref string) string {
	var channels []string
	for _, name := range slices.Sorted(maps.Keys(a.Channels)) {
		if d := a.Channels[name]; d.Ref == ref {
			channels = append(channels, name+" "+at(d.At)+after(", message ", d.MessageID)+after(", refused: ", d.Error))
		}
	}
	done := strings.Join(channels, "; ")
	switch {
	case ref == "":
		return "nothing"
	case a.Delivering.Ref == ref:
		return fmt.Sprintf("in progress, attempt %d%s", a.Attempts, after("; done: ", done))
	case a.Wanted.Ref == ref && !a.Due.IsZero():
		return "not yet; due " + at(a.Due)
	case done != "":
		return done
	case a.Announced.Ref == ref || a.Wanted.Ref == ref:
		return "nothing that people did not know already"
	default:
		return "no longer on record, since a later one took its place"
	}
}
