package scheduler_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/test/worldtest"
	"questscheduler/scheduler"
)

// sweepCards sweeps the cards to the end, and gives how many polls it checked.
func sweepCards(t *testing.T, w *worldtest.World) (checked int) {
	t.Helper()
	for at, pages := "", 0; ; pages++ {
		if pages > 100 {
			t.Fatal("it does not end")
		}
		n, next, err := w.Scheduler.SweepCards(w.Context(), at, worldtest.Cause)
		if err != nil {
			t.Fatal(err)
		}
		checked += n
		if next == "" {
			w.RunDue()
			return checked
		}
		at = next
	}
}

// cardOf is what the card of a poll shows; "" where it has none.
func cardOf(t *testing.T, w *worldtest.World, pollID string) string {
	t.Helper()
	for _, message := range w.Discord.Messages(worldtest.Channel) {
		if slices.ContainsFunc(message.Components, func(c json.RawMessage) bool { return strings.Contains(string(c), pollID) }) &&
			len(message.Embeds) > 0 {
			return string(message.Embeds[0])
		}
	}
	return ""
}

// No document change is reported for any of these writes.
func TestSweepCards_FindsWhatWasWrittenSince(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{Settings: worldtest.Settings{Discord: true}})
	group := w.Party()
	pollID, slots := w.PollOf("gm", scheduler.Create{GroupID: group})
	w.Run(time.Hour)
	sweepCards(t, w)
	for _, c := range []struct {
		name  string
		write func()
		id    string
		show  string
	}{
		{"a poll that was made", func() {
			w.Write(poll.Path("made"), poll.Set("title", "Made by the app"), poll.Set("creatorId", "gm"), poll.Set("status", "OPEN"),
				poll.Set("questingGroupId", group), poll.Set("createdAt", w.Clock.Now()))
		}, "made", "Made by the app"},
		{"another title", func() {
			w.Write(poll.Path(pollID), poll.Set("title", "Session ten"), poll.Set("updatedAt", w.Clock.Now()))
		}, pollID, "Session ten"},
		{"a vote", func() {
			w.Write(poll.VotePath(pollID, "gm"), poll.Set("voterId", "gm"),
				poll.Set("votes", map[string]any{slots[0]: poll.Feasible}), poll.Set("updatedAt", w.Clock.Now()))
		}, pollID, "4/4 voted"},
	} {
		c.write()
		w.Run(time.Hour)
		if n := sweepCards(t, w); n != 1 {
			t.Errorf("%s: it checks %d polls", c.name, n)
		}
		if shown := cardOf(t, w, c.id); !strings.Contains(shown, c.show) {
			t.Errorf("%s: the card shows %s", c.name, shown)
		}
	}
	w.Run(time.Hour)
	if n := sweepCards(t, w); n != 0 {
		t.Errorf("where nothing was written it checks %d polls", n)
	}
}

func TestSweepCards_OfManyPolls_GoesPageByPage(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{Settings: worldtest.Settings{Discord: true}})
	group := w.Party()
	const many = 250
	for i := range many { // of one instant, as a backfill writes them
		w.Write(poll.Path(fmt.Sprintf("poll-%03d", i)), poll.Set("title", "Many"), poll.Set("status", "OPEN"),
			poll.Set("questingGroupId", group), poll.Set("createdAt", w.Clock.Now()))
	}
	if n := sweepCards(t, w); n != many {
		t.Errorf("it checks %d polls", n)
	}
	if n := len(w.Discord.Messages(worldtest.Channel)); n != many {
		t.Errorf("there are %d cards", n)
	}
}

// A server that draws the cards from now on comes by what was written long ago.
func TestSweepCards_FirstOne_ChecksEveryPollOfGroups(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{Settings: worldtest.Settings{Discord: true}})
	group := w.Party()
	for i := range 3 {
		w.Write(poll.Path(fmt.Sprintf("old-%d", i)), poll.Set("title", "Written long ago"), poll.Set("status", "OPEN"),
			poll.Set("questingGroupId", group), poll.Set("createdAt", w.Clock.Now().AddDate(-i, 0, -2)))
	}
	w.Run(time.Hour)
	if n := sweepCards(t, w); n != 3 {
		t.Errorf("it checks %d polls", n)
	}
	if n := len(w.Discord.Messages(worldtest.Channel)); n != 3 {
		t.Errorf("there are %d cards", n)
	}
	w.Run(time.Hour)
	if n := sweepCards(t, w); n != 0 {
		t.Errorf("the next one checks %d polls", n)
	}
}
