package main

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"questscheduler/demo"
	"questscheduler/internal/calendars"
)

// pausedDemo is a demo whose worker stays down until the test has it start.
type pausedDemo struct {
	*outside
	demo   *openedDemo
	pauses chan time.Duration // of each restart
	up     chan time.Time     // a value starts the worker
}

func startPausedDemo(t *testing.T) *pausedDemo {
	t.Helper()
	p := &pausedDemo{pauses: make(chan time.Duration, 1), up: make(chan time.Time)}
	after := func(pause time.Duration) <-chan time.Time {
		p.pauses <- pause
		return p.up
	}
	d, err := openTestDemo(t.Context(), demo.Place{Dir: dataDir(t), Addr: "127.0.0.1:0", After: after}, Process{
		Stderr: testLog{t}, Environ: []string{"QS_SYNC_MIN_GAP=20ms"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.End(); err != nil { // as it would where the work begins after its file was closed
			t.Error(err)
		}
	})
	if err := d.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.demo, p.outside = d, &outside{t, d.Ready()}
	return p
}

// restart asks for a restart over HTTP.
func restart(o *outside, body any, headers ...string) answer {
	o.t.Helper()
	return o.do("POST", o.ready.API+"/demo/restart-worker", "", body, headers...)
}

// waits returns once a sync is due.
func (p *pausedDemo) waits() {
	p.t.Helper()
	eventually(p.t, "a sync waits", func() error {
		depths, err := p.demo.outbox.Depths(p.t.Context())
		for _, depth := range depths {
			if depth.Kind == calendars.SyncKind && depth.Due > 0 {
				return err
			}
		}
		return fmt.Errorf("%+v, %w", depths, err)
	})
}

func TestRestartWorker_EventMovedWhileDown_IsCaughtUpOnce(t *testing.T) {
	t.Parallel()
	p := startPausedDemo(t)
	s := newSession(p.outside, "gm")
	restart(p.outside, map[string]any{"after_ms": 3000}).want(t, http.StatusNoContent)
	if pause := <-p.pauses; pause != 3*time.Second {
		t.Errorf("the worker is down for %s", pause)
	}
	lists := s.calls("events.list")
	s.move(2 * time.Hour)
	p.waits()
	restart(p.outside, nil).want(t, http.StatusConflict)
	if err := s.is(map[string]any{"status": "FINALIZED", "sync.state": "OK", "original_slot": nil})(); err != nil {
		t.Errorf("while the worker is down: %v", err)
	}
	if got := s.calls("events.list"); got != lists {
		t.Errorf("%d syncs ran while the worker was down", got-lists)
	}
	p.up <- time.Now()
	s.becomesMoved(2 * time.Hour)
	s.becomesAnnounced("SESSION_RESCHEDULED", 1)
	s.wantDecisions("finalise", "reschedule")
}

// A sync that hangs on Google is cancelled, and holds up neither the restart nor the next
// sync of its calendar.
func TestRestartWorker_RunningTask_IsCancelledAndRunAgain(t *testing.T) {
	t.Parallel()
	p := startPausedDemo(t)
	s := newSession(p.outside, "gm")
	s.plant("events.list", map[string]any{"delay_ms": 60_000, "times": 1})
	lists := s.calls("events.list")
	s.move(time.Hour)
	eventually(t, "the sync asks Google", func() error { return s.atLeast("events.list", lists+1) })
	restart(p.outside, nil).want(t, http.StatusNoContent)
	if pause := <-p.pauses; pause != 0 {
		t.Errorf("the worker is down for %s", pause)
	}
	p.waits()
	p.up <- time.Now()
	s.becomesMoved(time.Hour)
	s.becomesAnnounced("SESSION_RESCHEDULED", 1)
	s.wantDecisions("finalise", "reschedule")
}

func TestRestartWorker_ManyAtOnce_OneRestarts(t *testing.T) {
	t.Parallel()
	p := startPausedDemo(t)
	var asking sync.WaitGroup
	statuses := make([]int, 8)
	for i := range statuses {
		asking.Go(func() {
			if got, err := p.try("POST", p.ready.API+"/demo/restart-worker", "", nil); err != nil {
				t.Error(err)
			} else {
				statuses[i] = got.status
			}
		})
	}
	asking.Wait()
	count := map[int]int{}
	for _, status := range statuses {
		count[status]++
	}
	if count[http.StatusNoContent] != 1 || count[http.StatusConflict] != len(statuses)-1 {
		t.Errorf("answers: %v", count)
	}
	<-p.pauses
	p.up <- time.Now()
	eventually(t, "the worker is back and restarted again", func() error {
		if got := restart(p.outside, nil); got.status != http.StatusNoContent {
			return fmt.Errorf("answered %d", got.status)
		}
		return nil
	})
}

func TestRestartWorker_WrongRequest_IsRefused(t *testing.T) {
	t.Parallel()
	p := startPausedDemo(t)
	for _, body := range []any{
		map[string]any{"after_ms": -1}, map[string]any{"after_ms": 10_001}, map[string]any{"after_ms": "1s"}, map[string]any{"after": 1}, "now",
	} {
		restart(p.outside, body).want(t, http.StatusBadRequest)
	}
	for _, foreign := range [][]string{
		{"Origin", "https://evil.example"}, {"Origin", p.ready.Google}, {"Origin", "null"}, {"Sec-Fetch-Site", "cross-site"},
		{"X-Forwarded-For", "192.0.2.1"},
	} {
		restart(p.outside, nil, foreign...).want(t, http.StatusForbidden)
	}
	restart(
		p.outside, map[string]any{"after_ms": 10_000}, "Origin", p.ready.API, "Sec-Fetch-Site", "same-origin",
	).want(t, http.StatusNoContent)
}
