package calendarsync_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"questscheduler/demo/sim/control"
	"questscheduler/internal/calendars"
	"questscheduler/internal/test/worldtest"
)

// planned fails every event.
func planned(string) error { return errors.New("planned") }

// Once more events failed than are kept one by one, everything is listed anew: what would follow in
// this run is not tried, and the others' events go on.
func TestBacklog_Full_EndsTheRunForTheConsumerAlone(t *testing.T) {
	t.Parallel()
	c, steady := &worldtest.Consumer{Name: "one"}, &worldtest.Consumer{Name: "steady"}
	w := worldtest.New(t, worldtest.Options{PageSize: 250, Shared: true, Consumers: []*worldtest.Consumer{c, steady}})
	w.Finalised()
	follow(t, w, c, "gm", 1)
	follow(t, w, steady, "gm", 1)
	w.Run(time.Minute)
	c.Applied, steady.Applied = nil, nil
	insert(w, "gm", calendars.MaxBacklog+20)
	for len(w.Google.PendingPushes()) > 1 {
		w.LosePushes()
	}
	w.Sweep()
	c.Fails = planned
	w.RunDue()
	equal(t, "given to the one that fails", len(c.Applied), calendars.MaxBacklog+1)
	equal(t, "given to the other one", len(steady.Applied), calendars.MaxBacklog+20)
	equal(t, "a full listing is requested", w.Calendar("gm").Backlogs["one"].Relist.IsZero(), false)
}

// A listing for one consumer alone ends where that takes no more, and is made again.
func TestRelist_ForAConsumerThatFails_ListsNoFurther(t *testing.T) {
	t.Parallel()
	c := &worldtest.Consumer{Name: "one"}
	w := worldtest.New(t, worldtest.Options{PageSize: 250, Shared: true, Consumers: []*worldtest.Consumer{c}})
	w.Finalised()
	w.Run(time.Minute)
	insert(w, "gm", 3*250+10)
	w.LosePushes()
	w.Sweep()
	w.Run(time.Minute)
	c.Fails = planned
	before := w.Calls("events.list")
	follow(t, w, c, "gm", 1)
	w.Run(10 * time.Second)
	equal(t, "events that were tried", len(c.Applied), calendars.MaxBacklog+1)
	equal(t, "pages, the first one of changes", w.Calls("events.list")-before, 1+3)
	equal(t, "decisions about what was not listed", c.Relisted, 0)
	equal(t, "a full listing is requested", w.Calendar("gm").Backlogs["one"].Relist.IsZero(), false)
	equal(t, "warnings", strings.Count(w.Log(), `"a consumer failed"`), 1)
	c.Fails = nil
	w.Run(2 * time.Hour)
	equal(t, "decisions once it takes them", c.Relisted, 1)
	read(t, w)
}

// What was deferred and comes with a page is applied by that: it is not fetched.
func TestPageConsumer_OfADeferredEvent_SettlesIt(t *testing.T) {
	t.Parallel()
	w, c, p, ids := inPages(t, 3)
	follow(t, w, c, "gm", 1)
	w.Run(time.Minute)
	c.Fails = planned
	w.PatchEvent("gm", ids[1], map[string]any{"summary": "Changed"})
	w.RunDue()
	equal(t, "deferred", len(w.Calendar("gm").Backlogs["one"].Deferred), 1)
	c.Fails, p.given = nil, nil
	fetched := w.Calls("events.get")
	w.PatchEvent("gm", ids[1], map[string]any{"summary": "Changed again"})
	for len(p.given) == 0 {
		if !w.Step() {
			w.Skip(time.Second)
		}
	}
	w.RunDue()
	same(t, "together", p.given[:1], []string{"changes: " + ids[1]})
	equal(t, "deferred after it", len(w.Calendar("gm").Backlogs["one"].Deferred), 0)
	equal(t, "events that were fetched", w.Calls("events.get")-fetched, 0)
	read(t, w)
}

// An event that Google does not show delays no other one, unless it answers the account nothing now.
func TestDeferredEvents_OneIsRefused_TheOthersAreFetched(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		rule        control.Rule
		calls, left int
	}{
		"all are shown":           {control.Rule{Match: "events.get", Event: "another", Status: 400}, 3, 0},
		"the event is refused":    {control.Rule{Match: "events.get", Event: "event0", Status: 400}, 3, 1},
		"the account is too busy": {control.Rule{Match: "events.get", Status: 429, Reason: "rateLimitExceeded"}, 1, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			w.Finalised()
			w.Run(time.Minute)
			key := w.CalendarKey("gm")
			for n := range 3 {
				w.Write(calendars.Path(key), calendars.Defer(fmt.Sprint("event", n), calendars.DeferredCommand, w.Clock.Now()))
			}
			w.Write(calendars.Path(key), calendars.RequestSync(calendars.Request{At: w.Clock.Now(), Trigger: "person"})...)
			if err := w.Google.Control().Plant(row.rule); err != nil {
				t.Fatal(err)
			}
			before := w.Calls("events.get")
			if _, err := w.Outbox.Run(t.Context(), calendars.SyncKind, key); err != nil {
				t.Fatal(err)
			}
			equal(t, "calls", w.Calls("events.get")-before, row.calls)
			equal(t, "left to a later run", len(w.Calendar("gm").DeferredEvents()), row.left)
		})
	}
}
