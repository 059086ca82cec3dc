package notify_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"questscheduler/demo/sim/control"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/notify"
)

// tally keeps the events that it counts.
type tally struct{ counted []string }

// count is a meter.Meter.
func (c *tally) count(event any) {
	switch event := event.(type) {
	case notify.Announced:
		c.counted = append(c.counted, fmt.Sprintf("%s after %s", event.Notice, event.After.Round(time.Second)))
	case notify.ChannelRefused:
		c.counted = append(c.counted, fmt.Sprintf("%s refused: %s", event.Channel, event.Code))
	}
}

func TestMeter_AnnouncementsAndRefusals_AreCounted(t *testing.T) {
	t.Parallel()
	w := announced(t)
	count := &tally{}
	w.announcer.Meter = count.count
	w.move(moved)
	w.want("gm", 0)
	w.mustEnd()
	w.checkCard() // which delivers nothing twice
	w.plant(control.Rule{Match: "messages.*", Status: 403, Reason: "50001"})
	w.restore()
	w.want("gm", 0)
	w.mustEnd()
	want := []string{
		"SESSION_RESCHEDULED after 0s", "discord refused: missing_access", "SESSION_RESTORED after 0s", "card refused: missing_access",
	}
	if !slices.Equal(count.counted, want) {
		t.Errorf("it counted %q, want %q", count.counted, want)
	}
}

func TestMeter_ResentMessage_IsNotCountedAgain(t *testing.T) {
	t.Parallel()
	w := announced(t)
	count := &tally{}
	w.announcer.Meter = count.count
	w.plant(control.Rule{Match: "messages.create", Status: 403, Reason: "50001", Times: 1})
	w.move(moved)
	w.want("gm", 0)
	w.mustEnd()
	w.clock.add(time.Hour)
	again := poll.ResendUpdates(w.announcement(), w.clock.Now())
	w.write(func(tx store.Tx) error { return tx.Update(poll.AnnouncementPath(pollID), again...) })
	w.checkCard()
	if got := len(w.messages(channel)); got != 1 {
		t.Errorf("%d messages are in the channel, want the resent one", got)
	}
	w.restore()
	w.want("gm", 0)
	w.mustEnd()
	want := []string{"discord refused: missing_access", "SESSION_RESCHEDULED after 0s", "SESSION_RESTORED after 0s"}
	if !slices.Equal(count.counted, want) {
		t.Errorf("it counted %q, want %q", count.counted, want)
	}
}
