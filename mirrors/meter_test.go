package mirrors_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"questscheduler/demo/sim/control"
	"questscheduler/internal/mirror"
	"questscheduler/mirrors"
)

// tally keeps what it counts, as text.
type tally struct{ counted []string }

// count is a meter.Meter.
func (c *tally) count(event any) {
	text := fmt.Sprintf("%T", event)
	switch event := event.(type) {
	case mirrors.Failed:
		text += " " + event.Kind.String()
	case mirrors.Observed:
		text += " " + string(event.Verdict)
	}
	c.counted = append(c.counted, text)
}

// Each row is something that happens to mirrors of a person, and what the meter counts of it.
func TestMeter_WhatBecomesOfMirrors_IsCounted(t *testing.T) {
	t.Parallel()
	shown := func(s *stage) { s.event("e1", "Stand-up"); s.run(time.Minute) }
	for name, row := range map[string]struct {
		begin, do func(s *stage)
		want      []string
	}{
		"created":  {do: shown, want: []string{"mirrors.Written"}},
		"changed":  {shown, func(s *stage) { s.event("e1", "Retrospective") }, []string{"mirrors.Written"}},
		"unwanted": {shown, func(s *stage) { s.edges = nil; s.plan("e1@google.com") }, []string{"mirrors.Deleted"}},
		"unwanted, and deleted by a person": {shown, func(s *stage) {
			s.delete(s.atHome())
			s.edges = nil
			s.plan("e1@google.com")
		}, nil},
		"left with its account": {shown, func(s *stage) { s.must(s.leave(home, 0)) }, []string{"mirrors.Deleted"}},
		"refused":               {shown, func(s *stage) { s.refuse("events.patch"); s.event("e1", "Retrospective") }, []string{"mirrors.Failed provider"}},
		"not answered once": {shown, func(s *stage) {
			s.must(s.google.Control().Plant(control.Rule{Match: "events.patch", Status: 503, Times: 1}))
			s.event("e1", "Retrospective")
		}, []string{"mirrors.Failed unavailable", "mirrors.Written"}},
		"in an overlay calendar": {nil, func(s *stage) { s.toOverlay(); shown(s) }, []string{"mirrors.OverlayCreated", "mirrors.Written"}},
		"changed by a person, found by the writer": {shown, func(s *stage) {
			s.change(s.atHome(), "Mine")
			s.event("e1", "Retrospective")
		}, []string{"mirrors.Observed drift", "mirrors.Written"}},
		"changed by a person, found by the reconciliation": {shown, func(s *stage) {
			s.followed(homeMail)
			s.change(s.atHome(), "Mine")
			s.must(s.clock.Advance(time.Hour))
			s.reconcile(false)
		}, []string{"mirrors.Observed drift", "mirrors.Written"}},
		"a stray": {nil, func(s *stage) { s.followed(homeMail); s.stray(1, "here"); s.reconcile(false) }, []string{"mirrors.StrayDeleted"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			if row.begin != nil {
				row.begin(s)
			}
			count := &tally{}
			s.writer.Meter = count.count
			row.do(s)
			s.run(2 * time.Minute)
			if !slices.Equal(count.counted, row.want) {
				t.Errorf("counted are %q, want %q\n%s", count.counted, row.want, s.log.String())
			}
		})
	}
}

// What sync runs see of mirrors is counted, of those on a page as well.
func TestMeter_SyncRunsSeeMirrors_AreCounted(t *testing.T) {
	t.Parallel()
	for _, mirrored := range []int{1, 12} {
		w := newMirroringWorld(t)
		for i := range mirrored {
			w.insert(work, fmt.Sprint("Event ", i), thursday)
		}
		w.sync(work)
		count := &tally{}
		w.service.Meter = count.count
		w.change(w.shown(home, homeMail)[0], "Mine")
		w.sync(home)
		want := append(slices.Repeat([]string{"mirrors.Observed echo"}, mirrored-1), "mirrors.Observed drift", "mirrors.Written")
		if !slices.Equal(count.counted, want) {
			t.Errorf("of %d counted are %q", mirrored, count.counted)
		}
		for _, m := range w.mirrors() {
			if m.State != mirror.Active {
				t.Errorf("the mirror is %+v", m)
			}
		}
	}
}
