package availability_test

import (
	"fmt"
	"maps"
	"testing"

	"questscheduler/availability"
	"questscheduler/internal/mirror"
)

// connect connects a person's account to the group grp.
func (w *world) connect(owner, id string) {
	w.t.Helper()
	w.set(mirror.ConnectionPath("grp", "acc_"+id),
		mirror.EncodeConnection(mirror.Connection{GroupID: "grp", AccountID: "acc_" + id, OwnerID: owner, CreatedAt: now}))
}

func ofGroup(e *mirror.Event) {
	e.Source, e.GroupID, e.AccountID, e.CalendarID, e.EventID = mirror.SourceGroup, "grp", "", "", ""
}

// reasons are why the accounts of an answer are unknown, without those that are known.
func reasons(answer availability.Answer) map[string]string {
	why := map[string]string{}
	for _, a := range answer.Accounts {
		if a.Unknown != nil {
			why[a.ID] = a.Unknown.Reason
		}
	}
	return why
}

// TestAnswers_ManyEventsOfOneAccount_LeaveOthersKnown has gm's work, which has first as many
// events as an answer holds, then more, and their home and ana beside it.
func TestAnswers_ManyEventsOfOneAccount_LeaveOthersKnown(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("large numbers")
	}
	w := newWorld(t)
	for _, id := range []string{"home", "work"} {
		w.synced("gm", id)
	}
	w.addMany("gm", "work", 20_000, timed(t, "2026-03-10 10:00", "2026-03-10 11:00"))
	w.add("gm", "work", timed(t, "2026-03-10 10:00", "2026-03-10 11:00"), func(e *mirror.Event) { e.OwnerID = "ana" }) // of whom it was
	if got := w.own("gm", now, now.AddDate(0, 0, 14)); len(got.Unknown) != 0 || len(got.Busy) != 1 {
		t.Errorf("as many as it holds are %+v", got)
	}
	w.add("gm", "work", timed(t, "2026-03-10 10:00", "2026-03-10 11:00"), nil)
	w.add("gm", "home", timed(t, "2026-03-11 18:00", "2026-03-11 19:00"), nil)
	got := w.own("gm", now, now.AddDate(0, 0, 14))
	if want := map[string]string{"acc_work": availability.ReasonTooMany}; !maps.Equal(reasons(got), want) {
		t.Errorf("unknown are %v", reasons(got))
	}
	if text(got.Busy, in(t, zurich)) != "03-10 10:00–03-10 11:00, 03-11 18:00–03-11 19:00" {
		t.Errorf("busy is %q", text(got.Busy, in(t, zurich)))
	}
	if got := w.own("gm", now, now.AddDate(0, 0, 14), "acc_home"); len(got.Unknown) != 0 || len(got.Busy) != 1 {
		t.Errorf("home alone is %+v", got)
	}
	w.poll([]string{"ana"}, nil)
	w.share("ana")
	w.synced("ana", "ana")
	w.add("ana", "ana", timed(t, "2026-03-12 18:00", "2026-03-12 19:00"), nil)
	w.wantStates("gm", map[string]string{"gm": "ubu", "ana": "ffb"})
}

// TestOwn_WhatSmallListsLeave_IsForLargerOnes: of more events than fit in sum, those of the
// group alone are too many, to which one account is connected.
func TestOwn_WhatSmallListsLeave_IsForLargerOnes(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("large numbers")
	}
	w := newWorld(t)
	for id, count := range map[string]int{"a": 6900, "b": 1, "c": 6000} {
		w.synced("gm", id)
		w.addMany("gm", id, count, timed(t, "2026-03-10 10:00", "2026-03-10 11:00"))
	}
	w.connect("gm", "b")
	w.addMany("gm", "b", 9000, timed(t, "2026-03-11 10:00", "2026-03-11 11:00"), ofGroup)
	got := w.own("gm", now, now.AddDate(0, 0, 14))
	if want := map[string]string{"acc_b": availability.ReasonTooMany}; !maps.Equal(reasons(got), want) || len(got.Busy) != 2 {
		t.Errorf("unknown are %v, busy is %v", reasons(got), got.Busy)
	}
}

// TestForPoll_AGroupsEvents_CountOnceForAll: 1,000 events of a group, to which 21 people are
// connected.
func TestForPoll_AGroupsEvents_CountOnceForAll(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	want := map[string]string{"gm": "uuu"}
	var people []string
	for i := range 21 {
		id := fmt.Sprintf("p%d", i)
		people, want[id] = append(people, id), "bff"
		w.synced(id, id)
		w.connect(id, id)
	}
	w.poll(people, nil)
	w.share(people...)
	w.addMany("gm", "gm", 1000, timed(t, "2026-03-10 18:00", "2026-03-10 19:00"), ofGroup)
	w.wantStates("gm", want)
}
