package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// TestAttendees_KilledBetweenAnyTwoEffects_FollowAll runs the steps with kill -9 after each
// act, before its effect was awaited, and again after the effect. What a person removes is also
// awaited in the record: a row that becomes inactive before the program has read the removal takes
// the address back, and nothing tells the two apart then (docs/attendees.md).
func TestAttendees_KilledBetweenAnyTwoEffects_FollowAll(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	running := spawnDemo(t, dir)
	job := newAttendeesJob(&outside{t, running.ready})
	restart := func() {
		running.kill()
		running = spawnDemo(t, dir)
		job.ready = running.ready
	}
	steps := job.steps()
	for i, step := range steps {
		if step.name != "remove her second address" {
			continue
		}
		steps[i].then = func() error {
			explained := run(t, settings(dir), "explain", job.meetings["remove"]+"@google.com")
			if err := step.then(); err != nil || strings.Contains(explained.out, "removed, by a person") {
				return err
			}
			return errors.New(fmt.Sprint("the removal is not on record: ", explained.out, explained.errors))
		}
	}
	killBetween(t, steps, restart)
}
