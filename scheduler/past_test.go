package scheduler_test

import (
	"testing"
	"time"

	"questscheduler/internal/worldtest"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// What a past session's event does decides nothing. Each time that it looks
// otherwise is an entry, and what is handed over again is none.
func TestApply_OfAPastSession_WritesEachChangeOnce(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := finalised(w)
	w.Skip(worldtest.Ten.End.Sub(w.Clock.Now()) + 30*time.Hour)
	account := w.Account("gm")
	made := w.Clock.Now()
	noon, eight := timeOf(worldtest.Noon), timeOf(worldtest.Times("2026-03-10T08:00:00Z", time.Hour))
	for i, step := range []struct {
		what    string
		seen    rules.Seen
		at      rules.Fingerprint
		updated time.Duration
		entries int // that there are afterwards, beside the finalisation
	}{
		{"as it was", rules.Present, timeOf(worldtest.Ten), 0, 0},
		{"moved", rules.Present, noon, time.Second, 1},
		{"the same again", rules.Present, noon, time.Second, 1},
		{"another title", rules.Present, noon, 2 * time.Second, 1},
		{"moved on", rules.Present, eight, 3 * time.Second, 2},
		{"late news of before", rules.Present, noon, 2 * time.Second, 2},
		{"moved back", rules.Present, timeOf(worldtest.Ten), 4 * time.Second, 3},
		{"a series", rules.Series, rules.Fingerprint{}, 5 * time.Second, 4},
		{"deleted", rules.Gone, rules.Fingerprint{}, 6 * time.Second, 5},
		{"still deleted", rules.Gone, rules.Fingerprint{}, 0, 5},
		{"undeleted", rules.Present, noon, 7 * time.Second, 6},
	} {
		for range 2 {
			_, err := w.Scheduler.Apply(t.Context(), scheduler.Observed{
				AccountID: account, CalendarID: "gm@example.com", EventID: s.event, Seen: step.seen, Fingerprint: step.at,
				Updated: made.Add(step.updated), Own: true, Cause: worldtest.Cause,
			})
			if err != nil {
				t.Fatal(err)
			}
			if entries := len(w.Journal(s.poll)) - 1; entries != step.entries {
				t.Fatalf("after step %d (%s) there are %d entries, want %d", i, step.what, entries, step.entries)
			}
		}
	}
	w.Check()
}

func timeOf(slot worldtest.Slot) rules.Fingerprint { return rules.Timed(slot.Start, slot.End) }
