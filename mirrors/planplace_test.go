package mirrors_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/mirror"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/mirrors"
	"questscheduler/mirrors/plan"
)

// A run begins where an earlier one stored that it is, and at the beginning where the text says
// nothing that it understands, as that of another version.
func TestPlanPerson_StoredPlace_IsWhereItGoesOn(t *testing.T) {
	t.Parallel()
	for place, want := range map[string]int{
		"":                                      2,
		`{"part":3}`:                            0, // behind the person's own events
		`{"part":5,"failed":["e1@google.com"]}`: 1,
		"part 3":                                2,
		`{"part":3,"at":7}`:                     2,
		`{"part":-1}`:                           2,
		`{"part":6}`:                            2,
		`{"part":3000000000}`:                   2,
	} {
		t.Run(place, func(t *testing.T) {
			t.Parallel()
			w, _ := refusedPlanning(t, fault.TooLarge, 2)
			w.set(mirror.PersonPath(gm), store.Set("planAfter", place))
			w.runWork(mirrors.PlanKind, gm)
			if planned := len(w.mirrors()); planned != want || !w.personPlan().PlanDue.IsZero() {
				t.Errorf("%d events were planned, want %d; it is due again at %v", planned, want, w.personPlan().PlanDue)
			}
		})
	}
}

// showIn shows the events of one more group of gm's in an account.
func (w *world) showIn(account, group string) {
	w.Helper()
	w.set(poll.GroupPath(group), store.Set("creatorId", "zoe"), store.Set("memberIds", []string{gm, ana}))
	c := mirror.Connection{GroupID: group, AccountID: account, OwnerID: gm, CreatedAt: stageStart}
	w.must(w.memory.Run(w.ctx, func(_ context.Context, tx store.Tx) error {
		return tx.Set(mirror.ConnectionPath(c.GroupID, c.AccountID), mirror.EncodeConnection(c))
	}))
}

// sessionOf stores an event of a group, which is not planned yet.
func (w *world) sessionOf(group, id, title string) mirror.Event {
	w.Helper()
	event := w.canonicalSession()
	event.ID, event.ICalUID, event.GroupID, event.Title = id, id, group, title
	w.put(event)
	return event
}

// A run is so long and takes so many steps; the next one, which is due at once, goes on there.
func TestPlanPerson_MoreThanARunTakes_GoesOnAtOnceInTheNext(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		begin       func(w *world)
		first, last int
	}{
		"many groups": {func(w *world) {
			for i := range 30 {
				w.showIn(club, fmt.Sprintf("group%02d", i))
			}
			w.sessionOf("group19", "evt_early", "Early")
			w.sessionOf("group20", "evt_late", "Late")
		}, 46, 47},
		"slow": {func(w *world) {
			w.onWake = func() {
				w.onWake = nil
				w.must(w.clock.Advance(20 * time.Second))
			}
		}, 20, 45},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, _ := refusedPlanning(t, fault.TooLarge, 45)
			row.begin(w)
			again := w.runWork(mirrors.PlanKind, gm)
			person := w.personPlan()
			if planned := len(w.mirrors()); planned != row.first || !again.Equal(w.clock.Now()) || !person.PlanDue.Equal(again) {
				t.Fatalf("%d events were planned, want %d; it is due again at %v, %v", planned, row.first, again, person.PlanDue)
			}
			w.runWork(mirrors.PlanKind, gm)
			if planned := len(w.mirrors()); planned != row.last || !w.personPlan().PlanDue.IsZero() {
				t.Errorf("%d events were planned, want %d; it is due again at %v", planned, row.last, w.personPlan().PlanDue)
			}
		})
	}
}

// What a run did for an earlier request says nothing about a later one.
func TestPlanPerson_RequestedAgainDuringARun_BeginsAnew(t *testing.T) {
	t.Parallel()
	w, _ := refusedPlanning(t, fault.TooLarge, 45)
	w.onWake = func() {
		w.onWake = nil
		w.replan()
	}
	again := w.runWork(mirrors.PlanKind, gm)
	if planned := len(w.mirrors()); planned != 20 || !again.Equal(w.clock.Now()) || w.personPlan().PlanAfter != "" {
		t.Errorf("%d events were planned; it is due again at %v, from %q", planned, again, w.personPlan().PlanAfter)
	}
	if log := w.log.String(); strings.Contains(log, "work failed") {
		t.Errorf("it counts as a failure:\n%s", log)
	}
	w.runWork(mirrors.PlanKind, gm)
	if planned := len(w.mirrors()); planned != 45 || !w.personPlan().PlanDue.IsZero() {
		t.Errorf("%d events were planned; it is due again at %v", planned, w.personPlan().PlanDue)
	}
}

func TestPlanPerson_GroupsOfSeveralPages_ArePlannedWhole(t *testing.T) {
	t.Parallel()
	w, _ := refusedPlanning(t, fault.TooLarge, 0)
	for _, group := range []string{"band", "party"} {
		w.showIn(club, group)
		for i := range 45 {
			w.sessionOf(group, fmt.Sprintf("evt_%s%02d", group, i), "Session")
		}
	}
	w.runWork(mirrors.PlanKind, gm)
	if planned := len(w.mirrors()); planned != 90 || !w.personPlan().PlanDue.IsZero() {
		t.Errorf("%d events were planned; it is due again at %v", planned, w.personPlan().PlanDue)
	}
}

// A place in a group says nothing about the next one, where the group is not shown any more.
func TestPlanPerson_GroupDisconnectedHalfway_GoesOnWithAllOfTheNext(t *testing.T) {
	t.Parallel()
	w, _ := refusedPlanning(t, fault.TooLarge, 0)
	for group, id := range map[string]string{"band": "evt_z", "party": "evt_a"} {
		w.showIn(club, group)
		for i := range 45 {
			w.sessionOf(group, fmt.Sprintf("%s%02d", id, i), group)
		}
	}
	w.onWake = func() {
		w.onWake = nil
		w.must(w.clock.Advance(20 * time.Second))
	}
	w.runWork(mirrors.PlanKind, gm)
	w.must(w.memory.Run(w.ctx, func(_ context.Context, tx store.Tx) error { return tx.Delete(mirror.ConnectionPath("band", club)) }))
	if planned := len(w.mirrors()); planned != 20 {
		t.Fatalf("%d events of the first group are planned", planned)
	}
	w.runWork(mirrors.PlanKind, gm)
	shown := 0
	for _, m := range w.mirrors() {
		if m.GroupID == "party" {
			shown++
		}
	}
	if shown != 45 || !w.personPlan().PlanDue.IsZero() {
		t.Errorf("%d events of the second one are planned; it is due again at %v", shown, w.personPlan().PlanDue)
	}
}

// The times of those that are not planned yet say when they come within the window, or nothing.
func TestPlanPerson_EventBeyondTheWindow_IsDueWhenItComes(t *testing.T) {
	t.Parallel()
	w, _ := refusedPlanning(t, fault.TooLarge, 0)
	event := w.stored("far", "Far away", func(e *mirror.Event) {
		e.Start, e.End = at("2028-03-05T09:00:00Z"), at("2028-03-05T10:00:00Z")
	})
	w.runWork(mirrors.PlanKind, gm)
	if due, want := w.planAt(event.ID), plan.DueAt(event, w.clock.Now()); !due.Equal(want) || want.IsZero() {
		t.Errorf("it is due at %v, want %v", due, want)
	}
}

// Copies of what ended a day ago stay as they are, whatever people set since.
func TestPlanPerson_EventsThatEnded_KeepTheirCopies(t *testing.T) {
	t.Parallel()
	w := newMirroringWorld(t)
	w.insert(work, "An hour earlier", thursday)
	w.insert(work, "An hour later", "2026-03-05T11:00:00Z")
	w.sync(work)
	w.wantTitles(home, "An hour earlier", "An hour later")
	w.must(w.clock.Advance(at("2026-03-06T11:00:00Z").Time.Sub(w.clock.Now())))
	all, err := w.policies.List(w.ctx, gm)
	w.must(err)
	_, err = w.policies.SetEdges(w.ctx, gm, all[0].ID, []mirror.Edge{toPrimary(work, club)}, cause)
	w.must(err)
	w.settle()
	w.wantTitles(home, "An hour earlier")
	w.wantTitles(club, "An hour later")
}
