package main

import (
	"testing"
	"time"
)

// afterAKill is how long an effect may take after a kill: an attempt to create the overlay
// calendar that died keeps others from a second one for two minutes.
const afterAKill = 4 * time.Minute

// TestMirrors_KilledBetweenAnyTwoEffects_FollowAll runs the steps with kill -9 after each act,
// before its effect was awaited, and again after the effect.
func TestMirrors_KilledBetweenAnyTwoEffects_FollowAll(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	running := spawnDemo(t, dir)
	job := newMirrorsJob(&outside{t, running.ready})
	restart := func() {
		running.kill()
		running = spawnDemo(t, dir)
		job.ready = running.ready
	}
	killBetween(t, job.steps(), restart)
	job.unlinkSecond()
	restart()
	within(t, afterAKill, "unlink, after a kill", job.isUnlinked)
}

// killBetween takes steps, with a kill after each act and after each effect.
func killBetween(t *testing.T, steps []step, restart func()) {
	t.Helper()
	for _, step := range steps {
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
