package explain_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/operations/explain"
	"questscheduler/rules"
)

func TestJudge_WholeJournal_GivesThePollAtEachStep(t *testing.T) {
	t.Parallel()
	for upTo := range journal() {
		verdict := explain.Judge(historyOf(journal(), upTo))
		if !verdict.Agrees || verdict.Partial || verdict.Entries != upTo+1 {
			t.Errorf("after entry %d: %+v", upTo, verdict)
		}
	}
}

func TestJudge_WithoutOldestEntries_GivesThePollFromAnyEntryOn(t *testing.T) {
	t.Parallel()
	for upTo := range journal() {
		for from := range upTo + 1 {
			history := historyOf(journal(), upTo)
			history.Entries = history.Entries[from:]
			if verdict := explain.Judge(history); !verdict.Agrees {
				t.Errorf("entries %d to %d: %+v", from, upTo, verdict)
			}
		}
	}
}

func TestJudge_AnEntryThatAppliedNothing_MakesNothingOlder(t *testing.T) {
	t.Parallel()
	noted := observed(1, rules.Record, "past", first, second, func(e *poll.JournalEntry) {
		e.Updated, e.After, e.Inputs.Now = noon.Add(12*time.Hour), first, second.EndTime().AddDate(0, 0, 2)
	})
	moved := journal()[1]
	moved.ID, moved.At = "jrn_02", noon.Add(2*time.Hour)
	history := historyOf([]poll.JournalEntry{journal()[0], noted, moved}, 2)
	history.Entries = history.Entries[1:]
	if verdict := explain.Judge(history); !verdict.Agrees {
		t.Errorf("%+v", verdict)
	}
}

// TestJudge_WhatWasTamperedWith_IsFound changes one thing of a sound history.
func TestJudge_WhatWasTamperedWith_IsFound(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(h *explain.History)
		says   string
	}{
		"a decision": {
			func(h *explain.History) { h.Entries[1].Decision = rules.Cancel },
			"jrn_01: it says cancel (moved); decided again, it is reschedule (moved)",
		},
		"a reason": {
			func(h *explain.History) { h.Entries[3].Reason = "moved" }, "jrn_03: it says reschedule_again (moved); decided again",
		},
		"an observed time": {func(h *explain.History) { h.Entries[4].Fingerprint = second }, "jrn_04: it says restore"},
		"an event state":   {func(h *explain.History) { h.Entries[1].EventState = "blurred" }, `jrn_01: it observed the event state "blurred"`},
		"its inputs": {
			func(h *explain.History) { h.Entries[1].Inputs = nil },
			"jrn_01: it observed the event state \"present\" without the inputs",
		},
		"when it changed": {func(h *explain.History) { h.Entries[1].Updated = noon.Add(-time.Hour) }, "decided again, it is nothing (older)"},
		"another's event": {func(h *explain.History) { h.Entries[1].EventID = "other" }, "decided again, it is nothing (another_link)"},
		"where it began":  {func(h *explain.History) { h.Entries[3].Before = first }, "jrn_03: it begins at 2026-03-10T18:00:00.000Z"},
		"an entry is gone": {
			func(h *explain.History) { h.Entries = slices.Delete(h.Entries, 3, 4) },
			"jrn_04: it begins at 2026-03-14|2026-03-16|true, and the one before ended at 2026-03-11T20",
		},
		"a status": {
			func(h *explain.History) { h.Entries[1].Status = rules.Open },
			"jrn_01: it leaves status OPEN; worked out again, it is FINALIZED",
		},
		"a sync state": {func(h *explain.History) { h.Entries[5].State = rules.StateOK }, "jrn_05: it says cancel (deleted)"},
		"a winning slot": {
			func(h *explain.History) { h.Entries[4].WinningSlotID = "slot-9" },
			"jrn_04: it leaves winning slot slot-9; worked out again, it is slot-1",
		},
		"a baseline":   {func(h *explain.History) { h.Entries[1].Baseline = second }, "jrn_01: it leaves baseline"},
		"a reschedule": {func(h *explain.History) { h.Entries[1].Rescheduled = false }, "jrn_01: it leaves rescheduled false"},
		"an error":     {func(h *explain.History) { h.Entries[2].Error = rules.SyncFailed }, "jrn_02: it leaves error sync_failed"},
		"a command": {
			func(h *explain.History) { h.Entries[6].Command = rules.CommandVote },
			"jrn_06: vote of a poll that is CANCELLED is refused",
		},
		"one without sense": {
			func(h *explain.History) { h.Entries[6].Command, h.Entries[6].Generation = rules.CommandUnarchive, 1 },
			"jrn_06: unarchive of a poll that is CANCELLED changes nothing",
		},
		"no cause at all": {func(h *explain.History) { h.Entries[2].Decision = rules.Adopt }, "jrn_02: it is \"adopt\", and says neither"},
		"a generation":    {func(h *explain.History) { h.Entries[3].Generation = 0 }, "jrn_03: its generation is 0, and the one before had 1"},
		"a cancellation": {
			func(h *explain.History) { h.Entries[5].Cancelled = false },
			"jrn_05: it leaves cancelled false; worked out again, it is true",
		},
		"a repair": {
			func(h *explain.History) { h.Entries[8].Reason = "outside_chance" },
			`jrn_08: it says that "outside_chance" repaired a direct edit`,
		},
		"what was repaired": {
			func(h *explain.History) { h.Entries[8].State = rules.StateOK },
			"jrn_08: it leaves sync state OK; worked out again, it is CANCELLED",
		},
		"when it was decided": {func(h *explain.History) { // a session that is long over is not moved
			h.Entries[1].Inputs.Now = second.EndTime().AddDate(1, 0, 0)
		}, "jrn_01: it says reschedule (moved); decided again, it is forget (long_past)"},
		"the first entry": {func(h *explain.History) { h.Entries[0].State = rules.StateNone }, "jrn_00: it leaves sync state empty"},

		"the poll's status":   {func(h *explain.History) { h.Poll.Status = rules.Archived }, "status: CANCELLED, ARCHIVED"},
		"the poll's slot":     {func(h *explain.History) { h.Poll.WinningSlotID = "" }, "winning slot: slot-3, "},
		"the poll's baseline": {func(h *explain.History) { h.Poll.Sync.Baseline = first }, "baseline: , 2026-03-10"},
		"the poll's applied":  {func(h *explain.History) { h.Poll.Sync.Applied = first }, "applied: , 2026-03-10"},
		"the poll's error": {
			func(h *explain.History) { h.Poll.Sync.Error = &poll.SyncError{Code: rules.WatchFailed} }, "error: , watch_failed",
		},
		"the whole journal":  {func(h *explain.History) { h.Entries = nil }, "status: OPEN, CANCELLED"},
		"the newest entries": {func(h *explain.History) { h.Entries = h.Entries[:7] }, "status: OPEN, CANCELLED"},
		"the newest entry": {
			func(h *explain.History) { h.Entries = h.Entries[:8] }, "last entry: 2026-03-01T19:00:00Z, 2026-03-01T20:00:00Z",
		},
		"the poll's mark":       {func(h *explain.History) { h.Poll.Cancelled = nil }, "cancelled: true, false"},
		"the poll's reschedule": {func(h *explain.History) { h.Poll.Sync.Rescheduled = &poll.Rescheduled{} }, "rescheduled: false, true"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			history := historyOf(journal(), 8)
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
	adopted := observed(
		0, rules.Adopt, "linked_before: the event does not start where the slot does", rules.Fingerprint{}, first,
		func(*poll.JournalEntry) {},
	)
	archived := entry(0, func(e *poll.JournalEntry) {
		e.Command, e.Reason, e.Status, e.Before, e.After = rules.CommandArchive, "archive", rules.Archived, first, first
	})
	unarchived := entry(1, func(e *poll.JournalEntry) {
		e.Command, e.Reason, e.Before, e.After = rules.CommandUnarchive, "unarchive", first, first
	})
	moved := journal()[1]
	for name, entries := range map[string][]poll.JournalEntry{
		"older entries are no longer kept": journal()[1:],
		"from a record on": {observed(0, rules.Record, "past", first, second, func(*poll.JournalEntry) {}),
			observed(1, rules.Reschedule, "moved", first, second, func(e *poll.JournalEntry) {
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

// What a watch channel and a person's word let happen, does not without.
func TestJudge_DecidesAgainOnTheInputsOfTheEntry(t *testing.T) {
	t.Parallel()
	warned := func(code rules.ErrorCode) poll.JournalEntry {
		return entry(1, func(e *poll.JournalEntry) {
			e.Trigger, e.Decision, e.Reason, e.Error = "look", rules.Warn, string(code), code
			e.State, e.Before, e.After = rules.StateError, first, first
		})
	}
	for name, test := range map[string]struct {
		code  rules.ErrorCode
		then  poll.JournalEntry
		vouch func(in *poll.Inputs, live bool)
	}{
		"a watch lives": {
			rules.WatchFailed, observed(2, rules.Clear, "in_step", first, first, func(*poll.JournalEntry) {}),
			func(in *poll.Inputs, live bool) { in.WatchLive = live },
		},
		"a person confirmed": {
			rules.MassCancellationHeld, observed(2, rules.Cancel, "deleted", first, first, func(e *poll.JournalEntry) {
				e.EventState, e.Fingerprint, e.Updated = "gone", rules.Fingerprint{}, time.Time{}
				e.Status, e.State, e.Cancelled = rules.Cancelled, rules.StateCancelled, true
			}),
			func(in *poll.Inputs, live bool) { in.Confirmed = live },
		},
	} {
		for _, vouched := range []bool{true, false} {
			then := test.then
			then.Inputs = &poll.Inputs{Now: then.At, Winning: first}
			test.vouch(then.Inputs, vouched)
			entries := []poll.JournalEntry{journal()[0], warned(test.code), then}
			if verdict := explain.Judge(historyOf(entries, 2)); verdict.Agrees != vouched {
				t.Errorf("%s, %t: %+v", name, vouched, verdict)
			}
		}
	}
}

func TestJudge_ACommandThatTookAFinalisationBack_Follows(t *testing.T) {
	t.Parallel()
	again := journal()[5]
	again.ID, again.At, again.Command, again.Decision, again.EventState, again.Generation = "jrn_06", again.At.Add(time.Hour),
		rules.CommandCancel, "", "", 3
	if verdict := explain.Judge(historyOf(append(journal()[:6], again), 6)); !verdict.Agrees {
		t.Errorf("got %+v", verdict)
	}
}

func TestJudge_UnrepairedDirectEdit_IsReported(t *testing.T) {
	t.Parallel()
	history := historyOf(journal(), 7)
	history.Poll.Status = rules.Open
	if verdict := explain.Judge(history); verdict.Agrees || !verdict.Edited || len(verdict.Breaks) > 0 {
		t.Errorf("got %+v", verdict)
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

// comeback is a journal of a poll whose event was moved, deleted, and restored at
// its original time; then people decided otherwise.
func comeback() []poll.JournalEntry {
	entries := journal()[:2]
	return append(entries,
		observed(2, rules.Cancel, "deleted", second, second, func(e *poll.JournalEntry) {
			e.EventState, e.Fingerprint, e.Updated = "gone", rules.Fingerprint{}, time.Time{}
			e.Status, e.State, e.Cancelled, e.Announcement = rules.Cancelled, rules.StateCancelled, true, e.ID
			e.WinningSlotID, e.Rescheduled = "slot-2", true
		}),
		observed(3, rules.Revive, "revived: moved_back", second, first, func(e *poll.JournalEntry) { e.Announcement = e.ID }),
		observed(4, rules.Cancel, "deleted", first, first, func(e *poll.JournalEntry) {
			e.EventState, e.Fingerprint, e.Updated = "gone", rules.Fingerprint{}, time.Time{}
			e.Status, e.State, e.Cancelled, e.Announcement = rules.Cancelled, rules.StateCancelled, true, e.ID
		}),
		entry(5, func(e *poll.JournalEntry) {
			e.Trigger, e.Who, e.Command, e.Reason = "person", "gm", rules.CommandCancel, "cancelled by hand"
			e.Status, e.State, e.Generation, e.Cancelled = rules.Cancelled, rules.StateCancelled, 2, true
			e.Before, e.After = first, first
		}),
	)
}

func TestReplay_RevivedPoll_FollowsFromAnyEntryOn(t *testing.T) {
	t.Parallel()
	for from := range comeback() {
		for upTo := from; upTo < len(comeback()); upTo++ {
			history := historyOf(comeback(), upTo)
			history.Entries = history.Entries[from:]
			if verdict := explain.Judge(history); !verdict.Agrees {
				t.Errorf("entries %d to %d: %+v", from, upTo, verdict)
			}
		}
	}
}

// A person cancelled the poll by hand, so its event is not awaited any more.
func TestReplay_RevivedAfterADecision_DoesNotFollow(t *testing.T) {
	t.Parallel()
	entries := append(comeback(), observed(6, rules.Revive, "revived: in_step", first, first, func(e *poll.JournalEntry) { e.Generation = 2 }))
	if verdict := explain.Judge(historyOf(entries, 6)); verdict.Agrees {
		t.Error("the journal is taken as sound")
	}
}
