package poll_test

import (
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
)

// A time that ends at the moment at which it is taken over is to come no more.
func TestMovedTo_Timely_WhileItIsToCome(t *testing.T) {
	t.Parallel()
	before := rules.Timed(ten, ten.Add(time.Hour))
	for now, want := range map[time.Time]rules.Fingerprint{noon.Add(-time.Millisecond): time1, noon: before} {
		moved := poll.Rescheduled{Timely: before}.MovedTo(time1, now)
		same(t, "timely", moved.Timely, want)
		same(t, "moved at", moved.MovedAt, now)
	}
}

// A slot keeps the time at which it was chosen first.
func TestRules_FinalizedAt_IsTheLatestChoice(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ finalised, chosen, want time.Time }{
		"chosen since":        {ten, noon, noon},
		"chosen before":       {noon, ten, noon},
		"never finalised":     {time.Time{}, ten, ten},
		"chosen another slot": {ten, time.Time{}, ten},
	} {
		p := poll.Poll{WinningSlotID: "s1", FinalizedAt: row.finalised, SlotPriority: map[string]int64{"s2": noon.Add(time.Hour).UnixMilli()}}
		if !row.chosen.IsZero() {
			p.SlotPriority["s1"] = row.chosen.UnixMilli()
		}
		same(t, name, p.Rules("", nil, nil).FinalizedAt, row.want)
	}
}

// All that an announcement says of one generation is said of the other, and what
// it says of a third stays.
func TestRenumber_EverySideOfAnAnnouncement(t *testing.T) {
	t.Parallel()
	of := func(generation int64) poll.Message {
		return poll.Message{Ref: "jrn_1", State: rules.AnnouncedState{Generation: generation}}
	}
	var names []string
	for _, update := range poll.RenumberUpdates(poll.Announcement{Wanted: of(3), Announced: of(3), Before: of(3), Delivering: of(3)}, 3, 4) {
		names = append(names, update.Path.String())
		same(t, update.Path.String(), update.Value, any(int64(4)))
	}
	same(t, "renumbered", names, []string{"wanted.generation", "announced.generation", "before.generation", "delivering.generation"})
	same(t, "of a third", len(poll.RenumberUpdates(poll.Announcement{Wanted: of(2), Delivering: poll.Message{}}, 3, 4)), 0)
}

// What an earlier program announced does not say when the poll was cancelled: a cancellation that
// was applied before is no new one.
func TestAnnouncement_OfAnEarlierProgram_WasCancelledWhenItWasApplied(t *testing.T) {
	t.Parallel()
	announced := fields{"ref": "jrn_1", "at": moment, "status": "CANCELLED", "generation": int64(3)}
	got := poll.DecodeAnnouncement(store.Document{Path: poll.AnnouncementPath("p1"), Data: fields{"announced": announced}})
	if at := got.Announced.State.CancelledAt; !at.Equal(moment) {
		t.Errorf("cancelled at %v, want %v", at, moment)
	}
}
