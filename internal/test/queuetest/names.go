package queuetest

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"questscheduler/internal/queue"
)

func deliversWhole(t *testing.T, open Open) {
	q := open(t, []string{"sync", "announce"})
	s := newScript()
	start(t, q, map[string]queue.Handler{"sync": s.handle, "announce": s.handle})
	payload := bytes.Repeat([]byte{0, 255, '"', '\n'}, queue.MaxPayload/4)
	mustEnqueue(t, q, queue.Task{Kind: "sync", Name: "a/b c", Payload: payload})
	got := s.next(t)
	if got.Kind != "sync" || got.Name != "a/b c" || got.Attempt != 1 {
		t.Errorf("got kind %q, name %q, attempt %d", got.Kind, got.Name, got.Attempt)
	}
	if !bytes.Equal(got.Payload, payload) {
		t.Errorf("the payload came as %d bytes that are not those handed over", len(got.Payload))
	}
	mustEnqueue(t, q, queue.Task{Kind: "announce"})
	if got := s.next(t); got.Kind != "announce" || got.Name != "" || len(got.Payload) != 0 {
		t.Errorf("an empty task came as %+v", got.Delivery)
	}
}

func keepsTasksBeforeStart(t *testing.T, open Open) {
	q := open(t, []string{"sync"})
	s := newScript()
	mustEnqueue(t, q, queue.Task{Kind: "sync", Name: "early"})
	start(t, q, one("sync", s.handle))
	if got := s.next(t); got.Name != "early" {
		t.Errorf("got %q", got.Name)
	}
}

func refusesTakenName(t *testing.T, open Open) {
	q := open(t, []string{"sync"})
	mustEnqueue(t, q, queue.Task{Kind: "sync", Name: "n"})
	if enqueue(t, q, queue.Task{Kind: "sync", Name: "n"}) {
		t.Error("taken in while the first waits")
	}
	mustEnqueue(t, q, queue.Task{Kind: "sync", Name: "n2"})
	mustEnqueue(t, q, queue.Task{Kind: "sync"})
	mustEnqueue(t, q, queue.Task{Kind: "sync"})

	began, release := make(chan string, 10), make(chan struct{})
	start(t, q, one("sync", func(_ context.Context, delivery queue.Delivery) queue.Verdict {
		began <- delivery.Name
		if delivery.Name == "n" {
			<-release
		}
		return queue.Verdict{Outcome: queue.Done}
	}))
	ran := map[string]int{}
	for range 4 {
		ran[receive(t, "four tasks begin", began)]++
	}
	if enqueue(t, q, queue.Task{Kind: "sync", Name: "n"}) {
		t.Error("taken in while the first runs")
	}
	close(release)
	if ran["n"] != 1 || ran["n2"] != 1 || ran[""] != 2 {
		t.Errorf("ran %v, want n and n2 once and the nameless twice", ran)
	}
}

func namesArePerKind(t *testing.T, open Open) {
	q := open(t, []string{"sync", "announce"})
	s := newScript()
	mustEnqueue(t, q, queue.Task{Kind: "sync", Name: "n"})
	mustEnqueue(t, q, queue.Task{Kind: "announce", Name: "n"})
	start(t, q, map[string]queue.Handler{"sync": s.handle, "announce": s.handle})
	if first, second := s.next(t), s.next(t); first.Kind == second.Kind {
		t.Errorf("both were of kind %q", first.Kind)
	}
}

func oneNameFromManyCallers(t *testing.T, open Open) {
	q := open(t, []string{"sync"})
	const callers, each = 64, 4
	var mu sync.Mutex
	created := map[string]int{}
	var group sync.WaitGroup
	for caller := range callers {
		group.Go(func() {
			for i := range each {
				// One name is everybody's, the others are shared by two who
				// hand them over for the first time at the same moment.
				name := "n"
				if i > 0 {
					name = fmt.Sprintf("%d-%d", caller/2, i)
				}
				taken, err := q.Enqueue(t.Context(), queue.Task{Kind: "sync", Name: name})
				if err != nil {
					t.Errorf("enqueue: %v", err)
				}
				if taken {
					mu.Lock()
					created[name]++
					mu.Unlock()
				}
			}
		})
	}
	group.Wait()
	if want := 1 + callers/2*(each-1); len(created) != want {
		t.Errorf("%d names were reported as created, want %d", len(created), want)
	}
	for name, times := range created {
		if times != 1 {
			t.Errorf("%d callers were reported to have created the task %q, want 1", times, name)
		}
	}
	s := newScript()
	start(t, q, one("sync", s.handle))
	for range created {
		s.next(t)
	}
	stop(t, q)
	s.none(t)
}

func namesAreBytes(t *testing.T, open Open) {
	q := open(t, []string{"sync"})
	names := []string{"\xff", "\xfe", "\x00", "é", "a b\n", strings.Repeat("n", queue.MaxName)}
	for _, name := range names {
		mustEnqueue(t, q, queue.Task{Kind: "sync", Name: name})
	}
	s := newScript()
	start(t, q, one("sync", s.handle))
	ran := map[string]bool{}
	for range names {
		ran[s.next(t).Name] = true
	}
	for _, name := range names {
		if !ran[name] {
			t.Errorf("the task named %q did not run under its name", name)
		}
	}
}
