package mirrors_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/mirrors/plan"
	"questscheduler/rules"
)

// secondTool is another program that copies the events of two calendars into each other, ours
// included, and knows its own.
type secondTool struct {
	w     *world
	pair  [2]gcal.Ref
	made  map[string]bool   // its events
	copy  map[string]string // by what it copied
	title func(string) string
}

func newSecondTool(w *world, a, b string) *secondTool {
	return &secondTool{w: w, pair: [2]gcal.Ref{refTo(a), refTo(b)}, made: map[string]bool{}, copy: map[string]string{}, title: func(s string) string { return s }}
}

// run copies what has no copy yet, and returns how many events it made.
func (s *secondTool) run() (made int) {
	s.w.Helper()
	for i, from := range s.pair {
		for _, event := range s.w.live(from) {
			if s.made[event.ID] || s.copy[event.ID] != "" {
				continue
			}
			s.w.names++
			d := event.Details
			id := fmt.Sprintf("tool%d", s.w.names)
			_, err := s.w.full.InsertContent(s.w.ctx, s.pair[1-i], id, gcal.Content{
				Summary: s.title(d.Summary), Start: d.Start, End: d.End, Recurrence: d.Recurrence, Transparency: "opaque", Visibility: "default",
			}, nil)
			s.w.must(err)
			s.made[id], s.copy[event.ID] = true, id
			made++
		}
	}
	return made
}

// live are the events of a calendar, a series as one.
func (w *world) live(at gcal.Ref) (found []gcal.Event) {
	w.Helper()
	page, err := w.full.List(w.ctx, at, gcal.WithDetails, "", "")
	w.must(err)
	return slices.DeleteFunc(page.Events, func(e gcal.Event) bool { return e.EventState == rules.Gone || e.InstanceOf != "" })
}

// bothWays are edges between two accounts.
func bothWays(detail mirror.Detail) []mirror.Edge {
	return []mirror.Edge{
		{FromAccountID: work, ToAccountID: home, Detail: detail, Target: mirror.PrimaryTarget},
		{FromAccountID: home, ToAccountID: work, Detail: detail, Target: mirror.PrimaryTarget},
	}
}

// grow has a tool and ours take turns, and returns how many events both calendars have after each.
func (s *secondTool) grow(turns int) (sizes []int) {
	s.w.Helper()
	for range turns {
		s.run()
		s.w.sync(work)
		s.w.sync(home)
		sizes = append(sizes, len(s.w.live(s.pair[0]))+len(s.w.live(s.pair[1])))
	}
	return sizes
}

func TestSecondTool_CopiesOurCopies_IsStopped(t *testing.T) {
	t.Parallel()
	for name, title := range map[string]func(string) string{
		"equal":  func(s string) string { return s },
		"marked": func(s string) string { return "[copy] " + s },
	} {
		for _, detail := range []mirror.Detail{mirror.Busy, mirror.Title, mirror.Full} {
			for _, lines := range [][]string{nil, {"RRULE:FREQ=DAILY;COUNT=3"}} {
				t.Run(fmt.Sprint(name, detail, len(lines)), func(t *testing.T) {
					t.Parallel()
					w := newWorld(t)
					tool := newSecondTool(w, work, home)
					tool.title = title
					w.mirrorWork(bothWays(detail)...)
					w.sync(work)
					w.sync(home)
					w.insert(work, "Dentist", "2026-03-10T09:00:00Z", lines...)
					w.sync(work)
					sizes := tool.grow(12)
					t.Log("events in both calendars:", sizes)
					if tool.run() > 0 {
						t.Errorf("the second tool still finds something to copy: %v", sizes)
					}
				})
			}
		}
	}
}

var _ = time.Hour
var _ = plan.Copied
