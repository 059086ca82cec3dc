package calendarsync_test

import (
	"reflect"
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
)

func TestMovedEvent_AfterASync_ReschedulesItsPoll(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, slots, eventID := w.Finalised()
	votes := w.View(pollID).Votes
	w.MoveEvent("gm", eventID, noon)
	w.Run(time.Minute)

	stands(t, w, pollID, rules.StateRescheduled, noon.Start)
	view := w.View(pollID)
	equal(t, "participants hidden", view.ParticipantsHidden(), true)
	equal(t, "slots", len(view.Slots), 3)
	equal(t, "source of the winning slot", view.Winning.Source, poll.SourceCalendar)
	equal(t, "maker of the winning slot", view.Winning.CreatedBy, poll.CreatedBySync)
	equal(t, "end", view.Winning.End, noon.End)
	equal(t, "original slot", view.Original.ID, slots[0])
	moved := view.Poll.Sync.Rescheduled
	equal(t, "from", moved.FromSlotID, slots[0])
	equal(t, "to", moved.ToSlotID, view.Winning.ID)
	equal(t, "baseline", view.Poll.Sync.Baseline, rules.Timed(ten.Start, ten.End))
	equal(t, "applied", view.Poll.Sync.Applied, rules.Timed(noon.Start, noon.End))

	snapshot, err := poll.LoadSnapshot(t.Context(), w.Documents, pollID, moved.SnapshotID)
	if err != nil || snapshot == nil {
		t.Fatalf("snapshot: %v, %v", snapshot, err)
	}
	equal(t, "winning slot of the snapshot", snapshot.WinningSlotID, slots[0])
	same(t, "participants of the snapshot", snapshot.Participants, []string{"gm", "ana", "ben", "cho"})
	equal(t, "votes of the snapshot", len(snapshot.Votes), len(votes))
	equal(t, "kept for", snapshot.ExpiresAt.Sub(snapshot.CreatedAt), 90*24*time.Hour)
	atRest(t, w)
}

func TestAnEventMovedAgain_KeepsTheFirstSnapshot(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, slots, eventID := w.Finalised()
	w.MoveEvent("gm", eventID, noon)
	w.Run(time.Minute)
	first := *w.View(pollID).Poll.Sync.Rescheduled
	w.Write(poll.SlotPath(pollID, first.ToSlotID), poll.Set("fieldOfTheWebApp", "kept"))
	for _, to := range []worldtest.Slot{three, eight} {
		w.MoveEvent("gm", eventID, to)
		w.Run(time.Minute)
		stands(t, w, pollID, rules.StateRescheduled, to.Start)
	}
	now := *w.View(pollID).Poll.Sync.Rescheduled
	equal(t, "the time was taken over later", now.MovedAt.After(first.MovedAt), true)
	now.MovedAt, now.Timely = first.MovedAt, first.Timely
	equal(t, "rescheduled otherwise", now, first)
	equal(t, "snapshots", len(w.Snapshots()), 1)
	equal(t, "slots", len(w.View(pollID).Slots), 3)
	slot := store.Fields(w.Document(poll.SlotPath(pollID, first.ToSlotID)).Data)
	equal(t, "another's field of the slot", slot.String("fieldOfTheWebApp"), "kept")
	same(t, "journal", w.Decisions(pollID), []string{"finalise", "reschedule", "reschedule_again", "reschedule_again"})

	w.MoveEvent("gm", eventID, ten)
	w.Run(time.Minute)
	stands(t, w, pollID, rules.StateOK, ten.Start)
	equal(t, "winning slot", w.View(pollID).Poll.WinningSlotID, slots[0])
	atRest(t, w)
}

func TestAnEventMovedBack_RestoresThePoll(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, slots, eventID := w.Finalised()
	votes := w.View(pollID).Votes
	w.MoveEvent("gm", eventID, noon)
	w.Run(time.Minute)
	w.MoveEvent("gm", eventID, ten)
	w.Run(time.Minute)

	stands(t, w, pollID, rules.StateOK, ten.Start)
	view := w.View(pollID)
	equal(t, "winning slot", view.Poll.WinningSlotID, slots[0])
	equal(t, "rescheduled is gone", view.Poll.Sync.Rescheduled == nil, true)
	equal(t, "participants hidden", view.ParticipantsHidden(), false)
	equal(t, "slots", len(view.Slots), 2)
	if got := view.Votes; len(got) != len(votes) || got[0].Choices[slots[0]] != votes[0].Choices[slots[0]] {
		t.Errorf("votes: got %v, want %v", got, votes)
	}
	for _, person := range []string{"ana", "ben", "cho"} {
		same(t, "notices of "+person, w.Notices(person), []string{"SESSION_RESCHEDULED", "SESSION_RESTORED"})
	}
	equal(t, "notices of gm", len(w.Notices("gm")), 0)
	atRest(t, w)
}

func TestRestore_PutsBackVotesThatVanished(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, slots, eventID := w.Finalised()
	w.MoveEvent("gm", eventID, noon)
	w.Run(time.Minute)

	w.Remove(poll.VotePath(pollID, "ana"))
	w.Write(poll.VotePath(pollID, "ben"), poll.Set("votes", map[string]any{slots[1]: poll.Preferred}), poll.Set("mood", "good"))
	w.Remove(poll.VotePath(pollID, "cho"))
	w.Write(poll.Path(pollID), poll.Set("participantIds", []string{"gm", "ana", "ben"})) // cho has left
	w.MoveEvent("gm", eventID, ten)
	w.Run(time.Minute)

	stands(t, w, pollID, rules.StateOK, ten.Start)
	ana := store.Fields(w.Document(poll.VotePath(pollID, "ana")).Data)
	equal(t, "ana's vote", ana.Map("votes").String(slots[0]), poll.Preferred)
	equal(t, "ana's id", ana.String("voterId"), "ana")
	equal(t, "ana's vote was written when it was put back", ana.Time("updatedAt").After(worldtest.Start), true)
	ben := store.Fields(w.Document(poll.VotePath(pollID, "ben")).Data)
	equal(t, "ben's changed vote", ben.Map("votes").String(slots[1]), poll.Preferred)
	equal(t, "ben's old choice", ben.Map("votes").String(slots[0]), "")
	equal(t, "ben's other field", ben.String("mood"), "good")
	equal(t, "vote of cho, who left", w.Document(poll.VotePath(pollID, "cho")).Exists(), false)
	atRest(t, w)
}

func TestRestore_WithoutTheOriginalSlot_RecreatesIt(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, slots, eventID := w.Finalised()
	w.MoveEvent("gm", eventID, noon)
	w.Run(time.Minute)
	w.Remove(poll.SlotPath(pollID, slots[0]))
	w.MoveEvent("gm", eventID, ten)
	w.Run(time.Minute)
	stands(t, w, pollID, rules.StateOK, ten.Start)
	view := w.View(pollID)
	equal(t, "winning slot", view.Poll.WinningSlotID, slots[0])
	equal(t, "source", view.Winning.Source, poll.SourcePoll)
	atRest(t, w)
}

func TestMove_WithoutTheCalendarSlot_RecreatesIt(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, eventID := w.Finalised()
	w.MoveEvent("gm", eventID, noon)
	w.Run(time.Minute)
	w.Remove(poll.SlotPath(pollID, w.View(pollID).Poll.WinningSlotID))
	w.MoveEvent("gm", eventID, three)
	w.Run(time.Minute)
	stands(t, w, pollID, rules.StateRescheduled, three.Start)
	atRest(t, w)
}

func TestADeletedEvent_CancelsThePoll(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, slots, eventID := w.Finalised()
	w.DeleteEvent("gm", eventID)
	w.Run(time.Minute)

	view := w.View(pollID)
	equal(t, "status", view.Poll.Status, rules.Cancelled)
	equal(t, "state", view.Poll.Sync.State, rules.StateCancelled)
	equal(t, "event", view.Poll.GoogleEventID, "")
	equal(t, "winning slot", view.Poll.WinningSlotID, slots[0])
	data := store.Fields(w.Document(poll.Path(pollID)).Data)
	equal(t, "cancelled.reason", data.Map("cancelled").String("reason"), "calendar_deleted")
	equal(t, "calendarSync.cancelled.reason", data.Map("calendarSync").Map("cancelled").String("reason"), "calendar_deleted")
	equal(t, "cancelled.at", data.Map("cancelled").Time("at").IsZero(), false)
	equal(t, "the entry awaits the event", w.Index()[0].Awaited, true)
	equal(t, "interests", w.Calendar("gm").Interests[poll.ConsumerPoll], 1)
	same(t, "ana's notices", w.Notices("ana"), []string{"SESSION_CANCELLED"})
	atRest(t, w)

	if _, err := w.Finalise(pollID, slots[1]); err != nil {
		t.Fatal(err)
	}
	w.Run(time.Minute)
	stands(t, w, pollID, rules.StateOK, three.Start)
	data = w.Document(poll.Path(pollID)).Data
	equal(t, "cancelled is there", data.Has("cancelled"), false)
	equal(t, "calendarSync.cancelled is there", data.Map("calendarSync").Has("cancelled"), false)
	equal(t, "events", len(w.Events("gm")), 1)
	atRest(t, w)
}

// What happens in the calendar and decides nothing.
func TestSync_ChangesBesideTheTime_DecideNothing(t *testing.T) {
	t.Parallel()
	for name, act := range map[string]func(w *worldtest.World, eventID string){
		"a title edit": func(w *worldtest.World, eventID string) {
			w.PatchEvent("gm", eventID, map[string]any{"summary": "Session ten", "description": "Bring more dice"})
		},
		"another guest": func(w *worldtest.World, eventID string) {
			w.PatchEvent("gm", eventID, map[string]any{"attendees": []map[string]any{{"email": "ana@example.com"}, {"email": "ben@example.com"}}})
		},
		"the same instants in another offset": func(w *worldtest.World, eventID string) {
			w.PatchEvent("gm", eventID, map[string]any{
				"start": map[string]any{"dateTime": "2026-03-10T15:30:00+05:30"}, "end": map[string]any{"dateTime": "2026-03-10T03:00:00-08:00"},
			})
		},
		"the same instants as wall times of another zone": func(w *worldtest.World, eventID string) {
			w.PatchEvent("gm", eventID, map[string]any{
				"start": map[string]any{"dateTime": "2026-03-10T19:00:00", "timeZone": "Asia/Tokyo"},
				"end":   map[string]any{"dateTime": "2026-03-10T20:00:00", "timeZone": "Asia/Tokyo"},
			})
		},
		"a move and back between two syncs": func(w *worldtest.World, eventID string) {
			w.MoveEvent("gm", eventID, noon)
			w.MoveEvent("gm", eventID, ten)
		},
		"another event of the calendar": func(w *worldtest.World, _ string) {
			w.InsertEvent("gm", map[string]any{
				"id": "dentist1", "start": map[string]any{"date": "2026-03-10"}, "end": map[string]any{"date": "2026-03-11"},
			})
			w.DeleteEvent("gm", "dentist1")
		},
		"an event with an id like ours": func(w *worldtest.World, _ string) {
			w.InsertEvent("gm", map[string]any{
				"id": poll.EventPrefix + "0000", "start": map[string]any{"date": "2026-03-10"},
				"end": map[string]any{"date": "2026-03-11"},
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			pollID, _, eventID := w.Finalised()
			before := w.Document(poll.Path(pollID))
			act(w, eventID)
			w.Run(time.Minute)
			stands(t, w, pollID, rules.StateOK, ten.Start)
			same(t, "journal", w.Decisions(pollID), []string{"finalise"})
			equal(t, "updatedAt", store.Fields(w.Document(before.Path).Data).Time("updatedAt"), store.Fields(before.Data).Time("updatedAt"))
			equal(t, "notices of ana", len(w.Notices("ana")), 0)
			atRest(t, w)
		})
	}
}

// A move that is undone before its announcement is announced to nobody.
func TestAMoveThatIsTakenBack_IsNotAnnounced(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, eventID := w.Finalised()
	w.MoveEvent("gm", eventID, noon)
	w.Run(worldtest.Settle / 2)
	stands(t, w, pollID, rules.StateRescheduled, noon.Start)
	w.MoveEvent("gm", eventID, ten)
	w.Run(5 * time.Minute)
	stands(t, w, pollID, rules.StateOK, ten.Start)
	same(t, "journal", w.Decisions(pollID), []string{"finalise", "reschedule", "restore"})
	same(t, "notices of ana", w.Notices("ana"), nil)
	atRest(t, w)
}

// The journal alone tells what happened, and why (explain --replay).
func TestTheJournal_HoldsWhatAReplayNeeds(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, slots, eventID := w.Finalised()
	w.MoveEvent("gm", eventID, noon)
	w.Run(time.Minute)
	w.DeleteEvent("gm", eventID)
	w.Run(time.Minute)
	entries := w.Journal(pollID)
	if len(entries) != 3 {
		t.Fatalf("there are %d entries: %v", len(entries), w.Decisions(pollID))
	}
	atTen, atNoon := rules.Timed(ten.Start, ten.End), rules.Timed(noon.Start, noon.End)
	moved := w.View(pollID).Poll.Sync.Rescheduled.ToSlotID
	for i, want := range []poll.JournalEntry{
		{
			Trigger: "person", Trace: "test", Who: "gm", Command: rules.CommandFinalise, Reason: "the event was made",
			EventState: "present", Fingerprint: atTen,
			After: atTen, Baseline: atTen, Status: rules.Finalized, State: rules.StateOK, WinningSlotID: slots[0],
		},
		{
			Trigger: "push", Decision: rules.Reschedule, Reason: "moved", EventState: "present", Fingerprint: atNoon,
			Inputs: &poll.Inputs{Now: entries[1].At, Winning: atTen, FinalizedAt: worldtest.Start},
			Before: atTen, After: atNoon, Baseline: atTen, Status: rules.Finalized, State: rules.StateRescheduled,
			WinningSlotID: moved, Rescheduled: true,
		},
		{
			Trigger: "push", Decision: rules.Cancel, Reason: "deleted", EventState: "gone", Cancelled: true,
			Inputs: &poll.Inputs{Now: entries[2].At, Winning: atNoon, Timely: atNoon, MovedAt: entries[1].At, FinalizedAt: worldtest.Start},
			Before: atNoon, After: atNoon, Baseline: atTen, Status: rules.Cancelled, State: rules.StateCancelled,
			WinningSlotID: moved, Rescheduled: true,
		},
	} {
		got := entries[i]
		if got.Trace == "" || got.At.IsZero() || got.Announcement != got.ID || (got.Fence == 0) != (got.Command != "") ||
			(got.EventState == "present") == got.Updated.IsZero() {
			t.Errorf("entry %d lacks something: %+v", i, got)
		}
		want.PollID, want.CreatorID = pollID, "gm"
		want.EventID, want.CalendarID, want.AccountID, want.Generation = eventID, "gm@example.com", w.Account("gm"), 1
		want.ID, want.At, want.Made, want.Updated, want.Fence, want.Announcement = got.ID, got.At, got.Made, got.Updated,
			got.Fence, got.Announcement
		if i > 0 {
			want.Trace = got.Trace
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("entry %d is %+v, want %+v", i, got, want)
		}
	}
}

// A guest's copy has the organiser's event id and stands in a calendar that is
// watched too: what happens to it says nothing about the poll.
func TestAGuestsCopy_IsAnotherThing(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, slots := w.Poll()
	ask := worldtest.Ask{SlotID: slots[0], CreateEvent: true, Attendees: []string{"ana@example.com"}}
	view, err := w.FinaliseAs(pollID, ask)
	if err != nil {
		t.Fatal(err)
	}
	anas := w.FinalisedBy("ana")
	w.Run(time.Minute)
	eventID := view.Poll.GoogleEventID
	equal(t, "ana has a copy", w.EventOf("ana", eventID).Live(), true)

	w.DeleteEvent("ana", eventID)
	w.Run(time.Minute)
	stands(t, w, pollID, rules.StateOK, ten.Start)
	equal(t, "gm's event is there", w.EventOf("gm", eventID).Live(), true)
	equal(t, "ana's own poll", w.View(anas).Poll.Status, rules.Finalized)
	equal(t, "the copy was fetched", w.Calls("events.get"), 0)
	atRest(t, w)
}
