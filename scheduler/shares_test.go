package scheduler_test

import (
	"strings"
	"testing"
	"time"

	"questscheduler/internal/test/worldtest"
	"questscheduler/scheduler"
)

// A session of which nothing is shared costs no work for its group.
func TestTransition_OfAGroupsPoll_IsComparedWhereSomethingIsShared(t *testing.T) {
	t.Parallel()
	share := func(w *worldtest.World, party string, is bool) {
		w.SetSharing(party, is)
		w.Run(time.Minute)
	}
	for _, c := range []struct {
		name           string
		before, after  bool // the group shares, before and after the poll was finalised
		connected      bool // somebody has its sessions in their calendar
		finalised, now int  // times that the session was compared
	}{
		{name: "never shared"},
		{name: "shared", before: true, after: true, finalised: 1, now: 2},
		{name: "shared since", after: true, now: 1},
		{name: "shared no longer, with nobody who has it", before: true, finalised: 1, now: 1},
		{name: "shared no longer, with somebody who has it", before: true, connected: true, finalised: 1, now: 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			party := w.Party()
			if c.connected {
				if _, err := w.Groups.Connect(t.Context(), worldtest.Person("ana"), party, w.Account("ana"), worldtest.Cause); err != nil {
					t.Fatal(err)
				}
			}
			share(w, party, c.before)
			pollID, slots := w.PollOf("gm", scheduler.Create{GroupID: party})
			compared := func() int { return strings.Count(w.Log(), "kind=group id=poll."+pollID) }
			view, err := w.Finalise(pollID, slots[0])
			if err != nil {
				t.Fatal(err)
			}
			w.Run(time.Minute)
			equal(t, "compared when it was finalised", compared(), c.finalised)
			share(w, party, c.after)
			w.MoveEvent("gm", view.Poll.GoogleEventID, worldtest.Noon)
			w.Run(time.Minute)
			equal(t, "compared after it was moved", compared(), c.now)
		})
	}
}
