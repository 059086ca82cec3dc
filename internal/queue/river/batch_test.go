package river

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"

	riverqueue "github.com/riverqueue/river"

	"questscheduler/internal/fault"
)

// In a bubble, synctest.Wait returns when everybody waits, so that who shares
// whose batch is no matter of luck.

// table is a fake file that inserts a batch when the test lets it.
type table struct {
	mu      sync.Mutex
	batches [][]string
	// proceed lets one insert end; its value is the insert's error.
	proceed chan error
}

func (b *table) insert(_ context.Context, jobs []riverqueue.InsertManyParams) ([]bool, error) {
	var keys []string
	for _, job := range jobs {
		keys = append(keys, job.Args.(jobArgs).Key)
	}
	b.mu.Lock()
	b.batches = append(b.batches, keys)
	b.mu.Unlock()
	if err := <-b.proceed; err != nil {
		return nil, err
	}
	created := make([]bool, len(jobs))
	for i, key := range keys {
		created[i] = key != "taken"
	}
	return created, nil
}

// begin makes a call of enqueue and gives its result's channel.
func begin(ctx context.Context, b *batcher, key string) <-chan result {
	done := make(chan result, 1)
	go func() {
		created, err := b.enqueue(ctx, riverqueue.InsertManyParams{Args: jobArgs{Key: key}})
		done <- result{created, err}
	}()
	synctest.Wait()
	return done
}

func TestBatcher_CallsDuringAnInsert_ShareTheNextBatch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		file := &table{proceed: make(chan error)}
		b := &batcher{insert: file.insert}
		alone := begin(t.Context(), b, "a")
		second, taken, third := begin(t.Context(), b, "b"), begin(t.Context(), b, "taken"), begin(t.Context(), b, "c")
		file.proceed <- nil
		if r := <-alone; !r.created || r.err != nil {
			t.Errorf("the lone caller got %+v", r)
		}
		file.proceed <- nil
		for call, want := range map[<-chan result]bool{second: true, taken: false, third: true} {
			if r := <-call; r.created != want || r.err != nil {
				t.Errorf("a concurrent caller got %+v, want created %v", r, want)
			}
		}
		synctest.Wait()
		if len(file.batches) != 2 || len(file.batches[0]) != 1 || len(file.batches[1]) != 3 {
			t.Errorf("the batches were %v, want one of 1 and one of 3", file.batches)
		}
		again := begin(t.Context(), b, "d")
		file.proceed <- nil
		if r := <-again; !r.created || r.err != nil {
			t.Errorf("a caller after a pause got %+v", r)
		}
	})
}

func TestBatcher_InsertFails_FailsItsBatchAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		file := &table{proceed: make(chan error)}
		b := &batcher{insert: file.insert}
		first := begin(t.Context(), b, "a")
		second, third := begin(t.Context(), b, "b"), begin(t.Context(), b, "c")
		full := errors.New("the disk is full")
		file.proceed <- nil
		file.proceed <- full
		if r := <-first; r.err != nil {
			t.Errorf("the batch before got %v", r.err)
		}
		for _, call := range []<-chan result{second, third} {
			if r := <-call; !errors.Is(r.err, full) || r.created {
				t.Errorf("got %+v, want the batch's error", r)
			}
		}
	})
}

func TestBatcher_CallerLeaves_OthersGoOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		file := &table{proceed: make(chan error)}
		b := &batcher{insert: file.insert}
		ctx, leave := context.WithCancel(t.Context())
		first, stays := begin(ctx, b, "a"), begin(t.Context(), b, "b")
		leave()
		if r := <-first; !fault.Is(r.err, fault.Unavailable) {
			t.Errorf("who left got %+v, want it unavailable", r)
		}
		file.proceed <- nil
		file.proceed <- nil
		if r := <-stays; !r.created || r.err != nil {
			t.Errorf("who stayed got %+v", r)
		}
	})
}

func TestBatcher_ABatchIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		file := &table{proceed: make(chan error)}
		b := &batcher{insert: file.insert}
		calls := []<-chan result{begin(t.Context(), b, "first")}
		for range maxBatch + 1 {
			calls = append(calls, begin(t.Context(), b, "more"))
		}
		for range 3 {
			file.proceed <- nil
		}
		for _, call := range calls {
			if r := <-call; !r.created || r.err != nil {
				t.Fatalf("got %+v", r)
			}
		}
		if len(file.batches) != 3 || len(file.batches[1]) != maxBatch || len(file.batches[2]) != 1 {
			t.Errorf("%d batches, want 3: one job, as many as allowed, and the rest", len(file.batches))
		}
	})
}
