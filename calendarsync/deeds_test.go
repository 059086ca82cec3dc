package calendarsync_test

import (
	"errors"
	"time"

	"pgregory.net/rapid"

	"questscheduler/fault"
	"questscheduler/internal/worldtest"
	"questscheduler/poll"
)

// deeds are what can happen in a history, by name. A command that is refused
// and an act without an event to act on are no deeds.
var deeds = map[string]func(c *chronicle){
	"finalise": func(c *chronicle) { i := c.pick(); c.command(c.w.Finalise(c.polls[i].id, c.slot(i))) },
	"cancel":   func(c *chronicle) { c.command(c.w.Cancel(c.pollID())) },
	"reopen": func(c *chronicle) {
		c.command(c.w.Scheduler.Reopen(c.w.Context(), worldtest.Person("gm"), c.pollID(), true, worldtest.Cause))
	},
	"restore the original time": func(c *chronicle) {
		c.command(c.w.Scheduler.RestoreOriginal(c.w.Context(), worldtest.Person("gm"), c.pollID(), worldtest.Cause))
	},
	"accept the new time": func(c *chronicle) {
		p, err := poll.Load(c.w.Context(), c.w.Documents, c.pollID())
		c.must(err)
		c.command(c.w.Scheduler.AcceptNew(c.w.Context(), worldtest.Person("gm"), p.ID, p.Sync.Applied.String(), worldtest.Cause))
	},
	"archive": func(c *chronicle) {
		c.command(c.w.Scheduler.Archive(c.w.Context(), worldtest.Person("gm"), c.pollID(), worldtest.Cause))
	},
	"unarchive": func(c *chronicle) {
		c.command(c.w.Scheduler.Unarchive(c.w.Context(), worldtest.Person("gm"), c.pollID(), worldtest.Cause))
	},
	"move":          func(c *chronicle) { c.event(func(id string) { c.w.MoveEvent("gm", id, c.time()) }) },
	"move back":     func(c *chronicle) { c.event(func(id string) { c.w.MoveEvent("gm", id, ten) }) },
	"all day":       func(c *chronicle) { c.event(func(id string) { c.w.PatchEvent("gm", id, wholeDay) }) },
	"make it recur": func(c *chronicle) { c.event(func(id string) { c.w.PatchEvent("gm", id, weekly) }) },
	"make it single": func(c *chronicle) {
		c.event(func(id string) { c.w.PatchEvent("gm", id, map[string]any{"recurrence": nil}) })
	},
	"edit the title": func(c *chronicle) {
		c.event(func(id string) { c.w.PatchEvent("gm", id, map[string]any{"summary": "x"}) })
	},
	"delete":          func(c *chronicle) { c.event(func(id string) { c.w.DeleteEvent("gm", id) }) },
	"a while passes":  func(c *chronicle) { c.w.Run(time.Duration(rapid.IntRange(1, 90).Draw(c.t, "seconds")) * time.Second) },
	"a step":          func(c *chronicle) { c.w.Step() },
	"pushes are lost": func(c *chronicle) { c.w.LosePushes() },
	"a sweep":         func(c *chronicle) { c.w.Sweep() },
	"tasks come twice": func(c *chronicle) {
		for _, task := range c.w.Queue.Due(c.w.Clock.Now()) {
			c.w.Queue.Duplicate(task.ID)
		}
	},
	"sync tokens expire": func(c *chronicle) { c.must(c.w.Google.ExpireSyncTokens()) },
	"a fault of Google": func(c *chronicle) {
		match := rapid.SampledFrom(names(refusals)).Draw(c.t, "method")
		if rapid.Bool().Draw(c.t, "lost answer") {
			c.w.Plant(match, func(f *worldtest.Fault) { f.LostAnswer, f.Times = true, 1 })
			return
		}
		c.w.Refuse(match, rapid.SampledFrom(refusals[match]).Draw(c.t, "status"), "", 1)
	},
	"a fault of the store": func(c *chronicle) {
		point := rapid.SampledFrom([]string{"before store.run", "after store.run", "before queue.enqueue"}).Draw(c.t, "point")
		c.w.Fail(point, fault.Wrap(fault.Unavailable, errors.New("broken"), "It did not answer."))
	},
	"the program dies soon": func(c *chronicle) { c.w.CrashAt(rapid.IntRange(1, 40).Draw(c.t, "point")) },
	"a restart":             func(c *chronicle) { c.w.Restart() },
	"the grant is revoked":  func(c *chronicle) { c.w.Revoke("gm") },
	"gm links again":        func(c *chronicle) { c.w.Link("gm") },
	"a vote vanishes":       func(c *chronicle) { c.w.Remove(poll.VotePath(c.pollID(), "ana")) },
}

// refusals are what Google may answer for once. Where 404 or 403 say that an
// event is gone or never to be touched, they are believed, so there they would
// be no faults.
var refusals = map[string][]int{
	"events.insert": {403, 404, 429, 503}, "events.list": {403, 404, 429, 503}, "events.get": {403, 404, 429, 503},
	"events.delete": {429, 503}, "events.watch": {403, 404, 429, 503}, "channels.stop": {429, 503}, "oauth.token": {429, 503},
}

var (
	wholeDay = map[string]any{
		"start": map[string]any{"date": "2026-03-10", "dateTime": nil}, "end": map[string]any{"date": "2026-03-11", "dateTime": nil},
	}
	weekly = map[string]any{"recurrence": []string{"RRULE:FREQ=WEEKLY"}}
)
