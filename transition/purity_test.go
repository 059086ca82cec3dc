package transition_test

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"questscheduler/internal/calendars"
	"questscheduler/internal/poll"
	"questscheduler/rules"
	"questscheduler/transition"
)

var (
	now  = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	ten  = rules.Timed(now.AddDate(0, 0, 9), now.AddDate(0, 0, 9).Add(time.Hour))
	noon = rules.Timed(now.AddDate(0, 0, 9).Add(2*time.Hour), now.AddDate(0, 0, 9).Add(3*time.Hour))
)

// rescheduled is what was read of a poll whose event was moved from ten to noon.
func rescheduled() transition.State {
	winning := poll.SlotAt("slot-2", noon)
	return transition.State{
		Poll: poll.Poll{
			ID: "poll", CreatorID: "gm", Status: rules.Finalized, ParticipantIDs: []string{"gm", "ana"}, WinningSlotID: "slot-2",
			GoogleEventID: "event", GoogleCalendarID: "primary@example.com", SlotPriority: map[string]int64{"slot-1": 1},
			Sync: poll.Sync{
				State: rules.StateRescheduled, Generation: 1, Baseline: ten, Applied: noon, Error: &poll.SyncError{Code: rules.SyncFailed},
				Rescheduled: &poll.Rescheduled{FromSlotID: "slot-1", ToSlotID: "slot-2", SnapshotID: "snapshot"},
				Recorded:    poll.Recorded{At: now, Status: rules.Finalized, WinningSlotID: "slot-2", EventID: "event"},
			},
		},
		Winning:   &winning,
		Entry:     &poll.IndexEntry{EventID: "event", PollID: "poll", AccountID: "acc", CalendarID: "primary@example.com", Generation: 1},
		EntryPath: poll.IndexPath("event"), Calendar: calendars.Calendar{Key: "key", Interests: map[string]int64{poll.ConsumerPoll: 1}},
		Intents:  []poll.Intent{{Kind: poll.IntentInsert, PollID: "poll", Generation: 1, EventID: "another", Due: now}},
		Votes:    []poll.Vote{{UserID: "gm"}},
		Snapshot: &poll.Snapshot{Votes: []poll.Vote{{UserID: "ana"}}},
	}
}

// A store transaction may run again, so a transition must leave what was read as it
// is, and come out the same.
func TestStep_RunTwice_GivesTheSameOutcome(t *testing.T) {
	t.Parallel()
	observes := func(action rules.Action, at rules.Fingerprint) func(s *transition.Step) error {
		return func(s *transition.Step) error {
			s.Observe(rules.Decision{Action: action, State: rules.StateOK}, poll.JournalEntry{
				Decision: action, Fingerprint: at, EventID: "event", Inputs: &poll.Inputs{},
			})
			return nil
		}
	}
	for name, do := range map[string]func(s *transition.Step) error{
		"reschedule": observes(rules.Reschedule, noon), "again": observes(rules.RescheduleAgain, noon), "restore": observes(rules.Restore, ten),
		"cancelled by the calendar": observes(rules.Cancel, rules.Fingerprint{}), "error over": observes(rules.Clear, noon),
		"note":         observes(rules.Record, ten),
		"error set":    func(s *transition.Step) error { s.SetError(rules.WatchFailed); return nil },
		"cancel":       func(s *transition.Step) error { return s.Cancel("gm", "", false) },
		"reopen":       func(s *transition.Step) error { return s.Reopen("gm", "", true) },
		"accept":       func(s *transition.Step) error { return s.AcceptNew("gm", noon.String()) },
		"delete event": func(s *transition.Step) error { _, err := s.DeleteEvent("gm", ""); return err },
		"delete":       func(s *transition.Step) error { s.Delete("", false); return nil },
		"finalise": func(s *transition.Step) error {
			s.Finalise("gm", poll.SlotAt("slot-1", ten), "", "", false)
			return nil
		},
		"vote":           func(s *transition.Step) error { s.Vote(s.Poll, poll.Vote{UserID: "ana"}, nil, nil); return nil },
		"leave":          func(s *transition.Step) error { s.Leave("ana", []string{"ana"}, nil); return nil },
		"repair, cancel": func(s *transition.Step) error { s.RepairCancel("", false); return nil },
		"repair, reopen": func(s *transition.Step) error { s.RepairReopen(); return nil },
		"repair, note":   func(s *transition.Step) error { s.RepairNote(); return nil },
		"repair, unlink": func(s *transition.Step) error { s.RepairUnlink(); return nil },
	} {
		read := rescheduled()
		var outcomes []transition.Outcome
		for range 2 {
			ids := 0
			next := func() string { ids++; return fmt.Sprint("id-", ids) }
			step := &transition.Step{State: read, Setting: transition.Setting{
				Now: now, IDs: transition.IDs{UUID: next, ULID: func(prefix string) string { return prefix + next() }},
			}}
			if err := do(step); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			outcomes = append(outcomes, step.Outcome)
		}
		if !reflect.DeepEqual(outcomes[0], outcomes[1]) {
			t.Errorf("%s: it comes out as %+v, then as %+v", name, outcomes[0], outcomes[1])
		}
		if !reflect.DeepEqual(read, rescheduled()) {
			t.Errorf("%s: it changed what was read", name)
		}
		if p := outcomes[0].After; p != nil && name != "vote" && name != "leave" && len(outcomes[0].Entries) == 0 {
			t.Errorf("%s: the poll changes without a journal entry", name)
		}
	}
}
