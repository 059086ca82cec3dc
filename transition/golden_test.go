package transition_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/rules"
	"questscheduler/transition"
)

// A step of a page: its name and what it does. It answers with what is returned.
type step struct {
	name string
	do   func(s *transition.Step) string
	in   func(s transition.State) bool // the states that it can come in; nil: every one
}

func does(do func(s *transition.Step)) func(s *transition.Step) string {
	return func(s *transition.Step) string { do(s); return "" }
}

func fails(do func(s *transition.Step) error) func(s *transition.Step) string {
	return func(s *transition.Step) string {
		if err := do(s); err != nil {
			return "error: " + err.Error() + "\n"
		}
		return ""
	}
}

func hasEntry(s transition.State) bool { return s.Entry != nil }
func isMoved(s transition.State) bool  { return s.Poll.Sync.Rescheduled != nil }

func observes(
	action, then rules.Action, state rules.State, change func(d *rules.Decision, e *poll.JournalEntry),
) func(s *transition.Step) string {
	return does(func(s *transition.Step) {
		decision := rules.Decision{Action: action, Then: then, State: state}
		entry := poll.JournalEntry{
			Decision: action, Fingerprint: four, Reason: "row", Who: "owner", Trace: "sync", Trigger: "push", EventState: "present",
			EventID:    s.Poll.EventID(),
			CalendarID: "cal", AccountID: "acc", Updated: now.Add(-time.Second),
			Inputs: &poll.Inputs{MovedTo: poll.Place{AccountID: "acc-2", CalendarID: "other"}},
		}
		if change != nil {
			change(&decision, &entry)
		}
		s.Observe(decision, entry)
	})
}

var observations = []step{
	{"nothing", observes(rules.Nothing, "", rules.StateOK, nil), nil},
	{"the event is forgotten", observes(rules.Forget, "", rules.StateOK, nil), hasEntry},
	{"a note", observes(rules.Record, "", rules.StateOK, nil), nil},
	{"a note of a deletion", observes(rules.Record, "", rules.StateOK, func(_ *rules.Decision, e *poll.JournalEntry) {
		e.EventState, e.Fingerprint = "gone", rules.Fingerprint{}
	}), nil},
	{
		"an error",
		observes(rules.Warn, "", rules.StateError, func(d *rules.Decision, _ *poll.JournalEntry) { d.Error = rules.RecurringUnsupported }),
		nil,
	},
	{
		"the known error again",
		observes(rules.Warn, "", rules.StateError, func(d *rules.Decision, _ *poll.JournalEntry) { d.Error = rules.SyncFailed }),
		nil,
	},
	{"the error is over", observes(rules.Clear, "", rules.StateOK, nil), nil},
	{
		"the first time is adopted",
		observes(rules.Adopt, "", rules.StateOK, func(d *rules.Decision, _ *poll.JournalEntry) { d.Drift = true }), nil,
	},
	{"the event moves", observes(rules.Reschedule, "", rules.StateRescheduled, nil), nil},
	{"the event moves again", observes(rules.RescheduleAgain, "", rules.StateRescheduled, nil), isMoved},
	{
		"the event moves back",
		observes(rules.Restore, "", rules.StateOK, func(_ *rules.Decision, e *poll.JournalEntry) { e.Fingerprint = ten }),
		isMoved,
	},
	{"the event is deleted", observes(rules.Cancel, "", rules.StateCancelled, nil), hasEntry},
	{"the event is in another calendar", observes(rules.MoveCalendar, "", rules.StateOK, nil), hasEntry},
	{"the event is back", observes(rules.Revive, rules.Clear, rules.StateOK, nil), hasAwaited},
	{"the event is back, moved", observes(rules.Revive, rules.Reschedule, rules.StateRescheduled, nil), hasAwaited},
	{
		"the event is back, moved again", observes(rules.Revive, rules.RescheduleAgain, rules.StateRescheduled, nil),
		func(s transition.State) bool { return hasAwaited(s) && isMoved(s) },
	},
	{
		"the event is back, at its first time", observes(rules.Revive, rules.Restore, rules.StateOK, nil),
		func(s transition.State) bool { return hasAwaited(s) && isMoved(s) },
	},
}

func hasAwaited(s transition.State) bool { return s.Entry != nil && s.Poll.Sync.Awaited != nil }

var commands = []step{
	{"cancelled, the event kept", fails(func(s *transition.Step) error { return s.Cancel("gm", "given", true) }), nil},
	{"cancelled, the event deleted", fails(func(s *transition.Step) error { return s.Cancel("gm", "given", false) }), nil},
	{"reopened, the event kept", fails(func(s *transition.Step) error { return s.Reopen("gm", "given", false) }), nil},
	{"reopened, the event deleted", fails(func(s *transition.Step) error { return s.Reopen("gm", "given", true) }), nil},
	{"archived", fails(func(s *transition.Step) error { return s.Archive(rules.CommandArchive, "gm") }), nil},
	{"unarchived", fails(func(s *transition.Step) error { return s.Archive(rules.CommandUnarchive, "gm") }), nil},
	{"archived by another command", fails(func(s *transition.Step) error { return s.Archive("other", "gm") }), nil},
	{"the new time accepted", fails(func(s *transition.Step) error { return s.AcceptNew("gm", noon.String()) }), nil},
	{"another time accepted", fails(func(s *transition.Step) error { return s.AcceptNew("gm", ten.String()) }), nil},
	{"no time accepted", fails(func(s *transition.Step) error { return s.AcceptNew("gm", "") }), nil},
	{"the event deleted", func(s *transition.Step) string {
		deleted, err := s.DeleteEvent("gm", "given")
		return fmt.Sprintf("deleted: %t, error: %v\n", deleted, err)
	}, nil},
	{"deleted, the event kept", does(func(s *transition.Step) { s.Delete("given", true) }), nil},
	{"deleted with the event", does(func(s *transition.Step) { s.Delete("given", false) }), nil},
	{"another title", does(func(s *transition.Step) { p := s.Poll; p.Title = "Another"; s.Edit(p) }), nil},
	{"another description", does(func(s *transition.Step) { p := s.Poll; p.Description = "Another"; s.Edit(p) }), nil},
	{"another zone", does(func(s *transition.Step) { p := s.Poll; p.Timezone = "Europe/Vienna"; s.Edit(p) }), nil},
	{"slots: as they are", editsSlots(transition.Times{ID: "slot-1", At: ten}), nil},
	{"slots: one added", editsSlots(transition.Times{ID: "slot-1", At: ten}, transition.Times{At: four}), nil},
	{"slots: one moved", editsSlots(transition.Times{ID: "slot-1", At: four}), nil},
	{"slots: others alone", editsSlots(transition.Times{At: four}, transition.Times{ID: "slot-3", At: ten}), nil},
	{"slots: one named twice", editsSlots(transition.Times{ID: "slot-1", At: four}, transition.Times{ID: "slot-1", At: ten}), nil},
	{"slots: the calendar's", editsSlots(transition.Times{ID: "slot-2", At: four}), nil},
	{"slots: an unknown one", editsSlots(transition.Times{ID: "slot-9", At: four}), nil},
}

func editsSlots(wanted ...transition.Times) func(s *transition.Step) string {
	return fails(func(s *transition.Step) error {
		slots := []poll.Slot{
			{ID: "slot-1", Start: ten.StartTime(), End: ten.EndTime()},
			{ID: "slot-3", Start: four.StartTime(), End: four.EndTime()},
		}
		if s.Poll.Sync.Rescheduled != nil {
			slots = append(slots, poll.SlotAt("slot-2", noon))
		}
		after := s.Poll
		after.UpdatedAt = now
		s.Edit(after)
		return s.EditSlots("gm", slots, wanted)
	})
}

var (
	slotOne = poll.Slot{ID: "slot-1", Start: ten.StartTime(), End: ten.EndTime(), Source: poll.SourcePoll}
	slotTwo = poll.SlotAt("slot-2", noon)
	chosen  = poll.Session{
		SlotID: "slot-1", Start: ten.StartTime(), End: ten.EndTime(), Title: "Session nine", Actor: "ana", Request: "request-2",
		OldAccount: "given",
	}
)

func links(slot *poll.Slot, moved bool, change func(i *poll.Intent)) func(s *transition.Step) string {
	return does(func(s *transition.Step) {
		intent := poll.Intent{
			Kind: poll.IntentInsert, PollID: "poll", Generation: s.Poll.Sync.Generation + 1, AccountID: "acc", CalendarID: "primary",
			EventID: "made", Session: chosen,
		}
		if s.Next.Key == "" {
			s.Next = calendar("next", "other")
		}
		if change != nil {
			change(&intent)
		}
		read := slot
		if slot != nil {
			own := *slot
			read = &own
		}
		place := poll.Place{AccountID: "acc", CalendarID: s.Next.CalendarID}
		s.Link(intent, read, place, moved, rules.Observation{Fingerprint: ten, Updated: now.Add(-time.Minute)})
	})
}

func inTheSame(do func(s *transition.Step) string) func(s *transition.Step) string {
	return func(s *transition.Step) string { s.Next = s.Calendar; return do(s) }
}

// intentOf is an insert intent of a poll that is due soon.
func intentOf(s *transition.Step) poll.Intent {
	return poll.Intent{
		Kind: poll.IntentInsert, PollID: "poll", Generation: s.Poll.Sync.Generation, AccountID: "acc", CalendarID: "cal",
		EventID: "made", Due: now.Add(time.Second), Attempts: 3, Session: chosen,
	}
}

func answers(do func(s *transition.Step) poll.Intent) func(s *transition.Step) string {
	return func(s *transition.Step) string { return readable("answer " + list(fields(do(s))) + "\n") }
}

var finalisations = []step{
	{"without an event", does(func(s *transition.Step) { s.Finalise("gm", slotOne, "request-2", "given", false) }), nil},
	{"without an event, the old kept", does(func(s *transition.Step) { s.Finalise("gm", slotOne, "", "given", true) }), nil},
	{"for the calendar's slot", does(func(s *transition.Step) { s.Finalise("gm", slotTwo, "", "", false) }), nil},
	{"an event begins", answers(func(s *transition.Step) poll.Intent {
		return s.BeginInsert(chosen, poll.Place{AccountID: "acc", CalendarID: "cal"})
	}), nil},
	{"its insert is resumed", answers(func(s *transition.Step) poll.Intent { return s.ResumeInsert(intentOf(s), "request-3") }), nil},
	{"its insert is resumed, no name", answers(func(s *transition.Step) poll.Intent { return s.ResumeInsert(intentOf(s), "") }), nil},
	{"it is made again", answers(func(s *transition.Step) poll.Intent { return s.InsertAgain(intentOf(s)) }), nil},
	{"its insert is undone", does(func(s *transition.Step) { s.Undo(intentOf(s)) }), nil},
	{"its deletion is repeated", does(func(s *transition.Step) { s.DeleteAgain(intentOf(s)) }), nil},
	{"its insert is refused", does(func(s *transition.Step) { s.GiveUp(intentOf(s), announcement(), false) }), nil},
	{
		"its insert is refused, nothing announced",
		does(func(s *transition.Step) { s.GiveUp(intentOf(s), poll.Announcement{}, false) }), hasEntry,
	},
	{"its insert may have worked", does(func(s *transition.Step) { s.GiveUp(intentOf(s), announcement(), true) }), nil},
	{"the event is made", links(&slotOne, false, nil), nil},
	{"the event is made and moved", links(&slotOne, true, nil), nil},
	{"the event is made, the old kept", links(&slotOne, false, func(i *poll.Intent) { i.Session.KeepOld = true }), nil},
	{"the event is made in the same calendar", inTheSame(links(&slotOne, false, nil)), hasEntry},
	{"there, the old kept", inTheSame(links(&slotOne, false, func(i *poll.Intent) { i.Session.KeepOld = true })), hasEntry},
	{"the event is made, the slot removed since", links(nil, false, func(i *poll.Intent) { i.Session.AllDay = true }), nil},
	{
		"the event is made, the slot edited since",
		links(&poll.Slot{ID: "slot-1", Start: four.StartTime(), End: four.EndTime()}, false, nil), nil,
	},
	{
		"the event is made, the slot all day since",
		links(&poll.Slot{ID: "slot-1", Start: ten.StartTime(), End: ten.EndTime(), AllDay: true}, false, nil), nil,
	},
	{
		"the event is made, the slot's end edited since",
		links(&poll.Slot{ID: "slot-1", Start: ten.StartTime(), End: four.EndTime()}, false, nil), nil,
	},
	{"a poll begins anew", does(func(s *transition.Step) { s.Begin(5) }), nil},
}

// announcement is a poll's of its second generation.
func announcement() poll.Announcement {
	message := poll.Message{Ref: "jrn", State: rules.AnnouncedState{Status: rules.Finalized, Generation: 2}}
	return poll.Announcement{PollID: "poll", Wanted: message, Announced: message}
}

func announced(known, wanted rules.Status, generation int64) poll.Announcement {
	a := announcement()
	a.Announced.State.Status, a.Wanted.State.Status, a.Wanted.State.Generation = known, wanted, generation
	return a
}

func restores(a poll.Announcement, follows bool) func(s *transition.Step) string {
	return does(func(s *transition.Step) {
		if follows {
			next(&s.State)
		}
		s.Announcement = a
		s.RepairRestore(follows)
	})
}

func isFinalised(s transition.State) bool { return s.Poll.Status == rules.Finalized }

func namesEvent(s transition.State) bool { return s.Poll.GoogleEventID != "" }

var repairs = []step{
	{"purged", does(func(s *transition.Step) { s.Purge(false) }), nil},
	{"purged, the event kept", does(func(s *transition.Step) { s.Purge(true) }), nil},
	{"cancelled", does(func(s *transition.Step) { s.RepairCancel("given", false) }), nil},
	{"cancelled, the event kept", does(func(s *transition.Step) { s.RepairCancel("given", true) }), nil},
	{"reopened", does(func(s *transition.Step) { s.RepairReopen() }), nil},
	{"unlinked", does(func(s *transition.Step) { s.RepairUnlink() }), nil},
	{"other slots", does(func(s *transition.Step) { s.RepairSlots() }), nil},
	{"forgotten", does(func(s *transition.Step) { s.RepairForget() }), hasEntry},
	{"noted", does(func(s *transition.Step) { s.RepairNote() }), nil},
	{"linked", does(func(s *transition.Step) { next(&s.State); s.RepairLink() }), nil},
	{"restored", restores(announced(rules.Cancelled, rules.Cancelled, 3), false), nil},
	{"restored and followed", restores(announced(rules.Finalized, rules.Cancelled, 3), true), namesEvent},
	{"restored, announced finalised", restores(announced(rules.Finalized, rules.Finalized, 2), false), nil},
	{"restored, another was announced", restores(announced(rules.Finalized, rules.Cancelled, 4), false), nil},
	{"restored, cancelled alone announced", restores(announced(rules.Cancelled, rules.Finalized, 2), false), isFinalised},
	{
		"restored, nothing announced",
		restores(poll.Announcement{Announced: poll.Message{State: rules.AnnouncedState{Status: rules.Cancelled}}}, false),
		isFinalised,
	},
	{"an error", does(func(s *transition.Step) { s.SetError(rules.TokenExpired) }), nil},
	{"the error is over", does(func(s *transition.Step) { s.ClearError(rules.TokenExpired) }), nil},
	{"an event is asked for", does(func(s *transition.Step) { s.Ask(s.Poll.EventID()) }), nil},
	{"an event is deferred", does(func(s *transition.Step) { s.Defer(s.Poll.EventID()) }), nil},
}

var counted = []poll.Slot{
	{ID: "slot-1", Feasible: 1, Preferred: 1}, {ID: "slot-2", Feasible: 1}, {ID: "slot-3"}, {ID: "slot-4", Preferred: 1},
}

func members(participants, invites []string, joins bool) func(s *transition.Step) string {
	return func(s *transition.Step) string {
		after := s.Poll
		after.ParticipantIDs, after.PendingInvites = participants, invites
		return fmt.Sprintf("changed: %t\n", s.ChangeMembers(after, "cleo", []string{"ana"}, joins))
	}
}

func recorded(people ...string) poll.Announcement { return poll.Announcement{Named: people} }

func names(known []string, by string, participants ...string) func(s *transition.Step) string {
	return does(func(s *transition.Step) {
		after := s.Poll
		after.ParticipantIDs = participants
		s.Edit(after)
		s.Name(known, by)
	})
}

var people = []step{
	{"ana votes", does(func(s *transition.Step) {
		vote := poll.Vote{UserID: "ana", Choices: map[string]string{"slot-3": poll.Feasible}, UpdatedAt: now}
		s.Vote(s.Poll, vote, []string{"ana", "ben"}, counted)
	}), nil},
	{"ben votes", does(func(s *transition.Step) {
		s.Vote(s.Poll, poll.Vote{UserID: "ben", Choices: map[string]string{"slot-1": poll.Preferred}, UpdatedAt: now}, nil, counted)
	}), nil},
	{"ana leaves", does(func(s *transition.Step) { s.Leave("ana", []string{"ana", "ben"}, counted) }), nil},
	{"cleo joins", members([]string{"gm", "ana", "ben", "cleo"}, nil, true), nil},
	{"cleo is invited", members([]string{"gm", "ana", "ben"}, []string{"cleo@example.com"}, true), nil},
	{"cleo accepts for others", members([]string{"gm", "ana", "ben", "cleo"}, []string{"cleo@example.com"}, false), nil},
	{"nobody changes", members([]string{"gm", "ana", "ben"}, nil, false), nil},
	{"ana names cleo", names([]string{"ben"}, "ana", "gm", "ana", "ben", "cleo"), nil},
	{"ana names cleo, ben joined", names(nil, "ana", "gm", "ana", "ben", "cleo"), nil},
	{"cleo names herself", names([]string{"ben"}, "cleo", "gm", "ben", "cleo"), nil},
	{"named once", does(func(s *transition.Step) { s.NameOnce(recorded("ana", "cleo"), s.Poll) }), nil},
	{
		"named once, ana gone",
		does(func(s *transition.Step) {
			p := s.Poll
			p.ParticipantIDs = []string{"gm", "ben"}
			s.NameOnce(recorded(), p)
		}), nil,
	},
	{"named once, after a repair", does(func(s *transition.Step) { s.RepairNote(); s.NameOnce(recorded("ana"), s.Poll) }), nil},
}

// Each file has what every step of its kind makes of every state: read a difference as the
// change of behaviour that it is.
func TestStep_InEveryState_HasTheRecordedOutcome(t *testing.T) {
	t.Parallel()
	for _, file := range []struct {
		name  string
		steps []step
	}{{"observations", observations}, {"commands", commands}, {"finalisations", finalisations}, {"repairs", repairs}, {"people", people}} {
		var titles []string
		for _, step := range file.steps {
			titles = append(titles, step.name)
		}
		golden(t, file.name, titles, func(i int) string {
			step := file.steps[i]
			states := slices.DeleteFunc(slices.Clone(everywhere), func(of named) bool { return step.in != nil && !step.in(of.state()) })
			return outcomes(states, step.do)
		})
	}
}
