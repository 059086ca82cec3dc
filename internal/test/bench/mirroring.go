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
		before, began := heap(), time.Now()
		w.Mirror("gm", mirror.Edge{FromAccountID: "work", ToAccountID: "home", Detail: mirror.Busy, Target: mirror.PrimaryTarget})
		w.Ended = func(kind string) {
			if kind != calendars.SyncKind {
				return
			}
			_ = r.add("linking_"+on+"_listed", time.Since(began).Seconds(), "s", "")
		}
		w.Settle()
		took, most := time.Since(began), heap()
		w.Run(2 * time.Hour)
		if len(w.Failed) > 0 {
			return fmt.Errorf("a task failed: %w", w.Failed[0])
		}
		calls, cost := w.Calls(), w.Documents.Total()
		name := "linking_" + on + "_"
		return errors.Join(
			r.add(name+"planned_and_written", took.Seconds(), "s", ""),
			r.add(name+"all", time.Since(began).Seconds(), "s", ""),
			r.add(name+"heap", float64(most-min(before, most))/(1<<20), "MiB", ""),
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

// heap is how much is in use, in bytes.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
