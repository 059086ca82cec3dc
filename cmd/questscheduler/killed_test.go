package main

import (
	"os"
	"testing"
	"time"
)

// TestMainJob_KilledBetweenAnyTwoSteps runs the main job with kill -9 after each act,
// before its effect was awaited, and again after the effect. What was answered is
// neither lost nor doubled.
func TestMainJob_KilledBetweenAnyTwoSteps(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	running := spawnDemo(t, dir)
	job := newMainJob(&outside{t, running.ready})
	restart := func() {
		running.kill()
		began := time.Now()
		running = spawnDemo(t, dir)
		job.ready = running.ready
		t.Logf("running again after %v", time.Since(began).Round(time.Millisecond))
	}
	for _, step := range job.steps() {
		if err := step.act(); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		restart()
		eventually(t, step.name+", after a kill", step.then)
		restart()
		eventually(t, step.name+", after another kill", step.then)
	}
	for kind, word := range map[string]string{
		"SESSION_RESCHEDULED": "rescheduled", "SESSION_RESTORED": "restored", "SESSION_CANCELLED": "cancelled",
	} {
		if err := job.announcedOnce(job.title, job.pollID, kind, word); err != nil {
			t.Errorf("in the end, %s: %v", kind, err)
		}
	}
}

// TestDemo_EndsAtATermination stops its watch channels and exits with 0.
func TestDemo_EndsAtATermination(t *testing.T) {
	t.Parallel()
	running := spawnDemo(t, dataDir(t))
	if err := running.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := running.Wait(); err != nil {
		t.Errorf("the demo ended with %v, want exit code 0", err)
	}
}
