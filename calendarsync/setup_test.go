package calendarsync_test

import (
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
)

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// stands fails where a poll is not at a time and in a sync state.
func stands(t *testing.T, w *worldtest.World, pollID string, state rules.State, start time.Time) {
	t.Helper()
	view := w.View(pollID)
	if view.Poll.Sync.State != state || view.Winning == nil || !view.Winning.Start.Equal(start) {
		t.Errorf("the poll is %s %q at %v, want %q at %v", view.Poll.Status, view.Poll.Sync.State, view.Winning, state, start)
	}
}

// atRest fails where an invariant is broken, with what was logged.
func atRest(t *testing.T, w *worldtest.World) {
	t.Helper()
	w.Check()
	if t.Failed() {
		t.Log(w.Log())
	}
}

var (
	ten, noon, three = worldtest.Ten, worldtest.Noon, worldtest.Three
	eight            = worldtest.Times("2026-03-10T08:00:00Z", time.Hour)
)

// fill makes a poll's document so large that nothing can be added to it.
func fill(t *testing.T, w *worldtest.World, pollID string) {
	t.Helper()
	document := w.Document(poll.Path(pollID))
	most := sort.Search(1<<20, func(n int) bool {
		document.Data["fieldOfTheWebApp"] = strings.Repeat("x", n)
		return store.CheckSize(document.Path, document.Data) != nil
	})
	w.Write(document.Path, poll.Set("fieldOfTheWebApp", strings.Repeat("x", most-1)))
}
