package cloudtasks_test

import (
	"context"
	"strings"
	"sync"
	"testing/synctest"
	"time"

	"questscheduler/internal/outbox"
)

func reachesWhole(b *bench) {
	ids := []string{"a", "é b\n\"", strings.Repeat("i", longestID)}
	got := make(chan outbox.Item, len(ids)+1)
	b.count(func(_ context.Context, item outbox.Item) outbox.Result {
		got <- item
		return outbox.Done()
	})
	b.must(b.start(b.Context()))
	for _, id := range ids {
		b.change("job", id, 0)
		time.Sleep(time.Second)
		item := <-got
		if item.Kind != "job" || item.ID != id || item.State.Ref != "one" || item.State.Trace != "trc_1" || !item.Document.Exists() {
			b.Errorf("%.10q came as %+v", id, item)
		}
		if _, due := b.state("job", id); due {
			b.Errorf("%.10q is not done", id)
		}
	}
}

func runsAfterStart(b *bench) {
	r := b.count(done)
	b.change("job", "a", 0)
	pass(10 * time.Second)
	if len(r.began("job/a")) > 0 {
		b.Error("it ran before the start")
	}
	b.must(b.start(b.Context()))
	pass(time.Minute)
	if len(r.began("job/a")) != 1 {
		b.Errorf("it ran at %v", r.began("job/a"))
	}
}

// By drains, which name what they wake, and by callers, who do not.
func runsOnce(b *bench) {
	r := b.count(func(context.Context, outbox.Item) outbox.Result {
		time.Sleep(time.Second)
		return outbox.Done()
	})
	b.must(b.start(b.Context()))
	b.record("job", "a", 0)
	var callers sync.WaitGroup
	for range 64 {
		callers.Go(func() {
			b.Soon(b.Context(), "job", "a", time.Now())
			if _, err := b.Drain(b.Context()); err != nil {
				b.Error(err)
			}
		})
	}
	callers.Wait()
	pass(5 * time.Minute)
	if len(r.began("job/a")) != 1 {
		b.Errorf("it ran at %v", r.began("job/a"))
	}
	if made := len(b.cloud.tasks()); made > 64+1 {
		b.Errorf("64 wakes and as many drains made %d tasks", made)
	}
}

func idsArePerKind(b *bench) {
	r := b.count(done)
	due := time.Now() // the drain's names are equal, but for the kind
	for _, kind := range kinds {
		b.record(kind, "a", 0)
	}
	b.must(b.start(b.Context()))
	if _, err := b.Drain(b.Context()); err != nil || !due.Equal(time.Now()) {
		b.Fatal(err)
	}
	pass(time.Second)
	if len(r.began("job/a")) != 1 || len(r.began("other/a")) != 1 {
		b.Errorf("they ran %v, %v", r.began("job/a"), r.began("other/a"))
	}
}

func lostWakes(b *bench) {
	r := b.count(done)
	b.must(b.start(b.Context()))
	pass(10 * time.Second)
	b.record("job", "a", 0)
	pass(time.Minute)
	if len(r.began("job/a")) != 1 {
		b.Errorf("it ran at %v", r.began("job/a"))
	}
}

func refuses(b *bench) {
	r := b.count(done)
	b.must(b.start(b.Context()))
	b.Soon(b.Context(), "look", "a", time.Now())
	if !b.logs("kind=look") {
		b.Error("a wake of an unknown kind is silent")
	}
	for _, id := range []string{"", "a/b", "..", "gone", strings.Repeat("i", longestID+1)} {
		b.Soon(b.Context(), "job", id, time.Now())
	}
	pass(time.Minute)
	if len(r.of) > 0 {
		b.Errorf("handlers were called: %v", r.of)
	}
	if err := b.start(b.Context()); err == nil {
		b.Error("it starts twice")
	}
}

func callerIsGone(b *bench) {
	r := b.count(done)
	b.must(b.start(b.Context()))
	pass(time.Second)
	gone, cancel := context.WithCancel(b.Context())
	cancel()
	b.record("job", "a", 0)
	b.Soon(gone, "job", "a", time.Now())
	synctest.Wait()
	if len(r.began("job/a")) != 1 && !b.logs("work is left to the drain") {
		b.Error("nothing says that it was not woken")
	}
	pass(time.Minute)
	if len(r.began("job/a")) != 1 {
		b.Errorf("it ran at %v", r.began("job/a"))
	}
}

// needsAPerson has work fail until it needs a person, who tries it twice.
func needsAPerson(b *bench) {
	r := b.count(func(context.Context, outbox.Item) outbox.Result { return outbox.Failed(errUnanswered) })
	failing := func() []outbox.FailingEntry {
		depths, err := b.Depths(b.Context())
		b.must(err)
		return depths[0].Failing
	}
	b.must(b.start(b.Context()))
	b.change("job", "a", 0)
	b.change("job", "b", 0)
	pass(time.Minute)
	if entries := failing(); len(entries) > 0 {
		b.Errorf("after a minute %+v need a person", entries)
	}
	pass(4 * time.Minute)
	entries := failing()
	if len(entries) != 2 || entries[0].Attempts != 5 || entries[0].Error != "internal" || !b.logs("needs a person") {
		b.Fatalf("after five minutes %+v need a person", entries)
	}
	ran := len(r.began("job/a"))
	b.must(b.Retry(b.Context(), "job:a"))
	pass(time.Second)
	if len(r.began("job/a")) != ran+1 || len(failing()) != 2 {
		b.Errorf("it ran %d times, and %+v need a person", len(r.began("job/a")), failing())
	}
	b.answers(outbox.Done())
	b.must(b.Retry(b.Context(), "job:a"))
	pass(time.Second)
	if entries := failing(); len(entries) != 1 || entries[0].ID != "job:b" {
		b.Errorf("after it was done %+v need a person", entries)
	}
}

func done(context.Context, outbox.Item) outbox.Result { return outbox.Done() }
