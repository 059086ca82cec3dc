package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/oklog/ulid/v2"

	"questscheduler/calendarsync"
	"questscheduler/internal/accounts"
	"questscheduler/internal/calendars"
	"questscheduler/internal/outbox"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/store/sqlite"
	"questscheduler/internal/test/worldtest"
	"questscheduler/notify"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// calendarsOfSizes are how many calendars, of ten polls each, are in the data files that are
// compared.
var calendarsOfSizes = []int{100, 1_000, 10_000, 100_000}

// calendarsOfLarge is how many are in the file of them that is stopped and gets a new index.
const calendarsOfLarge = 10_000

// probes is how often a figure is measured in a file, each time for another poll.
const probes = 200

// sizes measures the same in data files of more and more polls. The growth of a figure is the
// exponent by which it grew from the smallest to the largest: 1 is in proportion, 0 not at all.
func sizes(ctx context.Context, r *report, folder string) error {
	var all []map[string]float64
	for _, count := range calendarsOfSizes {
		measured, err := ofSize(ctx, filepath.Join(folder, fmt.Sprint(count)+".db"), count)
		if err != nil {
			return err
		}
		all = append(all, measured)
		for _, figure := range sizedFigures {
			if err := r.add(fmt.Sprintf("of_%d_polls_%s", count*pollsOfACalendar, figure.name), measured[figure.name], figure.unit, ""); err != nil {
				return err
			}
		}
	}
	for _, figure := range sizedFigures {
		if err := r.add("growth_of_"+figure.name, growth(all[0][figure.name], all[len(all)-1][figure.name]), "exponent", ""); err != nil {
			return err
		}
	}
	large := filepath.Join(folder, fmt.Sprint(calendarsOfLarge)+".db")
	return errors.Join(stops(ctx, r, large, calendarsOfLarge*pollsOfACalendar), buildsIndex(ctx, r, large, calendarsOfLarge))
}

var sizedFigures = []struct{ name, unit string }{{"ready", "ms"}, {"heap", "MiB"}, {"poll_read_p50", "ms"}, {"transition_p50", "ms"}}

// growth is the exponent of a figure between the smallest and the largest file.
func growth(first, last float64) float64 {
	return math.Log(last/first) / math.Log(float64(calendarsOfSizes[len(calendarsOfSizes)-1])/float64(calendarsOfSizes[0]))
}

// ofSize fills a data file, opens it anew as a start does, and measures it.
func ofSize(ctx context.Context, path string, count int) (measured map[string]float64, err error) {
	queries := slices.Concat(poll.Queries, calendars.Queries, calendarsync.Queries, accounts.Queries, notify.Queries)
	seeded, err := sqlite.Open(ctx, sqlite.Options{Path: path, Queries: queries, Disposable: true})
	if err != nil {
		return nil, err
	}
	if err := errors.Join(seedSweep(ctx, seeded, count, pollsOfACalendar), seeded.Close()); err != nil {
		return nil, err
	}
	runtime.GC()
	before, began := heap(), time.Now()
	documents, err := sqlite.Open(ctx, sqlite.Options{Path: path, Queries: queries})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, documents.Close()) }()
	measured = map[string]float64{"ready": float64(time.Since(began)) / float64(time.Millisecond)}
	service := serviceOver(documents)
	read, err := timed(probes, func(i int) error {
		_, err := service.View(ctx, worldtest.Person("gm"), fmt.Sprintf("poll-%05d-%d", i*count/probes, i%pollsOfACalendar))
		return err
	})
	if err != nil {
		return nil, err
	}
	moved, err := timed(probes, func(i int) error { return moveSeeded(ctx, service, i*count/probes, i%pollsOfACalendar) })
	if err != nil {
		return nil, err
	}
	runtime.GC()
	measured["heap"] = float64(max(heap(), before)-before) / (1 << 20)
	measured["poll_read_p50"], measured["transition_p50"] = read.at(0.5), moved.at(0.5)
	return measured, nil
}

// serviceOver serves polls of seedSweep, of which no session has begun.
func serviceOver(documents store.Store) *scheduler.Service {
	log, now := slog.New(slog.DiscardHandler), func() time.Time { return worldtest.Start.Add(time.Hour) }
	return &scheduler.Service{
		Store: documents, Outbox: &outbox.Outbox{Store: documents, Waker: nobody{}, Now: now, Log: log}, Now: now, Log: log,
		IDs: scheduler.IDs{UUID: uuid.NewString, ULID: func(prefix string) string { return prefix + "_" + ulid.Make().String() }},
	}
}

// moveSeeded reschedules a poll of seedSweep.
func moveSeeded(ctx context.Context, service *scheduler.Service, calendar, number int) error {
	accountID, calendarID := fmt.Sprintf("acc_%05d", calendar), fmt.Sprintf("person%05d@example.com", calendar)
	followed, _, err := calendars.Load(ctx, service.Store, accountID, calendarID)
	if err != nil {
		return err
	}
	applied, err := service.Apply(ctx, scheduler.ObservedEvent{
		AccountID: accountID, CalendarID: calendarID,
		EventID: fmt.Sprintf("event%05d%d", calendar, number), EventState: rules.Present,
		Fingerprint: rules.Timed(worldtest.Noon.Start, worldtest.Noon.End), Updated: service.Now(), Fence: followed.Fence,
		Cause: scheduler.Cause{Trigger: "bench"},
	})
	if err == nil && applied.Decision.Action != rules.Reschedule {
		err = fmt.Errorf("a move decided %s", applied.Decision.Action)
	}
	return err
}
