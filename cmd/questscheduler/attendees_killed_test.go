package main

import (
	"testing"
	"time"
)

// TestAttendees_KilledBetweenAnyTwoEffects_FollowAll runs the steps with kill -9 after each
// act, before its effect was awaited, and again after the effect.
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
	for _, step := range job.steps() {
		if err := step.act(); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		restart()
		began := time.Now()
		within(t, afterAKill, step.name+", after a kill", step.then)
		t.Logf("%s: followed %v after the kill", step.name, time.Since(began).Round(time.Millisecond))
		restart()
		within(t, afterAKill, step.name+", after another kill", step.then)
	}
}
