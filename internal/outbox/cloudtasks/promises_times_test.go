package cloudtasks_test

import (
	"context"
	"fmt"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/outbox"
)

func runsWhenDue(b *bench) {
	r := b.count(done)
	b.must(b.start(b.Context()))
	for id, after := range map[string]time.Duration{
		"past": -time.Hour, "soon": 10 * time.Second, "later": 50 * time.Second, "by the drain": 100 * time.Second,
	} {
		b.change("job", id, after)
	}
	pass(2*time.Minute + time.Second)
	for id, want := range map[string]string{"past": "[0s]", "soon": "[10s]", "later": "[50s]", "by the drain": "[2m0s]"} {
		if at := fmt.Sprint(r.began("job/" + id)); at != want {
			b.Errorf("%s: it ran at %s, want %s", id, at, want)
		}
	}
}

// answersInTurn has the handler answer one thing after the other, and then that it is done.
func (b *bench) answersInTurn(turns ...func() outbox.Result) *runs {
	var r *runs
	r = b.count(func(_ context.Context, item outbox.Item) outbox.Result {
		if turn := len(r.began(item.Kind+"/"+item.ID)) - 1; turn < len(turns) {
			return turns[turn]()
		}
		return outbox.Done()
	})
	return r
}

func again(after time.Duration) func() outbox.Result {
	return func() outbox.Result { return outbox.Again(time.Now().Add(after)) }
}

func failed(err error) func() outbox.Result {
	return func() outbox.Result { return outbox.Failed(err) }
}

// follows has an entry run, and fails unless its runs began at these times, with these failures
// counted when they did. It is done then.
func (b *bench) follows(r *runs, at string, attempts string) {
	b.Helper()
	var counted []int64
	answer := b.answer
	b.answer = func(ctx context.Context, item outbox.Item) outbox.Result {
		counted = append(counted, item.State.Attempts)
		return answer(ctx, item)
	}
	b.must(b.start(b.Context()))
	b.change("job", "a", 0)
	pass(5 * time.Minute)
	if got := fmt.Sprint(r.began("job/a")); got != at {
		b.Errorf("it ran at %s, want %s", got, at)
	}
	if got := fmt.Sprint(counted); got != attempts {
		b.Errorf("its failures were %s, want %s", got, attempts)
	}
	if _, due := b.state("job", "a"); due {
		b.Error("it is not done")
	}
}

func goesOn(b *bench) {
	r := b.answersInTurn(again(5*time.Second), again(0), failed(errUnanswered), again(20*time.Second))
	b.follows(r, "[0s 5s 5s 15s 35s]", "[0 0 0 1 0]")
}

func waitsAsAsked(b *bench) {
	asks := &fault.Error{Kind: fault.Unavailable, RetryAfter: 25 * time.Second}
	b.follows(b.answersInTurn(failed(asks), failed(asks)), "[0s 25s 50s]", "[0 1 2]")
}

// A wait of more than a minute ends with the first drain after it.
func backsOff(b *bench) {
	fails := failed(errUnanswered)
	b.follows(b.answersInTurn(fails, fails, fails, fails), "[0s 10s 30s 1m10s 3m0s]", "[0 1 2 3 4]")
}

func saysNothing(b *bench) {
	b.follows(b.answersInTurn(func() outbox.Result { return outbox.Result{} }), "[0s 10s]", "[0 1]")
	if !b.logs("the handler gave no reason") {
		b.Error("the log does not say that it failed")
	}
}

func panics(b *bench) {
	b.follows(b.answersInTurn(func() outbox.Result { panic("a nil map") }), "[0s 10s]", "[0 1]")
	if !b.logs("work panicked") {
		b.Error("the log does not say that it panicked")
	}
}

func storeUnanswered(b *bench) {
	r := b.count(done)
	b.must(b.start(b.Context()))
	b.record("job", "a", 0)
	b.breaks(true)
	b.Soon(b.Context(), "job", "a", time.Now())
	pass(10 * time.Second)
	b.breaks(false)
	pass(10 * time.Second)
	if at := fmt.Sprint(r.began("job/a")); at != "[15s]" {
		b.Errorf("it ran at %s", at)
	}
	if !b.logs(errUnanswered.Error()) {
		b.Error("the log does not say that the store did not answer")
	}
}

func contextEnds(b *bench)       { b.endsAfter(outbox.RunTimeout) }
func contextEndsLater(b *bench)  { b.endsAfter(3 * time.Minute) }
func contextEndsAtLast(b *bench) { b.endsAfter(outbox.LongestRun) }

// endsAfter fails the test unless a handler's context ends after that long, and the run is not
// given up before.
func (b *bench) endsAfter(allowed time.Duration) {
	b.Helper()
	var took time.Duration
	b.answer = func(ctx context.Context, _ outbox.Item) outbox.Result {
		began := time.Now()
		<-ctx.Done()
		took = time.Since(began)
		return outbox.Failed(ctx.Err())
	}
	b.must(b.start(b.Context()))
	b.change("job", "a", 0)
	pass(allowed + time.Second)
	if state, _ := b.state("job", "a"); took != allowed || state.Attempts != 1 || b.logs("a run ignores the end of its time") {
		b.Errorf("it ended after %v: %+v; the log: %s", took, state, &b.logged)
	}
}
