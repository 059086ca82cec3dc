package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"questscheduler/internal/store"
	"questscheduler/internal/store/sqlite"
	"questscheduler/internal/test/worldtest"
)

// sizedPolls is how many polls a file has that is weighed.
const sizedPolls = 200

// fileSizes weighs data files: by stored poll, one of a party of whom three have voted; and by
// lived poll, one that was finalised with an event, which was moved, and moved back, and of which
// everything was announced.
func fileSizes(ctx context.Context, r *report, folder string) error {
	stored, err := fileOf(ctx, filepath.Join(folder, "stored.db"), sizedPolls, func(*worldtest.World, string, []string) error { return nil })
	if err != nil {
		return err
	}
	lived, err := fileOf(ctx, filepath.Join(folder, "lived.db"), sizedPolls, live)
	if err != nil {
		return err
	}
	return errors.Join(r.add("stored_poll", stored, "kB", ""), r.add("lived_poll", lived, "kB", "stored_poll"))
}

func live(w *worldtest.World, pollID string, slots []string) error {
	view, err := w.Finalise(pollID, slots[0])
	if err != nil {
		return err
	}
	w.Run(time.Minute)
	for _, to := range []worldtest.Slot{worldtest.Noon, worldtest.Ten} {
		w.MoveEvent("gm", view.Poll.GoogleEventID, to)
		w.RunDue()
		w.Run(worldtest.Settle)
	}
	return nil
}

// fileOf is how many kilobytes of a closed data file each of some polls takes, beside what an empty
// one has.
func fileOf(
	ctx context.Context, path string, polls int, each func(w *worldtest.World, pollID string, slots []string) error,
) (perPoll float64, err error) {
	var file *sqlite.Store
	var empty int64
	err = inWorlds(func(t worldtest.TB) error {
		w := worldtest.New(t, worldtest.Options{Open: func(queries []*store.Query) (_ store.Store, err error) {
			file, err = sqlite.Open(ctx, sqlite.Options{Path: path, Queries: ofProgram(queries), Disposable: true})
			if err == nil {
				empty, err = size(path)
			}
			return file, err
		}})
		for range polls {
			pollID, slots := w.Poll()
			if err := each(w, pollID, slots); err != nil {
				return err
			}
		}
		return nil
	})
	if file != nil {
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		return 0, err
	}
	full, err := size(path)
	return float64(full-empty) / 1e3 / float64(polls), err
}

// ofProgram leaves out the queries of tests alone for documents of which each poll has some: the
// indexes that they need would be in the file. Calendars, which all polls share, they still read.
func ofProgram(queries []*store.Query) []*store.Query {
	perPoll := []string{"schedulers", "calendarEventIndex", "announcements"}
	return slices.DeleteFunc(slices.Clone(queries), func(q *store.Query) bool {
		ofTests := strings.HasPrefix(q.Name, "world: ") || strings.HasPrefix(q.Name, "audit: ")
		return ofTests && (q.Group || slices.Contains(perPoll, q.Collection))
	})
}

func size(path string) (int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
