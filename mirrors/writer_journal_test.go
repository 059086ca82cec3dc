package mirrors_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"questscheduler/demo/sim/control"
	"questscheduler/demo/sim/google"
	"questscheduler/internal/accounts"
	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
)

// steps are the entries about the mirrors of an event, the earliest first.
func (s *stage) steps(eventID string) (all []string) {
	s.Helper()
	entries, _, err := mirror.LoadJournal(s.ctx, s.memory, eventID, store.Paging{Limit: 0})
	s.must(err)
	for _, e := range slices.Backward(entries) {
		all = append(all, fmt.Sprintf("%s %s>%s %s", e.Step, e.Before, e.After, e.Reason))
		if !e.At.Equal(e.At.Truncate(time.Millisecond)) || e.Trigger == "" || e.OwnerID != gm || e.MirrorID == "" || e.TargetAccountID != home {
			s.Errorf("the entry is %+v", e)
		}
	}
	return all
}

// Each row is what happens to the copy of an event, and what its journal says of that.
func TestWriter_ItsJournal_SaysWhyItDidWhat(t *testing.T) {
	t.Parallel()
	single := func(s *stage) { s.event("e1", "Stand-up"); s.run(time.Minute) }
	series := func(s *stage) { s.event("e1", "Weekly", weekly); s.run(time.Minute) }
	second := exception("e1", at("2026-03-12T09:00:00Z"))
	dropped := func(e *mirror.Event) { e.Status = "cancelled" }
	overlay := func(s *stage) { s.toOverlay(); s.event("e1", "Stand-up"); s.run(2 * time.Minute) }
	unwanted := func(s *stage) { s.edges = nil; s.plan("e1@google.com") }
	for name, row := range map[string]struct {
		begin, do func(s *stage)
		event     string
		want      []string
	}{
		"created": {nil, single, "evt_e1", []string{"planned >PENDING ", "written PENDING>ACTIVE "}},
		"changed": {single, func(s *stage) { s.event("e1", "Review") }, "evt_e1", []string{"planned ACTIVE>PENDING ", "written PENDING>ACTIVE "}},
		"deleted": {single, unwanted, "evt_e1", []string{"planned ACTIVE>DELETING ", "deleted DELETING> "}},
		"deleted by a person too": {
			single, func(s *stage) { s.delete(s.atHome()); unwanted(s) }, "evt_e1",
			[]string{"planned ACTIVE>DELETING ", "forgotten DELETING> "},
		},
		"deleted by a person, and changed": {
			single, func(s *stage) { s.delete(s.atHome()); s.event("e1", "Review") }, "evt_e1",
			[]string{
				"planned ACTIVE>PENDING ", "removed PENDING>PENDING recreated", "planned PENDING>PENDING ", "written PENDING>ACTIVE ",
			},
		},
		"changed by a person, and changed": {
			single, func(s *stage) { s.change(s.atHome(), "Mine"); s.event("e1", "Review") }, "evt_e1",
			[]string{"planned ACTIVE>PENDING ", "drift PENDING>PENDING drift", "written PENDING>ACTIVE "},
		},
		"its id is used up": {func(s *stage) {
			s.must(s.google.Control().Plant(control.Rule{Match: "events.insert", LostAnswer: true, Times: 1}))
			s.event("e1", "Stand-up")
			s.write(s.writer, s.only())
			s.delete(s.atHome())
		}, func(*stage) {}, "evt_e1", []string{
			"planned PENDING>PENDING the id of its event is used up", "planned PENDING>PENDING ", "written PENDING>ACTIVE ",
		}},
		"its account is revoked": {
			single, func(s *stage) { s.event("e1", "Review"); s.account(home, accounts.Revoked) }, "evt_e1",
			[]string{"planned ACTIVE>PENDING ", "failed PENDING>PENDING the account must be linked again"},
		},
		"refused": {
			single, func(s *stage) { s.refuse("events.patch"); s.event("e1", "Review") }, "evt_e1",
			[]string{"planned ACTIVE>PENDING ", "failed PENDING>ERROR provider"},
		},
		"in another overlay calendar": {overlay, func(s *stage) {
			s.must(s.google.AddCalendar(google.Calendar{ID: "second", Owner: home}))
			now := s.person()
			s.deleteCalendar(now.CalendarID)
			now.CalendarID = "second"
			s.event("e1", "Review")
			s.record(now)
		}, "evt_e1", []string{
			"planned ACTIVE>PENDING ", "planned PENDING>PENDING the account has another overlay calendar", "planned PENDING>PENDING ",
			"written PENDING>ACTIVE ",
		}},
		"its series is left alone": {func(s *stage) {
			series(s)
			m := s.only()
			s.event("e2", "Late", second, func(e *mirror.Event) { e.Start, e.End = at("2026-03-12T15:00:00Z"), at("2026-03-12T16:00:00Z") })
			s.set(mirror.Path(m.ID), store.Set("state", string(mirror.Suppressed)), store.Set("due", nil))
		}, func(*stage) {}, "evt_e2", []string{"planned PENDING>SUPPRESSED its series is left alone"}},
		"an occurrence is cancelled": {
			series, func(s *stage) { s.event("e2", "Weekly", second, dropped) }, "evt_e2",
			[]string{"planned >PENDING ", "written PENDING>ACTIVE "},
		},
		"an occurrence is cancelled that the copy lacks": {series, func(s *stage) {
			s.must(s.google.Control().Plant(control.Rule{Match: "events.instances", Body: []byte(`{"items":[]}`), Times: 1}))
			s.event("e2", "Weekly", second, dropped)
		}, "evt_e2", []string{"planned >PENDING ", "written PENDING>ACTIVE there is no such occurrence"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			before := 0
			if row.begin != nil {
				row.begin(s)
				before = len(s.steps(row.event))
			}
			row.do(s)
			s.run(2 * time.Minute)
			if got := s.steps(row.event)[before:]; !slices.Equal(got, row.want) {
				t.Errorf("the journal says %q, want %q", got, row.want)
			}
		})
	}
}
