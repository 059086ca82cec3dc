package main

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"questscheduler/internal/calendars"
	"questscheduler/internal/outbox"
	"questscheduler/internal/store"
	"questscheduler/internal/store/sqlite"
	"questscheduler/rules"
)

// fingerprints compares two fingerprints, as every sync run does for every event,
// and parses the same times from their texts.
func fingerprints(_ context.Context, r *report, _ string) error {
	a, b := "2026-03-02T10:00:00.000Z", "2026-03-02T11:00:00.000+01:00"
	texts := testing.Benchmark(func(bench *testing.B) {
		for bench.Loop() {
			first, err := time.Parse(time.RFC3339Nano, a)
			second, other := time.Parse(time.RFC3339Nano, b)
			if err != nil || other != nil || !first.Equal(second) {
				bench.Fatal("they are the same")
			}
		}
	})
	first, err := rules.ParseFingerprint(a + "|" + a + "|false")
	if err != nil {
		return err
	}
	second, err := rules.ParseFingerprint(b + "|" + b + "|false")
	if err != nil {
		return err
	}
	integers := testing.Benchmark(func(bench *testing.B) {
		for bench.Loop() {
			if first != second {
				bench.Fatal("they are the same")
			}
		}
	})
	if err := r.add("two_instants_parsed_and_compared", nanoseconds(texts), "ns", ""); err != nil {
		return err
	}
	return r.add("fingerprints_compared", nanoseconds(integers), "ns", "two_instants_parsed_and_compared")
}

func nanoseconds(result testing.BenchmarkResult) float64 {
	return float64(result.T.Nanoseconds()) / float64(max(result.N, 1))
}

// writing is how long the store is written to for one figure.
const writing = 2 * time.Second

// storeWrites commits durable transactions (read one document, update it, make
// one beside it), by one writer and by 64 at once.
func storeWrites(ctx context.Context, r *report, folder string) (err error) {
	s, err := sqlite.Open(ctx, sqlite.Options{Path: filepath.Join(folder, "data.db")})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	for _, writers := range []int{1, 64} {
		var taken latencies
		var mu sync.Mutex
		var all sync.WaitGroup
		var failed atomic.Pointer[error]
		end := time.Now().Add(writing)
		began := time.Now()
		for writer := range writers {
			all.Go(func() {
				for i := 0; time.Now().Before(end); i++ {
					one, err := timed(1, func(int) error { return transaction(ctx, s, writers, writer, i) })
					if err != nil {
						failed.Store(&err)
						return
					}
					mu.Lock()
					taken = append(taken, one...)
					mu.Unlock()
				}
			})
		}
		all.Wait()
		if err := failed.Load(); err != nil {
			return *err
		}
		rate, to := float64(len(taken))/time.Since(began).Seconds(), ""
		if writers > 1 {
			to = "sqlite_transactions_1_writer"
		}
		name := "sqlite_transactions_" + strconv.Itoa(writers) + "_writer"
		if writers > 1 {
			name += "s"
		}
		if err := r.add(name, rate, "/s", to); err != nil {
			return err
		}
		if writers == 1 {
			if err := r.add("sqlite_transaction_p50", taken.at(0.5), "ms", ""); err != nil {
				return err
			}
		}
	}
	return nil
}

func transaction(ctx context.Context, s store.Store, writers, writer, i int) error {
	poll := store.Doc("polls", strconv.Itoa(writers)+"-"+strconv.Itoa(writer))
	return s.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		if _, err := tx.Get(ctx, poll); err != nil {
			return err
		}
		if err := tx.Merge(poll, store.Update{Path: store.Field("last"), Value: i}); err != nil {
			return err
		}
		return tx.Create(poll.Doc("events", strconv.Itoa(i)), map[string]any{"rank": i, "title": "Session zero"})
	})
}

// workStarts measures how long an idle pool takes from the commit that calls for work, and its
// wake, to the start of the run.
func workStarts(ctx context.Context, r *report, folder string) (err error) {
	s, err := sqlite.Open(ctx, sqlite.Options{Path: filepath.Join(folder, "data.db")})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	began := make(chan struct{}, 1)
	pool := startPool(s, func() { began <- struct{}{} })
	if err := pool.Start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pool.Stop(ctx)) }()
	taken, err := timed(300, func(i int) error {
		if err := pool.Wake(ctx, calendars.SyncKind, strconv.Itoa(i), "", time.Time{}); err != nil {
			return err
		}
		<-began
		return nil
	})
	if err != nil {
		return err
	}
	if err := r.add("wake_to_start_p50", taken.at(0.5), "ms", "sqlite_transaction_p50"); err != nil {
		return err
	}
	return r.add("wake_to_start_p99", taken.at(0.99), "ms", "sqlite_transaction_p50")
}

// startPool makes the pool of an outbox whose runs of syncs only call run.
func startPool(s store.Store, run func()) *outbox.Pool {
	work := &outbox.Outbox{Store: s, Now: time.Now, Log: slog.New(slog.DiscardHandler), Alone: true}
	work.Add(outbox.Kind{Name: calendars.SyncKind, Unclaimed: true, Handle: func(context.Context, outbox.Item) outbox.Result {
		run()
		return outbox.Done()
	}})
	return outbox.NewPool(work)
}
