package notify_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/sim/control"
	"questscheduler/internal/store"
	"questscheduler/rules"
)

// tally is a Meter that writes down what it is told.
type tally struct{ told []string }

func (c *tally) Announced(notice rules.Notice, after time.Duration) {
	c.told = append(c.told, fmt.Sprintf("%s after %s", notice, after.Round(time.Second)))
}

func (c *tally) DiscordRefused(channel, code string) {
	c.told = append(c.told, fmt.Sprintf("%s refused: %s", channel, code))
}

func TestMeter_IsToldOfWhatPeopleWereToldAndOfWhatDiscordRefused(t *testing.T) {
	t.Parallel()
	w := announced(t)
	count := &tally{}
	w.announcer.Meter = count
	w.move(moved)
	w.want("gm", 0)
	w.mustEnd()
	w.mustEnd() // which tells nothing twice
	w.plant(control.Rule{Match: "messages.*", Status: 403, Reason: "50001"})
	w.restore()
	w.want("gm", 0)
	w.mustEnd()
	want := []string{
		"SESSION_RESCHEDULED after 0s", "discord refused: missing_access", "SESSION_RESTORED after 0s", "card refused: missing_access",
	}
	if !slices.Equal(count.told, want) {
		t.Errorf("it is told %q, want %q", count.told, want)
	}
}

func TestMeter_IsNotToldAgain_OfWhatIsToldOnceMore(t *testing.T) {
	t.Parallel()
	w := announced(t)
	count := &tally{}
	w.announcer.Meter = count
	w.plant(control.Rule{Match: "messages.create", Status: 403, Reason: "50001", Times: 1})
	w.move(moved)
	w.want("gm", 0)
	w.mustEnd()
	w.clock.add(time.Hour)
	again := poll.ResendUpdates(w.announcement(), w.clock.Now())
	w.write(func(tx store.Tx) error { return tx.Update(poll.AnnouncementPath(pollID), again...) })
	w.mustEnd()
	if got := len(w.lines(channel)); got != 1 {
		t.Errorf("%d lines are in the channel, want that which is told once more", got)
	}
	w.restore()
	w.want("gm", 0)
	w.mustEnd()
	want := []string{"discord refused: missing_access", "SESSION_RESCHEDULED after 0s", "SESSION_RESTORED after 0s"}
	if !slices.Equal(count.told, want) {
		t.Errorf("it is told %q, want %q", count.told, want)
	}
}
