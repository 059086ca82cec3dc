package calendarsync_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"questscheduler/fault"
	"questscheduler/internal/worldtest"
	"questscheduler/poll"
	"questscheduler/rules"
)

// chronicle is a history under way: a world with two polls of gm.
type chronicle struct {
	t     *rapid.T
	w     *worldtest.World
	polls [2]struct {
		id    string
		slots []string
	}
}

func (c *chronicle) pick() int { return rapid.IntRange(0, len(c.polls)-1).Draw(c.t, "poll") }

func (c *chronicle) pollID() string { return c.polls[c.pick()].id }

func (c *chronicle) slot(i int) string { return rapid.SampledFrom(c.polls[i].slots).Draw(c.t, "slot") }

func (c *chronicle) time() worldtest.Slot {
	return rapid.SampledFrom([]worldtest.Slot{noon, three, eight}).Draw(c.t, "time")
}

// command passes over what may be refused.
func (c *chronicle) command(_ any, err error) {
	if err != nil && fault.Is(err, fault.Internal) {
		c.t.Fatalf("a command failed in a way that nobody foresaw: %v", err)
	}
}

// event acts on one of the live events, if there is one.
func (c *chronicle) event(do func(id string)) {
	if events := c.w.Events("gm"); len(events) > 0 {
		do(rapid.SampledFrom(events).Draw(c.t, "event").ID)
	}
}

func (c *chronicle) must(err error) {
	if err != nil {
		c.t.Fatalf("%v", err)
	}
}

// live does one deed; where the program dies in it, another one takes over.
func (c *chronicle) live(name string) {
	lived, point := c.w.Survives(func() { deeds[name](c) })
	if !lived {
		c.t.Logf("it died %s", point)
		c.w.TakeOver()
	}
	for _, problem := range c.w.Problems() {
		c.t.Errorf("after %q: %s", name, problem)
	}
}

// settle ends all faults and lets the world come to rest, by a sweep alone.
func (c *chronicle) settle() {
	c.w.Calm()
	c.w.Heal()
	c.w.Link("gm")
	c.w.LosePushes()
	for _, p := range c.w.Polls() {
		if p.Status == rules.Archived { // what is put away is looked at when it is brought back
			c.command(c.w.Scheduler.Unarchive(c.w.Context(), worldtest.Person("gm"), p.ID, worldtest.Cause))
		}
	}
	c.w.Run(11 * time.Minute) // what an account without a grant waits for
	c.w.LosePushes()
	c.w.Sweep()
	c.w.Run(3 * time.Minute)
}

// Whatever happens in whatever order: the invariants hold after each step, and
// once the faults are over one sweep brings poll and calendar together.
func TestHistories(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := worldtest.New(t, worldtest.Options{Draw: func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "draw") }})
		c := &chronicle{t: t, w: w}
		for i := range c.polls {
			c.polls[i].id, c.polls[i].slots = w.Poll()
		}
		for range rapid.IntRange(1, 14).Draw(t, "deeds") {
			c.live(rapid.SampledFrom(names(deeds)).Draw(t, "deed"))
		}
		c.settle()
		for _, problem := range w.Problems() {
			t.Errorf("at the end: %s", problem)
		}
		if intents := w.Intents(); len(intents) > 0 {
			t.Errorf("at the end intents are left: %+v", intents)
		}
		for _, p := range w.Polls() {
			c.compare(p)
		}
	})
}

// compare fails where a poll and its event tell different stories, or people
// were told another one.
func (c *chronicle) compare(p poll.Poll) {
	if said := c.w.Disagreement(p); said != "" {
		c.t.Errorf("at the end: %s", said)
	}
	if p.Sync.Error != nil && p.Sync.Error.Code != rules.RecurringUnsupported {
		c.t.Errorf("at the end poll %s shows the error %+v", p.ID, p.Sync.Error)
	}
	told, err := poll.LoadAnnouncement(c.w.Context(), c.w.Documents, p.ID)
	c.must(err)
	winning, err := poll.LoadSlot(c.w.Context(), c.w.Documents, p.ID, p.WinningSlotID)
	c.must(err)
	if notice := rules.Announce(told.Announced.Story, p.Story(winning)); notice != rules.NoticeNone {
		c.t.Errorf("at the end poll %s has %s still to be told: %s", p.ID, notice, fmt.Sprint(told))
	}
}
