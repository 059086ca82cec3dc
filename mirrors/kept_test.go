package mirrors

import (
	"context"
	"testing"
	"time"

	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/internal/recurrence"
	"questscheduler/internal/store"
	"questscheduler/internal/test/memorystore"
	"questscheduler/mirrors/plan"
)

func TestIsKept_OfAnEventWithoutAMirror(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	documents, err := memorystore.Open(mirror.Queries)
	if err != nil {
		t.Fatal(err)
	}
	err = documents.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
		return tx.Set(mirror.KeptPath("mir_kept"), mirror.Encode(mirror.Mirror{TargetAccountID: "acc_ana", Ends: now}))
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name, mark string
		end        time.Time
		lines      []string
		want       bool
	}{
		{"kept on disconnecting", "mir_kept", now, nil, true},
		{"of nobody", "mir_other", now, nil, false},
		{"without a mark", "", now, nil, false},
		{"with a mark that is a path", "a/b", now, nil, false},
		{"that ended 29 days ago", "mir_other", now.Add(-29 * 24 * time.Hour), nil, false},
		{"that ended 31 days ago", "mir_other", now.Add(-31 * 24 * time.Hour), nil, true},
		{"whose series goes on", "mir_other", now.Add(-31 * 24 * time.Hour), []string{"RRULE:FREQ=DAILY"}, false},
	} {
		event := gcal.Event{
			Private: map[string]string{plan.MarkMirror: row.mark},
			Details: &gcal.Details{End: recurrence.Moment{Time: row.end}, Recurrence: row.lines},
		}
		if got, err := isKept(t.Context(), documents, event, now); err != nil || got != row.want {
			t.Errorf("%s: %t, %v, want %t", row.name, got, err, row.want)
		}
	}
}
