package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"time"

	"questscheduler/internal/calendars"
	"questscheduler/internal/mirror"
	"questscheduler/internal/store/sqlite"
	"questscheduler/internal/test/mirrortest"
	"questscheduler/internal/test/storetest"
	"questscheduler/internal/test/worldtest"
)

// linkedEvents is how many events the calendar has that a person links. Google is asked
// for them once; 400 days of them, at four a day, come within the window.
const linkedEvents = 10_000

// mirrorFlows counts what mirroring asks of the store and of Google.
func mirrorFlows(_ context.Context, r *report, _ string) error {
	return inWorlds(func(t worldtest.TB) error {
		var failed error
		for _, f := range mirrortest.Flows {
			got := f.Count(t)
			failed = errors.Join(failed, r.addCost(f.Name, got.Cost), r.add(f.Name+"_calls", float64(got.Calls), "calls", ""))
		}
		return failed
	})
}

// mirroring measures the linking of a calendar with many events, in memory and on SQLite,
// and what a change costs then.
func mirroring(ctx context.Context, r *report, folder string) error {
	return errors.Join(
		linking(r, "memory", linkedEvents, mirrortest.Options{}),
		func() (err error) {
			documents, err := sqlite.Open(ctx, sqlite.Options{Path: filepath.Join(folder, "data.db"), Queries: mirrortest.Queries})
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, documents.Close()) }()
			return linking(r, "sqlite", linkedEvents, mirrortest.Options{Documents: documents})
		}())
}

func linking(r *report, on string, count int, options mirrortest.Options) error {
	return inWorlds(func(t worldtest.TB) error {
		w := mirrortest.New(t, options)
		w.Link("gm", "work")
		w.Link("gm", "home")
		w.Insert("work", "meeting", count)
		w.ResetCalls()
		stop := watchHeap()
		began := time.Now()
		w.Mirror("gm", mirror.Edge{FromAccountID: "work", ToAccountID: "home", Detail: mirror.Busy, Target: mirror.PrimaryTarget})
		var listed time.Duration
		w.Ended = func(kind string) {
			if kind == calendars.SyncKind {
				listed = time.Since(began)
			}
		}
		w.Listed()
		took, grown := time.Since(began), stop()
		w.Run(2 * time.Hour)
		if len(w.Failed) > 0 {
			return fmt.Errorf("a task failed: %w", w.Failed[0])
		}
		calls, cost := w.Calls(), w.Documents.Total()
		name := "linking_" + on + "_"
		return errors.Join(
			r.add(name+"events", float64(count), "events", ""),
			r.add(name+"listed", listed.Seconds(), "s", ""),
			r.add(name+"planned_and_written", took.Seconds(), "s", ""),
			r.add(name+"all", time.Since(began).Seconds(), "s", ""),
			r.add(name+"heap_grew_at_most", grown/(1<<20), "MiB", ""),
			r.add(name+"mirrors", float64(len(w.Mirrors("home"))), "mirrors", ""),
			r.add(name+"listings", float64(calls["events.list"]), "pages", ""),
			r.add(name+"inserts", float64(calls["events.insert"]), "calls", ""),
			perEvent(r, name, cost, count))
	})
}

func perEvent(r *report, name string, cost storetest.Cost, count int) error {
	return errors.Join(
		r.add(name+"reads_an_event", float64(cost.Reads)/float64(count), "reads", ""),
		r.add(name+"writes_an_event", float64(cost.Writes)/float64(count), "writes", ""))
}

// watchHeap begins to watch how much of the heap is in use; stop returns by how many bytes it
// grew at most.
func watchHeap() (stop func() float64) {
	runtime.GC()
	before, most := heap(), uint64(0)
	ended, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ended:
				return
			case <-tick.C:
				most = max(most, heap())
			}
		}
	}()
	return func() float64 {
		close(ended)
		<-watched
		return float64(max(most, heap()) - min(before, most))
	}
}

// heap is how much is in use, in bytes, what is not collected yet included.
func heap() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
