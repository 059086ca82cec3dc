package mirrors

import (
	"testing"
	"time"

	"questscheduler/internal/gcal"
	"questscheduler/internal/recurrence"
)

func TestEndedLongAgo_OfAnEventWithoutADocument(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	for _, row := range []struct {
		name  string
		end   time.Time
		lines []string
		want  bool
	}{
		{"that ends now", now, nil, false},
		{"that ended 29 days ago", now.Add(-29 * 24 * time.Hour), nil, false},
		{"that ended 31 days ago", now.Add(-31 * 24 * time.Hour), nil, true},
		{"whose series goes on", now.Add(-31 * 24 * time.Hour), []string{"RRULE:FREQ=DAILY"}, false},
	} {
		event := gcal.Event{Details: &gcal.Details{End: recurrence.Moment{Time: row.end}, Recurrence: row.lines}}
		if got := endedLongAgo(event, now); got != row.want {
			t.Errorf("%s: %t, want %t", row.name, got, row.want)
		}
	}
	if endedLongAgo(gcal.Event{ID: "gone"}, now) {
		t.Error("of which nothing is known: true")
	}
}
