package mirrors_test

import (
	"fmt"
	"testing"
	"time"

	"questscheduler/demo/sim/control"
	"questscheduler/internal/accounts"
	"questscheduler/internal/mirror"
	"questscheduler/internal/test/storetest"
)

// Each row is what the writer has to do for all mirrors once, the calls that it makes for that and
// the documents that it may read and write at most.
func TestWriter_EachStep_CostsNoMoreThanItsCalls(t *testing.T) {
	t.Parallel()
	cost := func(reads, writes, deletes int) storetest.Cost {
		return storetest.Cost{Reads: reads, Writes: writes, Deletes: deletes}
	}
	second := exception("e1", at("2026-03-12T09:00:00Z"))
	moved := func(e *mirror.Event) { e.Start, e.End = at("2026-03-12T15:00:00Z"), at("2026-03-12T16:00:00Z") }
	single := func(s *stage) { s.event("e1", "Stand-up"); s.run(time.Minute) }
	changed := func(s *stage) { single(s); s.event("e1", "Review") }
	lost := func(s *stage) {
		s.must(s.google.Control().Plant(control.Rule{Match: "events.insert", LostAnswer: true, Times: 1}))
		s.event("e1", "Stand-up")
		s.write(s.writer, s.only())
		s.must(s.clock.Advance(time.Hour))
	}
	overlay := func(s *stage) { s.toOverlay(); s.event("e1", "Stand-up") }
	deleted := func(s *stage) {
		overlay(s)
		s.run(2 * time.Minute)
		s.deleteCalendar(s.overlays()[0].ID)
		s.event("e1", "Review")
	}
	for name, row := range map[string]struct {
		begin func(s *stage)
		calls string
		most  storetest.Cost
	}{
		"nothing":                {single, "map[]", cost(3, 0, 0)},
		"create":                 {func(s *stage) { s.event("e1", "Stand-up") }, "map[events.insert:1]", cost(4, 3, 0)},
		"change":                 {changed, "map[events.patch:1]", cost(4, 2, 0)},
		"delete":                 {func(s *stage) { single(s); s.edges = nil; s.plan("e1@google.com") }, "map[events.delete:1]", cost(14, 1, 1)},
		"forget":                 {func(s *stage) { s.event("e1", "Stand-up"); s.edges = nil; s.plan("e1@google.com") }, "map[]", cost(14, 1, 1)},
		"wait for the account":   {func(s *stage) { changed(s); s.account(home, accounts.Revoked) }, "map[]", cost(7, 2, 0)},
		"adopt":                  {lost, "map[events.get:1 events.insert:1]", cost(4, 2, 0)},
		"adopt and change":       {func(s *stage) { lost(s); s.event("e1", "Review") }, "map[events.get:1 events.insert:1 events.patch:1]", cost(8, 3, 0)},
		"refused":                {func(s *stage) { changed(s); s.refuse("events.patch") }, "map[events.patch:1]", cost(7, 2, 0)},
		"change after a person":  {func(s *stage) { changed(s); s.change(s.atHome(), "Mine") }, "map[events.get:1 events.patch:2]", cost(9, 4, 0)},
		"change what is deleted": {func(s *stage) { changed(s); s.delete(s.atHome()) }, "map[events.get:1 events.insert:1 events.patch:1]", cost(16, 6, 0)},
		"move an occurrence": {func(s *stage) {
			s.event("e1", "Weekly", weekly)
			s.run(time.Minute)
			s.event("e2", "Late", second, moved)
		}, "map[events.instances:1 events.patch:1]", cost(13, 3, 0)},
		"create a series with an exception": {func(s *stage) {
			s.event("e1", "Weekly", weekly)
			s.event("e2", "Late", second, moved)
		}, "map[events.insert:1]", cost(16, 5, 0)},
		"create in an overlay calendar":    {overlay, "map[calendarList.list:1 calendars.insert:1 events.insert:1]", cost(13, 6, 0)},
		"leave a deleted overlay calendar": {deleted, "map[calendarList.list:1 events.get:1 events.list:1 events.patch:1]", cost(20, 4, 0)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			row.begin(s)
			counter := storetest.Count(s.memory)
			s.writer.Store = counter
			s.google.Control().ResetCalls()
			for _, m := range s.mirrors() {
				s.write(s.writer, m)
			}
			calls, cost := fmt.Sprint(s.google.Control().Calls()), counter.Reset()
			if calls != row.calls || !cost.Within(row.most) {
				t.Errorf("it made the calls %s, want %s, and costs %+v, want at most %+v", calls, row.calls, cost, row.most)
			}
		})
	}
}
