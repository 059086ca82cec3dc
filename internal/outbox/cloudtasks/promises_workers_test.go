package cloudtasks_test

import (
	"context"
	"fmt"
	"sync"
	"testing/synctest"
	"time"

	"questscheduler/internal/outbox"
)

func kindHangs(b *bench) {
	r := b.count(func(ctx context.Context, item outbox.Item) outbox.Result {
		if item.Kind == "other" {
			<-ctx.Done()
		}
		return outbox.Failed(ctx.Err())
	})
	b.must(b.start(b.Context()))
	for i := range 20 {
		b.change("other", fmt.Sprint(i), 0)
	}
	synctest.Wait()
	for i := range 5 {
		b.change("job", fmt.Sprint(i), 0)
		time.Sleep(time.Second)
		if len(r.began("job/"+fmt.Sprint(i))) != 1 {
			b.Errorf("entry %d waits for another kind", i)
		}
	}
}

func workersAreALimit(b *bench) {
	r := b.count(func(context.Context, outbox.Item) outbox.Result {
		time.Sleep(time.Second)
		return outbox.Done()
	})
	b.must(b.start(b.Context()))
	for i := range 10 {
		b.change("job", fmt.Sprint(i), 0)
	}
	pass(time.Minute)
	if r.most != 2 || len(r.of) != 10 {
		b.Errorf("%d ran, %d at once", len(r.of), r.most)
	}
}

func ignoresItsEnd(b *bench) {
	hold := make(chan struct{})
	var r *runs
	r = b.count(func(_ context.Context, item outbox.Item) outbox.Result {
		if item.ID == "hangs" && len(r.began("job/hangs")) == 1 {
			<-hold
		}
		return outbox.Done()
	})
	b.must(b.start(b.Context()))
	b.change("job", "hangs", 0)
	synctest.Wait()
	b.change("job", "a", 0)
	pass(4 * time.Minute)
	if len(r.began("job/a")) != 1 || !b.logs("a run ignores the end of its time") {
		b.Errorf("the other ran at %v; the log: %s", r.began("job/a"), &b.logged)
	}
	if _, due := b.state("job", "hangs"); due {
		b.Error("the one that hung is not tried again")
	}
	close(hold)
}

// Each entry is woken by two callers, and goes on once.
func manyCallers(b *bench) {
	const callers, each = 64, 8
	var r *runs
	r = b.count(func(_ context.Context, item outbox.Item) outbox.Result {
		time.Sleep(20 * time.Millisecond)
		if len(r.began("job/"+item.ID)) == 1 {
			return outbox.Again(time.Now())
		}
		return outbox.Done()
	})
	for i := range callers / 2 * each {
		b.record("job", fmt.Sprintf("%d-%d", i/each, i%each), 0)
	}
	b.must(b.start(b.Context()))
	var calling sync.WaitGroup
	for caller := range callers {
		calling.Go(func() {
			for i := range each {
				b.Soon(b.Context(), "job", fmt.Sprintf("%d-%d", caller/2, i), time.Now())
			}
		})
	}
	calling.Wait()
	pass(2 * time.Minute)
	if len(r.of) != callers/2*each || r.twice || r.most > 32 {
		b.Errorf("%d ran, one twice at once: %t, %d at once", len(r.of), r.twice, r.most)
	}
	for id := range r.of {
		if _, due := b.state("job", id[len("job/"):]); due {
			b.Errorf("%s is not done", id)
		}
	}
}

func stopsGracefully(b *bench) {
	r := b.count(func(ctx context.Context, _ outbox.Item) outbox.Result {
		time.Sleep(2 * time.Second)
		if ctx.Err() != nil {
			b.Error("the run is cut short")
		}
		return outbox.Done()
	})
	b.must(b.start(b.Context()))
	b.change("job", "a", 0)
	synctest.Wait()
	b.change("job", "b", 0)
	began := time.Now()
	b.must(b.stop(b.Context()))
	if took := time.Since(began); took != 2*time.Second {
		b.Errorf("it took %v", took)
	}
	b.change("job", "c", 0)
	pass(30 * time.Second)
	if len(r.of) != 1 {
		b.Errorf("while it is stopped %d run", len(r.of)-1)
	}
	b.must(b.start(b.Context()))
	pass(time.Minute)
	if len(r.of) != 3 || len(r.began("job/a")) != 1 {
		b.Errorf("after the next start %d ran, and the first at %v", len(r.of), r.began("job/a"))
	}
}

func stopCancels(b *bench) {
	r := b.count(func(ctx context.Context, _ outbox.Item) outbox.Result {
		<-ctx.Done()
		return outbox.Failed(ctx.Err())
	})
	b.must(b.start(b.Context()))
	b.change("job", "a", 0)
	synctest.Wait()
	impatient, cancel := context.WithCancel(b.Context())
	cancel()
	b.must(b.stop(impatient))
	if state, _ := b.state("job", "a"); len(r.began("job/a")) != 1 || state.Attempts != 0 || !state.FailedSince.IsZero() {
		b.Errorf("it ran at %v, and counts as a failure: %+v", r.began("job/a"), state)
	}
	r = b.count(done)
	b.must(b.start(b.Context()))
	pass(time.Minute)
	if _, due := b.state("job", "a"); due || len(r.began("job/a")) != 1 {
		b.Errorf("after the next start it ran at %v", r.began("job/a"))
	}
}
