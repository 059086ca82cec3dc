package scheduler_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// atLimits gives a poll as many slots and people as one may have, each of whom voted for every
// slot; ana did so for one alone.
func atLimits(t *testing.T, w *worldtest.World, pollID string) {
	t.Helper()
	slots, people := w.View(pollID).Slots, w.View(pollID).Poll.ParticipantIDs
	for i := len(slots); i < scheduler.MaxSlots; i++ {
		slots = append(slots, poll.Slot{
			ID:    fmt.Sprintf("00000000-0000-4000-9000-%012d", i),
			Start: worldtest.Ten.Start.AddDate(0, 0, i), End: worldtest.Ten.End.AddDate(0, 0, i),
		})
	}
	for i := len(people); i < scheduler.MaxPeople; i++ {
		people = append(people, fmt.Sprintf("person-%03d", i))
	}
	all := map[string]string{}
	for _, slot := range slots {
		all[slot.ID] = poll.Preferred
	}
	err := w.Documents.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
		for _, slot := range slots {
			if err := tx.Set(poll.SlotPath(pollID, slot.ID), poll.EncodeSlot(slot)); err != nil {
				return err
			}
		}
		return tx.Update(poll.Path(pollID), poll.Set("participantIds", anyOf(people)))
	})
	for _, voter := range people {
		vote := poll.Vote{UserID: voter, Email: voter + "@example.com", Choices: all, UpdatedAt: w.Clock.Now()}
		if voter == "ana" {
			vote.Choices = map[string]string{slots[0].ID: poll.Feasible}
		}
		if err == nil {
			err = w.Documents.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
				return tx.Merge(poll.VotePath(pollID, voter), poll.VoteUpdates(vote)...)
			})
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

func anyOf(texts []string) (out []any) {
	for _, text := range texts {
		out = append(out, text)
	}
	return out
}

// The votes for all slots of all people are more than a document may hold. The poll follows its
// event all the same, and of the votes as many as fit come back where they vanished, those of
// few choices first.
func TestPollAtItsLimits_EventMovesAndBack_IsFollowed(t *testing.T) {
	if testing.Short() {
		t.Skip("many events")
	}
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := finalised(w)
	atLimits(t, w, s.poll)
	w.MoveEvent("gm", s.event, worldtest.Noon)
	w.Run(time.Minute)
	view := w.View(s.poll)
	equal(t, "state", view.Poll.Sync.State, rules.StateRescheduled)
	equal(t, "start", view.Winning.Start, worldtest.Noon.Start)
	for _, snapshot := range w.Snapshots() {
		votes := len(store.Fields(snapshot.Data).List("votes"))
		if size := store.DocumentSize(snapshot.Path, snapshot.Data); size < store.MaxDocument*98/100 || votes < 100 {
			t.Errorf("the snapshot has %d bytes and %d votes, want as many as fit", size, votes)
		}
	}
	w.Remove(poll.VotePath(s.poll, "ana"))
	w.MoveEvent("gm", s.event, worldtest.Ten)
	w.Run(time.Minute)
	view = w.View(s.poll)
	equal(t, "state after it moved back", view.Poll.Sync.State, rules.StateOK)
	equal(t, "winning slot", view.Poll.WinningSlotID, s.slots[0])
	equal(t, "votes", len(view.Votes), scheduler.MaxPeople)
	for _, problem := range w.HistoryProblems() {
		t.Error(problem)
	}
	atRest(t, w)
}

// The choices that go with their slots are too many to be named each in one transaction.
func TestEditSlots_OfAPollAtItsLimits_ReplacesThem(t *testing.T) {
	if testing.Short() {
		t.Skip("many events")
	}
	t.Parallel()
	for name, kept := range map[string]int{"none is kept": 0, "one is kept": 1, "half are kept": 100} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			s := fresh(w)
			atLimits(t, w, s.poll)
			var slots []scheduler.SlotEdit
			for i, slot := range w.View(s.poll).Slots {
				edit := scheduler.SlotEdit{Times: scheduler.Times{Start: slot.Start, End: slot.End}}
				if i < kept {
					edit.ID = slot.ID
				}
				slots = append(slots, edit)
			}
			view, err := w.Scheduler.Edit(t.Context(), worldtest.Person("gm"), s.poll, scheduler.Edit{Slots: &slots}, worldtest.Cause)
			if err != nil {
				t.Fatal(err)
			}
			equal(t, "slots", len(view.Slots), scheduler.MaxSlots)
			equal(t, "votes", len(view.Votes), scheduler.MaxPeople)
			for i, slot := range slots {
				if feasible, _ := poll.Count(view.Votes, slot.ID); i < kept && feasible < scheduler.MaxPeople-1 {
					t.Errorf("slot %d has %d votes, want everybody's", i, feasible)
				}
			}
			for _, vote := range view.Votes {
				if vote.UserID != "ana" && len(vote.Choices) != kept {
					t.Errorf("%s chose %d slots, want %d", vote.UserID, len(vote.Choices), kept)
				}
			}
			w.Run(time.Minute)
			atRest(t, w)
		})
	}
}
