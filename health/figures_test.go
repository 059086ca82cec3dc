package health_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/health"
	"questscheduler/internal/worldtest"
	"questscheduler/rules"
)

// figures are those of a world now.
func figures(t *testing.T, w *worldtest.World) health.Figures {
	t.Helper()
	got, err := w.Health.Figures(w.Context())
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// empty are the figures of a server that is well.
var empty = health.Figures{Failing: map[fault.Kind]int{}, Errors: map[rules.ErrorCode]int{}}

func wantFigures(t *testing.T, w *worldtest.World, when string, want health.Figures) {
	t.Helper()
	got := figures(t, w)
	if got.FailingSince.IsZero() == (len(want.Failing) > want.Failing[fault.Revoked]) {
		t.Errorf("%s looks fail since %v", when, got.FailingSince)
	}
	got.FailingSince = time.Time{}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s the figures are %+v, want %+v", when, got, want)
	}
}

func TestFigures_OfAServerThatIsWell_AreNone(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	wantFigures(t, w, "without a poll", empty)
	w.Finalised()
	w.FinalisedBy("ana")
	w.Run(time.Minute)
	wantFigures(t, w, "with two followed calendars", empty)
	w.RunTimers(20*24*time.Hour, time.Hour)
	wantFigures(t, w, "after twenty days", empty)
}

func TestFigures_CountChannelsThatAreNotRenewed(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, _ := w.Finalised()
	w.Finalised() // in the same calendar
	w.Refuse("events.watch", http.StatusServiceUnavailable, "backendError", 0)
	w.RunTimers(6*24*time.Hour-time.Hour, time.Hour)
	failed := empty
	wantFigures(t, w, "a day before the end, while the channel still lives", failed)
	w.RunTimers(2*time.Hour, time.Hour)
	failed.WatchesEnding, failed.WatchesFailed = 1, 1
	wantFigures(t, w, "on the last day", failed)
	w.RunTimers(2*24*time.Hour, time.Hour)
	failed.WatchesEnding = 0
	wantFigures(t, w, "after its end", failed)
	w.Heal()
	w.RunTimers(12*time.Hour, time.Hour)
	wantFigures(t, w, "when Google grants one again", empty)
	if _, err := w.Cancel(pollID); err != nil {
		t.Fatal(err)
	}
}

func TestFigures_CountWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	_, _, event := w.Finalised()
	w.Run(time.Minute)
	w.Refuse("events.list", http.StatusForbidden, "quotaExceeded", 0)
	w.MoveEvent("gm", event, worldtest.Noon)
	w.Run(time.Minute)
	want := empty
	want.Failing, want.Parked = map[fault.Kind]int{fault.Exhausted: 1}, 1
	wantFigures(t, w, "while the quota is used up", want)
	w.Heal()
	w.Run(2 * time.Hour)
	wantFigures(t, w, "when it is not any more", empty)
}

func TestFigures_CountWhatWaitsForPeople(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	_, _, event := w.Finalised()
	w.Run(time.Minute)
	w.Revoke("gm")
	w.MoveEvent("gm", event, worldtest.Noon)
	w.Run(time.Hour)
	want := empty
	want.Failing = map[fault.Kind]int{fault.Revoked: 1}
	want.Revoked, want.Errors = 1, map[rules.ErrorCode]int{rules.TokenExpired: 1}
	wantFigures(t, w, "while a grant is refused", want)
}
