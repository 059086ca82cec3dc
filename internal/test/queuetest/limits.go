package queuetest

import (
	"context"
	"strings"
	"testing"
	"time"

	"questscheduler/internal/fault"
	"questscheduler/internal/queue"
)

func refusesBadTasks(t *testing.T, open Open) {
	q := open(t, []string{"sync"})
	refuse := func(when string) {
		for what, task := range map[string]queue.Task{
			"an unknown kind":     {Kind: "announce"},
			"no kind":             {},
			"a payload too large": {Kind: "sync", Payload: make([]byte, queue.MaxPayload+1)},
			"a name too long":     {Kind: "sync", Name: strings.Repeat("n", queue.MaxName+1)},
			"a time too far":      {Kind: "sync", NotBefore: time.Now().Add(queue.MaxAhead + time.Hour)},
		} {
			created, err := q.Enqueue(t.Context(), task)
			if created || !fault.Is(err, fault.Invalid) {
				t.Errorf("%s, %s: got %v, %v; want it refused as invalid", when, what, created, err)
			}
		}
	}
	refuse("before the start")
	s := newScript()
	start(t, q, one("sync", s.handle))
	refuse("after the start")
	mustEnqueue(t, q, queue.Task{
		Kind: "sync", Name: strings.Repeat("n", queue.MaxName), Payload: make([]byte, queue.MaxPayload),
	})
	s.next(t)
	stop(t, q)
	s.none(t)
}

func refusesBadStart(t *testing.T, open Open) {
	q := open(t, []string{"sync", "announce"})
	s := newScript()
	both := map[string]queue.Handler{"sync": s.handle, "announce": s.handle}
	for what, config := range map[string]queue.Config{
		"no handler for a kind": {Handlers: one("sync", s.handle)},
		"a handler too many":    {Handlers: map[string]queue.Handler{"sync": s.handle, "announce": s.handle, "x": s.handle}},
		"no worker":             {Handlers: both, Workers: map[string]int{"sync": 0}},
		"workers for no kind":   {Handlers: both, Workers: map[string]int{"x": 1}},
	} {
		if err := q.Start(t.Context(), config); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: got %v, want it refused as invalid", what, err)
		}
	}
	start(t, q, both)
	if err := q.Start(t.Context(), queue.Config{Handlers: both}); !fault.Is(err, fault.Conflict) {
		t.Errorf("a second start: got %v, want a conflict", err)
	}
}

func contextHasDeadline(t *testing.T, open Open) {
	q := open(t, []string{"sync"})
	left := make(chan time.Duration, 1)
	start(t, q, one("sync", func(ctx context.Context, _ queue.Delivery) queue.Verdict {
		deadline, ok := ctx.Deadline()
		if !ok {
			deadline = time.Now().Add(time.Hour)
		}
		left <- time.Until(deadline)
		return queue.Verdict{Outcome: queue.Done}
	}))
	mustEnqueue(t, q, queue.Task{Kind: "sync"})
	if got := receive(t, "the handler runs", left); got > queue.RunTimeout {
		t.Errorf("the handler has %v, want at most %v", got, queue.RunTimeout)
	}
}

func endedContext(t *testing.T, open Open) {
	q := open(t, []string{"sync"})
	s := newScript()
	start(t, q, one("sync", s.handle))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	created, err := q.Enqueue(ctx, queue.Task{Kind: "sync", Name: "n"})
	switch {
	case err == nil && !created:
		t.Error("the task was refused without an error, though its name is free")
	case err == nil:
		s.next(t)
	case created || !fault.Is(err, fault.Unavailable):
		t.Errorf("got %v, %v; want it unavailable", created, err)
	}
	// Whatever became of the first, a second try ends in a run.
	enqueue(t, q, queue.Task{Kind: "sync", Name: "n"})
	if err != nil {
		s.next(t)
	}
}

func depthsCount(t *testing.T, open Open) {
	q := open(t, []string{"sync", "announce"})
	depth := func(kind string) queue.Depth {
		depths, err := q.Depths(t.Context())
		if err != nil {
			t.Fatalf("depths: %v", err)
		}
		if len(depths) != 2 || depths[0].Kind != "announce" || depths[1].Kind != "sync" {
			t.Fatalf("depths of %+v, want announce and sync", depths)
		}
		if kind == "announce" {
			return depths[0]
		}
		return depths[1]
	}
	if got := depth("sync"); got.Waiting != 0 || got.Dead != 0 || !got.Oldest.IsZero() {
		t.Errorf("an empty queue has %+v", got)
	}
	mustEnqueue(t, q, queue.Task{Kind: "sync", Name: "later", NotBefore: time.Now().Add(time.Hour)})
	if got := depth("sync"); got.Waiting != 1 || !got.Oldest.IsZero() {
		t.Errorf("with one that is not due it has %+v", got)
	}
	before := time.Now()
	mustEnqueue(t, q, queue.Task{Kind: "sync", Name: "now"})
	got := depth("sync")
	if got.Waiting != 2 || got.Oldest.Before(before.Add(-time.Second)) || got.Oldest.After(time.Now().Add(time.Second)) {
		t.Errorf("with one that is due it has %+v, at %v", got, time.Now())
	}
	s := newScript(queue.Verdict{Outcome: queue.Permanent})
	start(t, q, map[string]queue.Handler{"sync": s.handle, "announce": s.handle})
	s.next(t)
	eventually(t, "the task is counted as dead", func() bool {
		got := depth("sync")
		return got.Waiting == 1 && got.Dead == 1 && got.Oldest.IsZero()
	})
	if got := depth("announce"); got.Waiting != 0 || got.Dead != 0 {
		t.Errorf("the other kind has %+v", got)
	}
}
