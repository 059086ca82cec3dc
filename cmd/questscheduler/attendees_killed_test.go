package main

import "testing"

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
	killBetween(t, job.steps(), restart)
}
