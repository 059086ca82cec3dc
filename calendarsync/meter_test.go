package calendarsync_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"questscheduler/calendarsync"
	"questscheduler/fault"
	"questscheduler/internal/test/worldtest"
	"questscheduler/scheduler"
)

// tally records the events that it counts.
type tally struct{ counted []string }

func (c *tally) note(format string, args ...any) {
	c.counted = append(c.counted, fmt.Sprintf(format, args...))
}

func outcome(err error) string {
	switch {
	case err == nil:
		return "ok"
	case errors.Is(err, scheduler.ErrFenced):
		return "overtaken"
	default:
		return fault.KindOf(err).String()
	}
}

// count is a meter.Meter.
func (c *tally) count(event any) {
	switch event := event.(type) {
	case calendarsync.Synced:
		c.note("sync by %s: %s", event.Trigger, outcome(event.Err))
	case calendarsync.WatchAsked:
		c.note("watch, renewal %t: %s", event.Renewal, outcome(event.Err))
	case calendarsync.WatchStopped:
		c.note("watch stopped")
	case calendarsync.PushRefused:
		c.note("push refused")
	}
}

// take returns the calls since the last take.
func (c *tally) take() []string {
	counted := c.counted
	c.counted = nil
	return counted
}

func (c *tally) want(t *testing.T, when string, want ...string) {
	t.Helper()
	if got := c.take(); !slices.Equal(got, want) {
		t.Errorf("%s it recorded %q, want %q", when, got, want)
	}
}

func TestMeter_CountsChannelsAndSyncs(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	count := &tally{}
	w.Watcher.Meter, w.Syncer.Meter = count.count, count.count
	pollID, _, event := w.Finalised()
	w.Run(time.Minute)
	if got := count.take(); !slices.Contains(got, "watch, renewal false: ok") || !slices.Contains(got, "sync by person: ok") {
		t.Errorf("when a poll is finalised it recorded %q", got)
	}
	w.MoveEvent("gm", event, worldtest.Noon)
	w.Run(time.Minute)
	count.want(t, "when an event is moved", "sync by push: ok")

	w.Refuse("events.list", http.StatusServiceUnavailable, "backendError", 1)
	w.MoveEvent("gm", event, worldtest.Times("2026-03-10T12:00:00Z", time.Hour))
	w.Run(time.Minute)
	count.want(t, "when Google does not answer once", "sync by push: unavailable", "sync by push: ok")

	if err := w.Watcher.Push(t.Context(), calendarsync.Push{ChannelID: "channel", Token: "token", State: "exists"}); err == nil {
		t.Error("a push of nobody is taken")
	}
	count.want(t, "when a push is forged", "push refused")

	w.Refuse("events.watch", http.StatusServiceUnavailable, "backendError", 1)
	w.Clock.Advance(6 * 24 * time.Hour)
	renew(t, w)
	count.want(t, "when a renewal fails", "watch, renewal true: unavailable")
	renew(t, w)
	count.want(t, "when it goes well", "watch, renewal true: ok", "watch stopped")

	_, err := w.Cancel(pollID)
	if err != nil {
		t.Fatal(err)
	}
	w.Run(time.Minute)
	count.take()
	renew(t, w)
	count.want(t, "when nothing follows the calendar", "watch stopped")
}
