package groupevents_test

import (
	"testing"
	"time"

	"questscheduler/internal/mirror"
	"questscheduler/internal/test/mirrortest"
)

// passings are how planning meets, or is about to meet, somebody whom the web app removed from
// the group.
var passings = map[string]func(w *world){
	"who is connected, and an event is made": func(w *world) {
		event, err := w.create("gm", "Dinner", mirrortest.Start.Add(9*time.Hour))
		w.must(err)
		w.Gather(party, "gm", "ben")
		w.must(w.Service.PlanEvent(w.T.Context(), event.ID, mirrortest.Cause))
	},
	"who is connected, and all of their events are planned": func(w *world) {
		event, err := w.create("gm", "Dinner", mirrortest.Start.Add(9*time.Hour))
		w.must(err)
		w.Gather(party, "gm", "ben")
		w.must(w.Service.PlanUID(w.T.Context(), "ana", event.ICalUID, mirrortest.Cause))
	},
	notPlanned: func(w *world) {
		_, err := w.create("gm", "Dinner", mirrortest.Start.Add(9*time.Hour))
		w.must(err)
		w.Settle()
		w.must(w.disconnect("ana", true))
		w.Settle()
		w.Connect(party, "ana")
		w.Gather(party, "gm", "ben")
	},
}

// notPlanned is the one of passings whose planning waits.
const notPlanned = "who was just connected"

// connected reports whether an account of the group's is connected to it.
func (w *world) connected(account string) bool {
	w.Helper()
	doc, err := w.Documents.Get(w.T.Context(), mirror.ConnectionPath(party, account))
	w.must(err)
	return doc.Exists()
}

// What was passed over is planned when the person is back, or they are connected no longer.
func TestPlanning_PassingOverAFormerMember_Ends(t *testing.T) {
	t.Parallel()
	for name, pass := range passings {
		for _, soon := range []bool{false, true} {
			t.Run(name+map[bool]string{true: ", back before that is noticed"}[soon], func(t *testing.T) {
				t.Parallel()
				w := newConnectedWorld(t)
				pass(w)
				if !soon {
					w.Settle()
				}
				w.Gather(party, "gm", "ana", "ben")
				w.Settle()
				unnoticed := soon && name == notPlanned
				if is := w.connected("ana"); is != unnoticed {
					t.Errorf("connected: %t, want %t", is, unnoticed)
				}
				if unnoticed {
					w.shows("ana", "Dinner")
					return
				}
				w.shows("ana")
				w.Connect(party, "ana")
				w.Settle()
				w.shows("ana", "Dinner")
			})
		}
	}
}

// The wake of the planning that ends the connection may be lost.
func TestPlanning_PassingOverAFormerMember_IsDrained(t *testing.T) {
	t.Parallel()
	w := newConnectedWorld(t)
	passings["who is connected, and an event is made"](w)
	w.Wakes.Forget()
	w.World.Run(2 * time.Minute)
	if w.connected("ana") {
		t.Error("ana left the group, and is connected")
	}
}

func TestSharedSession_OfOneWhoReturns_IsSharedAgain(t *testing.T) {
	t.Parallel()
	w := newSharingWorld(t)
	w.leaves()
	w.Settle()
	w.shows("ben")
	w.returns()
	w.Settle()
	w.shows("ben", "Session")
	w.shows("gm", "Session")
}

func TestSharedSession_OfOneWhoLeavesAndReturnsAtOnce_Stays(t *testing.T) {
	t.Parallel()
	w := newSharingWorld(t)
	w.leaves()
	w.returns()
	w.Settle()
	w.shows("ben", "Session")
}
