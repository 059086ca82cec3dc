package explain_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/operations/explain"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden holds a text against a file in testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is\n%s\nand should be\n%s\n(go test ./operations/explain -update writes it anew)", path, got, want)
	}
}

func textOf(t *testing.T, report explain.Report) string {
	t.Helper()
	var text strings.Builder
	if err := report.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

func jsonOf(t *testing.T, report explain.Report) string {
	t.Helper()
	var text strings.Builder
	if err := report.WriteJSON(&text); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// announced is an announcement whose channels announced one entry.
func announced(ref string) poll.Announcement {
	at := noon.Add(5*time.Hour + 10*time.Second)
	return poll.Announcement{
		Wanted: poll.Message{Ref: ref}, Announced: poll.Message{Ref: ref},
		Channels: map[string]poll.Delivery{
			"in-app":  {Ref: ref, At: at},
			"discord": {Ref: ref, At: at.Add(time.Second), MessageID: "901"},
			"card":    {Ref: "something else", At: at},
		},
	}
}

func TestReport_Text(t *testing.T) {
	t.Parallel()
	due := announced("jrn_03")
	due.Wanted, due.Due = poll.Message{Ref: "jrn_04"}, noon.Add(4*time.Hour+10*time.Second)
	refused := announced("jrn_01")
	refused.Delivering, refused.Announced, refused.Attempts = refused.Wanted, poll.Message{}, 2
	refused.Channels["discord"] = poll.Delivery{Ref: "jrn_01", At: noon, Error: "The bot may not write there."}
	for name, test := range map[string]struct {
		upTo         int
		announcement poll.Announcement
		change       func(h *explain.History)
	}{
		"cancelled.txt":   {5, announced("jrn_05"), nil},
		"restored.txt":    {4, due, nil},
		"rescheduled.txt": {1, refused, nil},
		"edited.txt":      {8, poll.Announcement{Wanted: poll.Message{Ref: "jrn_08"}, Announced: poll.Message{Ref: "jrn_08"}}, nil},
		"disagrees.txt":   {5, announced("jrn_05"), func(h *explain.History) { h.Poll.Status = "OPEN" }},
		"changed.txt":     {4, announced("jrn_04"), func(h *explain.History) { h.Poll.Sync.State = "ERROR" }},
		"broken.txt":      {1, announced("jrn_01"), func(h *explain.History) { h.Entries[1].Reason = "in_step" }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			history := historyOf(journal(), test.upTo)
			history.Announcement = test.announcement
			history.Winning = &poll.Slot{ID: "slot-1", Start: first.StartTime(), End: first.EndTime()}
			if test.change != nil {
				test.change(&history)
			}
			golden(t, name, textOf(t, explain.NewReport(history, true)))
		})
	}
}

func TestReport_AnEmptyJournal(t *testing.T) {
	t.Parallel()
	open := explain.History{Poll: poll.Poll{ID: "poll-1", Title: "Session nine", CreatorID: "gm", Status: "OPEN"}}
	golden(t, "empty.txt", textOf(t, explain.NewReport(open, true)))
}

func TestReport_JSON(t *testing.T) {
	t.Parallel()
	history := historyOf(journal(), 2)
	history.Announcement = announced("jrn_01")
	golden(t, "error.json", jsonOf(t, explain.NewReport(history, true)))
}

// TestReport_WhatPeopleWrote_DoesNotReachTheTerminalAsItIs has people write what
// moves a cursor, turns the direction of text, or begins a line.
func TestReport_WhatPeopleWrote_DoesNotReachTheTerminalAsItIs(t *testing.T) {
	t.Parallel()
	const nasty = "x\x1b[2J\n\u202e\u2028y"
	history := historyOf(journal(), 1)
	history.Poll.Title, history.Poll.CreatorID, history.Poll.GoogleEventID = nasty, nasty, nasty
	for i := range history.Entries {
		e := &history.Entries[i]
		e.Trigger, e.Trace, e.Who, e.Reason, e.EventID, e.CalendarID, e.WinningSlotID = nasty, nasty, nasty, nasty, nasty, nasty, nasty
		e.Command, e.ID = nasty, nasty
	}
	text := textOf(t, explain.NewReport(history, true))
	for _, bad := range []string{"\x1b", "\u202e", "\u2028", "\n\ufffd"} {
		if strings.Contains(text, bad) {
			t.Errorf("the text holds %q:\n%q", bad, text)
		}
	}
}
