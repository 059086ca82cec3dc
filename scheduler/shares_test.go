package scheduler_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/internal/mirror"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
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

// What the web app writes into a poll's document, and where its owner keeps the event, reach the
// calendars of a group as commands do.
func TestSharedSession_OfAPollThatIsChangedElsewhere_IsCompared(t *testing.T) {
	t.Parallel()
	type fixture struct {
		*worldtest.World
		poll, event string
	}
	edit := func(updates ...store.Update) func(f fixture) {
		return func(f fixture) {
			f.Edit(poll.Path(f.poll), updates...)
			if _, err := f.Scheduler.Reconcile(t.Context(), f.poll, worldtest.Cause); err != nil {
				t.Fatal(err)
			}
		}
	}
	cancelled, restored := edit(poll.Set("status", string(rules.Cancelled))), edit(poll.Set("status", string(rules.Finalized)))
	for _, c := range []struct {
		name   string
		change []func(f fixture)
		shown  []bool // in the group, after each change
	}{
		{"cancelled, and restored", []func(f fixture){cancelled, restored}, []bool{false, true}},
		{"cancelled over /v1, and restored", []func(f fixture){func(f fixture) {
			if _, err := f.Scheduler.Cancel(t.Context(), worldtest.Person("gm"), f.poll, true, worldtest.Cause); err != nil {
				t.Fatal(err)
			}
		}, restored}, []bool{false, true}},
		{"reopened and taken out of the group", []func(f fixture){
			edit(poll.Set("status", string(rules.Open)), poll.Set("winningSlotId", nil), poll.Set("questingGroupId", nil)),
		}, []bool{false}},
		{"moved to another calendar of its owner", []func(f fixture){func(f fixture) { f.MoveAway("gm", f.event, worldtest.Club) }}, []bool{true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			party := w.Party()
			w.Write(store.Doc("users", "gm"), store.Update{Path: store.Field("settings", "keepCalendarEvents"), Value: true})
			w.SetSharing(party, true)
			w.Run(time.Minute)
			pollID, slots := w.PollOf("gm", scheduler.Create{GroupID: party})
			view, err := w.Finalise(pollID, slots[0])
			if err != nil {
				t.Fatal(err)
			}
			f := fixture{w, pollID, view.Poll.GoogleEventID}
			for i, change := range c.change {
				w.Run(time.Minute)
				change(f)
				w.Run(time.Minute)
				p, _ := poll.Load(t.Context(), w.Documents, pollID)
				shown := slices.ContainsFunc(w.CanonicalEvents(), func(e *mirror.Event) bool {
					return e.GroupID == party && e.Status == "confirmed" && e.CalendarID == p.GoogleCalendarID
				})
				if shown != c.shown[i] {
					t.Errorf("after change %d the group sees it: %v, of a poll %s in %s", i, shown, p.Status, p.GoogleCalendarID)
				}
			}
		})
	}
}
