package availability_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

// slots writes so many slots of the poll p1, one an hour from a time on.
func (w *world) slots(prefix string, count int, from time.Time) {
	w.t.Helper()
	for first := 0; first < count; first += 100 {
		must(w.t, w.documents.Run(w.t.Context(), func(_ context.Context, tx store.Tx) error {
			var errs []error
			for i := first; i < min(count, first+100); i++ {
				start := from.Add(time.Duration(i) * time.Hour)
				slot := poll.Slot{ID: fmt.Sprintf("%s%05d", prefix, i), Start: start, End: start.Add(time.Hour)}
				errs = append(errs, tx.Set(poll.SlotPath("p1", slot.ID), poll.EncodeSlot(slot)))
			}
			return errors.Join(errs...)
		}))
	}
}

// tooLarge reports whether an error says that the answer would be.
func tooLarge(err error) bool { return fault.Is(err, fault.Conflict) && fault.MessageOf(err, "") != "" }

func TestForPoll_OfTwoHundredSlots_IsWhole(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.poll(nil, nil)
	w.slots("past", 97, now.AddDate(0, -1, 0))
	w.slots("next", 100, now.AddDate(0, 1, 0))
	answer, err := w.ForPoll(t.Context(), "p1", "gm")
	if err != nil || len(answer) != 200 {
		t.Fatalf("%d slots, %v", len(answer), err)
	}
	w.slots("zone", 1, now.Add(-30*time.Hour))
	answer, err = w.ForPoll(t.Context(), "p1", "gm")
	if err != nil || len(answer) != 104 || answer[0].ID != "zone00000" || answer[1].ID != "s1" {
		t.Fatalf("of 201 there are %d, %v", len(answer), err)
	}
}

// The calendar adds a slot to a poll whose session it moves, also to one with as many as people may ask for.
func TestForPoll_OfTwoHundredSlotsAndTheCalendars_IsWhole(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.poll(nil, nil)
	w.slots("next", 197, now.AddDate(0, 1, 0))
	w.slots("moved", 1, now.AddDate(0, 2, 0))
	if answer, err := w.ForPoll(t.Context(), "p1", "gm"); err != nil || len(answer) != 201 {
		t.Errorf("%d slots, %v", len(answer), err)
	}
}

// A poll of the web app that goes on for years has answers for the times to come.
func TestForPoll_OfManyPastSlots_IsOfThoseAhead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.poll([]string{"gm", "ana"}, nil)
	w.synced("gm", "gm")
	w.slots("past", 3000, now.AddDate(-1, 0, 0))
	w.slots("next", 197, now.AddDate(0, 1, 0))
	w.reads.documents = 0
	answer, err := w.ForPoll(t.Context(), "p1", "gm")
	if err != nil || len(answer) != 200 || w.reads.documents > 450 {
		t.Fatalf("%d slots by %d documents, %v", len(answer), w.reads.documents, err)
	}
	for i, slot := range answer {
		if strings.HasPrefix(slot.ID, "past") || len(slot.People) != 2 || i < 3 && slot.ID != fmt.Sprint("s", i+1) {
			t.Errorf("number %d is %+v", i, slot)
		}
	}
}

// What is refused is read no further and counts for nobody.
func TestForPoll_OfMoreSlotsAhead_IsRefusedBeforeItCounts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var people []string
	for i := range 500 {
		people = append(people, fmt.Sprintf("p%03d", i))
	}
	w.poll(people, nil)
	w.slots("next", 248, now.AddDate(0, 1, 0))
	for range 40 {
		w.reads.documents = 0
		if _, err := w.ForPoll(t.Context(), "p1", "gm"); !tooLarge(err) || w.reads.documents > 460 {
			t.Fatalf("after %d documents: %v", w.reads.documents, err)
		}
	}
	if _, err := w.ForPoll(t.Context(), "p1", "eve"); !fault.Is(err, fault.NotFound) {
		t.Errorf("eve, who takes no part: %v", err)
	}
	must(t, w.documents.Run(t.Context(), func(_ context.Context, tx store.Tx) error { return tx.Delete(poll.SlotPath("p1", "s1")) }))
	answer, err := w.ForPoll(t.Context(), "p1", "gm")
	if err != nil || len(answer) != 250 || len(answer[0].People) != 501 {
		t.Errorf("of 250: %d, %v", len(answer), err)
	}
	w.slots("more", 2000, now.AddDate(0, 2, 0))
	w.reads.documents = 0
	if _, err := w.ForPoll(t.Context(), "p1", "gm"); !tooLarge(err) || w.reads.documents > 460 {
		t.Errorf("after %d documents: %v", w.reads.documents, err)
	}
}

// Other servers may let a group have any number of members.
func TestForPoll_OfTooManyPeople_IsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.poll([]string{"gm"}, func(p map[string]any) { p["questingGroupId"] = "party" })
	w.slots("next", 247, now.AddDate(0, 1, 0))
	members := []any{"gm"}
	for i := range 1001 {
		members = append(members, fmt.Sprintf("m%04d", i))
	}
	w.group(members, nil)
	answer, err := w.ForPoll(t.Context(), "p1", "gm")
	if err != nil || len(answer) != 250 || len(answer[249].People) != 1002 {
		t.Fatalf("of 1,002 people: %d slots, %v", len(answer), err)
	}
	w.group(append(slices.Clone(members), "one more"), nil)
	if _, err := w.ForPoll(t.Context(), "p1", "gm"); !tooLarge(err) {
		t.Errorf("of 1,003 people: %v", err)
	}
}
