package explain_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/explain"
	"questscheduler/poll"
	"questscheduler/rules"
)

func TestJudge_AStory_GivesBackThePollAtEachStep(t *testing.T) {
	t.Parallel()
	for upTo := range story() {
		verdict := explain.Judge(historyOf(story(), upTo))
		if !verdict.Agrees || verdict.Partial || verdict.Entries != upTo+1 {
			t.Errorf("after entry %d: %+v", upTo, verdict)
		}
	}
}

// TestJudge_WhatWasTamperedWith changes one thing of a sound history.
func TestJudge_WhatWasTamperedWith_IsFound(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(h *explain.History)
		says   string
	}{
		"a decision":        {func(h *explain.History) { h.Entries[1].Decision = rules.Cancel }, "jrn_01: it says cancel (moved); decided again, it is reschedule (moved)"},
		"a reason":          {func(h *explain.History) { h.Entries[3].Reason = "moved" }, "jrn_03: it says reschedule_again (moved); decided again"},
		"what was seen":     {func(h *explain.History) { h.Entries[4].Fingerprint = second }, "jrn_04: it says restore"},
		"how it looked":     {func(h *explain.History) { h.Entries[1].Seen = "blurred" }, `jrn_01: it saw the event "blurred"`},
		"when it changed":   {func(h *explain.History) { h.Entries[1].Updated = noon.Add(-time.Hour) }, "decided again, it is nothing (older)"},
		"another's event":   {func(h *explain.History) { h.Entries[1].EventID = "other" }, "decided again, it is nothing (another_link)"},
		"where it began":    {func(h *explain.History) { h.Entries[3].Before = first }, "jrn_03: it begins at 2026-03-10T18:00:00.000Z"},
		"an entry is gone":  {func(h *explain.History) { h.Entries = slices.Delete(h.Entries, 3, 4) }, "jrn_04: it begins at 2026-03-14|2026-03-16|true, and the one before ended at 2026-03-11T20"},
		"a status":          {func(h *explain.History) { h.Entries[1].Status = rules.Open }, "jrn_01: it leaves status OPEN; worked out again, it is FINALIZED"},
		"a sync state":      {func(h *explain.History) { h.Entries[5].State = rules.StateOK }, "jrn_05: it says cancel (deleted)"},
		"a winning slot":    {func(h *explain.History) { h.Entries[4].WinningSlotID = "slot-9" }, "jrn_04: it leaves winning slot slot-9; worked out again, it is slot-1"},
		"a baseline":        {func(h *explain.History) { h.Entries[1].Baseline = second }, "jrn_01: it leaves baseline"},
		"a reschedule":      {func(h *explain.History) { h.Entries[1].Rescheduled = false }, "jrn_01: it leaves rescheduled false"},
		"an error":          {func(h *explain.History) { h.Entries[2].Error = rules.SyncFailed }, "jrn_02: it leaves error sync_failed"},
		"a command":         {func(h *explain.History) { h.Entries[6].Command = rules.CommandVote }, "jrn_06: vote of a poll that is CANCELLED is refused"},
		"one without sense": {func(h *explain.History) { h.Entries[6].Command = rules.CommandCancel }, "jrn_06: cancel of a poll that is CANCELLED changes nothing"},
		"no cause at all":   {func(h *explain.History) { h.Entries[2].Decision = rules.Adopt }, "jrn_02: it is \"adopt\", and says neither"},
		"the first entry":   {func(h *explain.History) { h.Entries[0].State = rules.StateNone }, "jrn_00: it leaves sync state empty"},

		"the poll's status":    {func(h *explain.History) { h.Poll.Status = rules.Archived }, "status: CANCELLED, ARCHIVED"},
		"the poll's slot":      {func(h *explain.History) { h.Poll.WinningSlotID = "" }, "winning slot: slot-3, "},
		"the poll's baseline":  {func(h *explain.History) { h.Poll.Sync.Baseline = first }, "baseline: , 2026-03-10"},
		"the poll's applied":   {func(h *explain.History) { h.Poll.Sync.Applied = first }, "applied: , 2026-03-10"},
		"the poll's error":     {func(h *explain.History) { h.Poll.Sync.Error = &poll.SyncError{Code: rules.WatchFailed} }, "error: , watch_failed"},
		"the whole journal":    {func(h *explain.History) { h.Entries = nil }, "status: OPEN, CANCELLED"},
		"the newest entries":   {func(h *explain.History) { h.Entries = h.Entries[:7] }, "status: OPEN, CANCELLED"},
		"the poll's rescedule": {func(h *explain.History) { h.Poll.Sync.Rescheduled = &poll.Rescheduled{} }, "rescheduled: false, true"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			history := historyOf(story(), 8)
			test.change(&history)
			verdict := explain.Judge(history)
			var said []string
			for _, b := range verdict.Breaks {
				said = append(said, b.Entry+": "+b.What)
			}
			for _, d := range verdict.Differences {
				said = append(said, fmt.Sprintf("%s: %s, %s", d.Field, d.Journal, d.Stored))
			}
			if verdict.Agrees || !strings.Contains(strings.Join(said, "\n"), test.says) {
				t.Errorf("agrees: %t, says %q, want %q", verdict.Agrees, said, test.says)
			}
		})
	}
}

func TestJudge_AJournalThatBeginsInTheMiddle_IsReplayedFromThere(t *testing.T) {
	t.Parallel()
	adopted := seen(0, rules.Adopt, "linked_before: the event does not start where the slot does", rules.Fingerprint{}, first, func(*poll.Entry) {})
	archived := entry(0, func(e *poll.Entry) {
		e.Command, e.Reason, e.Status, e.Before, e.After = rules.CommandArchive, "archive", rules.Archived, first, first
	})
	unarchived := entry(1, func(e *poll.Entry) {
		e.Command, e.Reason, e.Before, e.After = rules.CommandUnarchive, "unarchive", first, first
	})
	moved := story()[1]
	for name, entries := range map[string][]poll.Entry{
		"older entries are no longer kept": story()[1:],
		"from a record on": {seen(0, rules.Record, "past", first, second, func(*poll.Entry) {}),
			seen(1, rules.Reschedule, "moved", first, second, func(e *poll.Entry) {
				e.State, e.WinningSlotID, e.Rescheduled = rules.StateRescheduled, "slot-2", true
			})},
		"a poll that was linked before there was a journal": {adopted, moved},
		"a poll that was finalised elsewhere":               {archived, unarchived},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if verdict := explain.Judge(historyOf(entries, len(entries)-1)); !verdict.Agrees || !verdict.Partial {
				t.Errorf("got %+v", verdict)
			}
		})
	}
}

func TestJudge_WithoutAJournal_WhatWeNeverTouchedAgrees(t *testing.T) {
	t.Parallel()
	for _, p := range []poll.Poll{
		{Status: rules.Open},
		{Status: rules.Finalized, WinningSlotID: "slot-1", GoogleEventID: "theirs"},
	} {
		if verdict := explain.Judge(explain.History{Poll: p}); !verdict.Agrees {
			t.Errorf("%s: %+v", p.Status, verdict)
		}
	}
}
