package docs_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/internal/test/docs"
	"questscheduler/rules"
)

// The pictures are drawn by asking rules.Decide and rules.Apply, so they show
// what the program does and not what its tables say of themselves.

var (
	monday  = time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
	planned = rules.Timed(monday, monday.Add(time.Hour))
	moved   = rules.Timed(monday.Add(2*time.Hour), monday.Add(3*time.Hour))
	third   = rules.Timed(monday.Add(4*time.Hour), monday.Add(5*time.Hour))
	link    = rules.Link{Account: "account", Calendar: "calendar", Event: "event", Generation: 1}
)

// linkedBefore is how the picture calls a poll that was finalised before this
// backend.
const linkedBefore = "LINKED_BEFORE"

// samples are polls of every kind that the table tells apart, by their place in
// the picture.
func samples() []struct {
	place string
	poll  rules.Poll
} {
	ok := rules.Poll{
		Status: rules.Finalized, State: rules.StateOK, Link: link, Baseline: planned, Applied: planned, AppliedUpdated: monday,
		Winning: planned,
	}
	away := ok
	away.State, away.Rescheduled, away.Applied, away.Winning = rules.StateRescheduled, true, moved, moved
	failed := ok
	failed.State, failed.Error = rules.StateError, rules.SyncFailed
	held := ok
	held.State, held.Error = rules.StateError, rules.MassCancellationHeld
	failedAway := away
	failedAway.State, failedAway.Error = rules.StateError, rules.SyncFailed
	before := ok
	before.State, before.Baseline, before.Applied, before.AppliedUpdated = rules.StateNone, rules.Fingerprint{},
		rules.Fingerprint{}, time.Time{}
	open := rules.Poll{Status: rules.Open}
	cancelled := rules.Poll{Status: rules.Cancelled, State: rules.StateCancelled, Winning: planned}
	awaiting := cancelled
	awaiting.Baseline, awaiting.Applied, awaiting.AppliedUpdated = planned, planned, monday
	awaiting.Awaited, awaiting.AwaitedUntil = link, monday.Add(rules.AwaitFor)
	archived := rules.Poll{Status: rules.Archived, Winning: planned}
	return []struct {
		place string
		poll  rules.Poll
	}{
		{"OPEN", open}, {linkedBefore, before}, {"OK", ok}, {"RESCHEDULED", away},
		{"ERROR", failed}, {"ERROR", failedAway}, {"ERROR", held}, {"CANCELLED", cancelled}, {"CANCELLED", awaiting}, {"ARCHIVED", archived},
	}
}

// observations are those that a sync run may make of an event.
func observations() []rules.Observation {
	var all []rules.Observation
	for _, updated := range []time.Time{monday.Add(-time.Minute), monday.Add(time.Minute)} {
		for _, at := range []rules.Fingerprint{planned, moved, third} {
			for _, fresh := range []bool{false, true} {
				all = append(all, rules.Observation{
					Link: link, EventState: rules.Present, Fingerprint: at, Updated: updated, AccountLive: true, WatchLive: true,
					Fresh: fresh,
				})
			}
		}
		for _, state := range []rules.EventState{rules.Gone, rules.Series, rules.Unreadable} {
			all = append(all, rules.Observation{Link: link, EventState: state, Updated: updated, AccountLive: true, WatchLive: true})
		}
	}
	all = append(all, rules.Observation{Link: link, EventState: rules.Gone, Elsewhere: true, AccountLive: true, WatchLive: true})
	all = append(all, rules.Observation{Link: rules.Link{Account: "another"}, EventState: rules.Present, Fingerprint: moved, Updated: monday})
	return all
}

func TestPage_States_IsCurrent(t *testing.T) {
	t.Parallel()
	var page strings.Builder
	page.WriteString("# How a poll goes from state to state\n\nA poll has a status, and while it is finalised a sync state. " +
		"Tables in `rules/` decide all of it: what the calendar says (`rules/transitions.go`), what people ask for " +
		"(`rules/commands.go`), both of which this page is made by asking, and how an edit of the poll's document is carried through " +
		"(`rules/repair.go`).\n")
	page.WriteString("\n## What the calendar says\n\nThe names beside the arrows are the rows of the table below. What has no " +
		"arrow changes nothing.\n\n")
	page.WriteString(calendarPicture(t))
	page.WriteString("\nThe first row that fits decides:\n\n| | Row | The poll | The calendar says now | Then |\n|---|---|---|---|---|\n")
	for i, row := range rules.Transitions() {
		fmt.Fprintf(&page, "| %d | `%s` | %s | %s | %s |\n", i+1, row.Name, row.Poll, row.Calendar, row.Does)
	}
	page.WriteString("\n## What people ask for\n\n")
	page.WriteString(commandTable(t))
	page.WriteString(watchPicture())
	docs.Check(t, "states.md", page.String())
}

// calendarPicture draws what the calendar does to polls.
func calendarPicture(t *testing.T) string {
	t.Helper()
	edges, met := map[string]map[string]bool{}, map[string]bool{}
	for _, sample := range samples() {
		for _, state := range observations() {
			for _, days := range []int{0, 3, 60} {
				decision := rules.Decide(sample.poll, state, monday.AddDate(0, 0, days))
				met[decision.Row] = true
				if !decision.Changes() {
					continue
				}
				to := string(decision.State)
				if sample.place == linkedBefore && (decision.Action == rules.Warn || decision.Action == rules.MoveCalendar) {
					to = linkedBefore // still to be adopted
				}
				edge := sample.place + " --> " + to
				if edges[edge] == nil {
					edges[edge] = map[string]bool{}
				}
				edges[edge][decision.Row] = true
			}
		}
	}
	for _, row := range rules.Transitions() {
		if !met[row.Name] {
			t.Errorf("no sample meets row %s of the table; add one", row.Name)
		}
	}
	var picture strings.Builder
	picture.WriteString("```mermaid\nstateDiagram-v2\n    state FINALIZED {\n        LINKED_BEFORE: linked before this " +
		"backend\n        OK\n        RESCHEDULED\n        ERROR\n    }\n")
	for _, edge := range slices.Sorted(maps.Keys(edges)) {
		fmt.Fprintf(&picture, "    %s: %s\n", edge, strings.Join(slices.Sorted(maps.Keys(edges[edge])), ", "))
	}
	picture.WriteString("    OPEN\n    ARCHIVED\n```\n")
	return picture.String()
}

var statuses = []rules.Status{rules.Open, rules.Finalized, rules.Cancelled, rules.Archived}

// commandTable says what each command does to a poll of each status.
func commandTable(t *testing.T) string {
	t.Helper()
	var table strings.Builder
	table.WriteString("What each command does to a poll of each status; a letter is a refusal, listed below. ① " +
		"supersedes what is under way: the generation grows, and an insert that has not come back becomes a deletion. ② the " +
		"event is unlinked: deleted or released, as the command says. ③ what is left of a reschedule is cleared. ④ " +
		"`cancelled` is cleared.\n\n| Command |")
	for _, status := range statuses {
		fmt.Fprintf(&table, " %s |", status)
	}
	table.WriteString("\n|---|" + strings.Repeat("---|", len(statuses)) + "\n")
	var commands []rules.Command
	for _, row := range rules.CommandRows() {
		if !slices.Contains(commands, row.Command) {
			commands = append(commands, row.Command)
		}
	}
	var refusals []string
	for _, command := range commands {
		fmt.Fprintf(&table, "| `%s` |", command)
		for _, status := range statuses {
			poll := rules.Poll{Status: status, Link: link, Rescheduled: status == rules.Finalized}
			cell, refusal := commandCell(command, poll)
			if refusal != "" {
				if !slices.Contains(refusals, refusal) {
					refusals = append(refusals, refusal)
				}
				cell = letter(slices.Index(refusals, refusal))
			}
			fmt.Fprintf(&table, " %s |", cell)
		}
		table.WriteString("\n")
	}
	table.WriteString("\nA refusal is a 409, and the person reads the sentence:\n\n")
	for i, refusal := range refusals {
		fmt.Fprintf(&table, "- %s: “%s”\n", letter(i), refusal)
	}
	return table.String()
}

// letter stands for a refusal in the table of commands.
func letter(of int) string { return "**" + string(rune('a'+of)) + "**" }

// commandCell is what a command does to a poll, or the sentence that refuses it.
func commandCell(command rules.Command, poll rules.Poll) (does, refusal string) {
	change, err := rules.Apply(poll, command)
	switch {
	case err != nil:
		return "", err.Error()
	case change.Nothing:
		return "stays as it is", ""
	}
	text := "→ " + string(change.To)
	switch {
	case command == rules.CommandDelete:
		text = "removed"
	case command == rules.CommandUnarchive:
		text = "→ what it was"
	case change.To == poll.Status:
		text = "done, " + string(poll.Status)
	}
	for _, effect := range []struct {
		is   bool
		mark string
	}{{change.Supersedes, "①"}, {change.Unlinks, "②"}, {change.ClearsReschedule, "③"}, {change.ClearsCancelled, "④"}} {
		if effect.is {
			text += " " + effect.mark
		}
	}
	return text, ""
}
