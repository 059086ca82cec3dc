package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"time"

	"questscheduler/calendarsync"
	"questscheduler/internal/accounts"
	"questscheduler/internal/calendars"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/store/sqlite"
	"questscheduler/internal/test/worldtest"
	"questscheduler/notify"
)

const (
	// idleShare is how much of a while an idle program computes at most: it writes metrics, and looks
	// at what is due.
	idleShare = 0.03
	idleFor   = 2 * time.Second
	// largePatience is how long a program may take until it is idle, and an index until it is built.
	largePatience = 5 * time.Minute
	// callPause is between the requests of somebody while an index is built.
	callPause = 5 * time.Millisecond
)

// stops measures how long the program takes to end, as a process of its own on a file of many polls,
// when it has nothing to do: the file's calendars are nobody's, so that it must not follow them.
func stops(ctx context.Context, r *report, path string, polls int) error {
	o, err := openOutside(ctx, beginning{folder: filepath.Dir(path), data: path, settings: []string{"QS_SYNC=off"}})
	if err != nil {
		return err
	}
	idle := o.idle(ctx)
	took, err := o.server.Stop()
	o.server = nil
	if err := errors.Join(idle, err, o.close(ctx)); err != nil {
		return err
	}
	return r.add(fmt.Sprintf("of_%d_polls_stop", polls), took.Seconds(), "s", "")
}

// idle waits until the program computes nearly nothing.
func (o *outside) idle(ctx context.Context) error {
	for deadline := time.Now().Add(largePatience); time.Now().Before(deadline); {
		before, err := processorTime(ctx, o.server)
		if err != nil {
			return err
		}
		select {
		case <-time.After(idleFor):
		case <-ctx.Done():
			return ctx.Err()
		}
		after, err := processorTime(ctx, o.server)
		if err != nil {
			return err
		}
		if after-before <= time.Duration(idleShare*float64(idleFor)) {
			return nil
		}
	}
	return fmt.Errorf("the program is not idle within %v", largePatience)
}

// byTitle is a query that no file has an index for.
var byTitle = store.Select("bench: polls by title", "schedulers", "title", store.Where("status", store.Equal))

// buildsIndex measures how long the index of a new query takes in a file of calendars with their
// polls, and the longest that somebody waits who reads a poll, or writes one, while it is built.
func buildsIndex(ctx context.Context, r *report, path string, count int) (err error) {
	built := finished{message: "built indexes of newly declared queries", documents: make(chan int64, 1)}
	queries := slices.Concat(poll.Queries, calendars.Queries, calendarsync.Queries, accounts.Queries, notify.Queries)
	documents, err := sqlite.Open(ctx, sqlite.Options{Path: path, Queries: append(queries, byTitle), Log: slog.New(built)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, documents.Close()) }()
	began, service := time.Now(), serviceOver(documents)
	var read, written latencies
	for i := 0; len(built.documents) == 0; i++ {
		id := fmt.Sprintf("poll-%05d-%d", i*(count/7+1)%count, i%pollsOfACalendar)
		one, err := timed(1, func(int) error {
			_, err := service.View(ctx, worldtest.Person("gm"), id)
			return err
		})
		two, failed := timed(1, func(int) error { return rename(ctx, documents, id, i) })
		if err := errors.Join(err, failed); err != nil {
			return err
		}
		read, written = append(read, one...), append(written, two...)
		if time.Since(began) > largePatience {
			return fmt.Errorf("the index is not built within %v", largePatience)
		}
		time.Sleep(callPause)
	}
	took, polls := time.Since(began), count*pollsOfACalendar
	if indexed := <-built.documents; indexed < int64(polls) || len(read) == 0 {
		return fmt.Errorf("of %d polls %d are in the new index; %d were read in between", polls, indexed, len(read))
	}
	name := fmt.Sprintf("new_index_of_%d_polls", polls)
	return errors.Join(
		r.add(name, took.Seconds(), "s", ""),
		r.add(name+"_requests_in_between", float64(len(read)+len(written)), "requests", ""),
		r.add(name+"_longest_read", read.at(1), "ms", ""),
		r.add(name+"_longest_write", written.at(1), "ms", ""))
}

func rename(ctx context.Context, documents store.Store, id string, number int) error {
	return documents.Run(ctx, func(_ context.Context, tx store.Tx) error {
		return tx.Update(poll.Path(id), store.Set("title", fmt.Sprintf("Session %d", number)))
	})
}

// finished is a log that passes the documents of one line on.
type finished struct {
	message   string
	documents chan int64
}

// Enabled implements slog.Handler.
func (finished) Enabled(context.Context, slog.Level) bool { return true }

// WithAttrs implements slog.Handler.
func (f finished) WithAttrs([]slog.Attr) slog.Handler { return f }

// WithGroup implements slog.Handler.
func (f finished) WithGroup(string) slog.Handler { return f }

// Handle implements slog.Handler.
func (f finished) Handle(_ context.Context, line slog.Record) error {
	if line.Message != f.message {
		return nil
	}
	line.Attrs(func(of slog.Attr) bool {
		if of.Key == "documents" {
			f.documents <- of.Value.Int64()
		}
		return true
	})
	return nil
}
