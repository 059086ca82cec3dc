package mirrors_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/mirrors/plan"
	"questscheduler/rules"
)

// many is how many exceptions a series has of which one transaction cannot write all.
const many = 70

// manyExceptions is a world with a series at work that has many exceptions with long texts, each
// copied to home, and the series as the calendar reports it once it is deleted.
func manyExceptions(t *testing.T) (w *world, gone gcal.Event) {
	t.Helper()
	w = newWorld(t)
	w.mirrorWork(mirror.Edge{FromAccountID: work, ToAccountID: home, Detail: mirror.Title, Target: mirror.PrimaryTarget})
	w.settle()
	series := w.insert(work, "Daily", thursday, "RRULE:FREQ=DAILY;COUNT=200")
	w.sync(work)
	known, text := w.canonical(work)[0], strings.Repeat("x", store.MaxTransaction/many)
	zurich, err := poll.Zone(known.Start.Zone)
	w.must(err)
	for i := range many {
		exception := known
		exception.ID, exception.EventID, exception.SeriesID = fmt.Sprint("evt_x", i), fmt.Sprint(series.ID, "_unreported", i), series.ID
		exception.Title, exception.Description, exception.Recurrence = "With cake", text, nil
		exception.OriginalStart.Time = known.Start.Time.In(zurich).AddDate(0, 0, i+1)
		exception.OriginalStart.Zone = known.Start.Zone
		exception.Start.Time, exception.End.Time = exception.OriginalStart.Time.Add(time.Hour), exception.OriginalStart.Time.Add(2*time.Hour)
		exception.From, exception.Until = plan.Bounds(exception)
		w.put(exception)
	}
	w.must(w.service.PlanUID(w.ctx, gm, known.ICalUID, cause))
	w.run(10 * time.Minute)
	if shown := w.titles(home); len(shown) != many+1 {
		t.Fatalf("home shows %d events\n%s", len(shown), w.log.String())
	}
	_, err = w.full.DeleteQuietly(w.ctx, refTo(work), series.ID, "")
	w.must(err)
	gone, err = w.full.Get(w.ctx, refTo(work), series.ID)
	w.must(err)
	if gone.EventState != rules.Gone {
		t.Fatalf("the series is %+v", gone)
	}
	return w, gone
}

// wantNothingLeft fails unless neither copies nor documents of a deleted series are there.
func (w *world) wantNothingLeft() {
	w.Helper()
	if known, copies := w.canonical(work), w.mirrors(); len(known) > 0 || len(copies) > 0 {
		w.Errorf("%d events are known and %d copies", len(known), len(copies))
	}
	w.wantTitles(home)
}

// widest is a store that knows how many copies' documents one transaction wrote at most.
type widest struct {
	store.Store
	most int
}

type widestTx struct {
	store.Tx
	wrote int
	*widest
}

func (s *widest) Run(ctx context.Context, fn func(context.Context, store.Tx) error) error {
	return s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error { return fn(ctx, &widestTx{Tx: tx, widest: s}) })
}

func (tx *widestTx) Set(path store.Path, data map[string]any) error {
	if strings.HasPrefix(path.ID(), "mir_") {
		tx.wrote++
		tx.most = max(tx.most, tx.wrote)
	}
	return tx.Tx.Set(path, data)
}

// A series may have more exceptions, and copies of them, than one transaction can write.
func TestSync_ASeriesWithManyExceptionsIsDeleted_TheyGoWithIt(t *testing.T) {
	if testing.Short() {
		t.Skip("many events")
	}
	t.Parallel()
	w, _ := manyExceptions(t)
	documents := &widest{Store: w.service.Store}
	w.service.Store = documents
	w.sync(work)
	w.run(5 * time.Minute)
	if copies := w.mirrors(); len(copies) > 0 {
		t.Errorf("after some minutes %d copies are left", len(copies))
	}
	w.run(2 * time.Hour)
	w.wantNothingLeft()
	if documents.most > 40 {
		t.Errorf("one transaction wrote %d copies", documents.most)
	}
	if backlog := w.calendar(work).Backlogs[mirror.Consumer]; len(backlog.Deferred) > 0 {
		t.Errorf("left to be applied are %+v", backlog)
	}
}

// The program may end between any two steps. The observation comes again, and the rest goes then.
func TestObserve_ManyExceptionsAndInterrupted_GoesOnWhereItEnded(t *testing.T) {
	if testing.Short() {
		t.Skip("many events")
	}
	t.Parallel()
	w, gone := manyExceptions(t)
	documents := w.service.Store
	for step := 2; ; step++ {
		w.service.Store = &failingAt{documents, step}
		_, _, err := w.service.Observe(w.ctx, refTo(work), gone, true, cause)
		w.service.Store = documents
		if err == nil {
			break
		}
		if !fault.Is(err, fault.Unavailable) || step > 10 {
			t.Fatalf("step %d gave %v", step, err)
		}
		w.run(time.Minute)
		if known := len(w.canonical(work)); known != many+1 {
			t.Fatalf("before the series is cancelled %d events are known", known)
		}
	}
	w.run(2 * time.Hour)
	w.wantNothingLeft()
}

// failingAt is a store whose nth transaction from now on fails.
type failingAt struct {
	store.Store
	left int
}

func (s *failingAt) Run(ctx context.Context, fn func(context.Context, store.Tx) error) error {
	s.left--
	if s.left == 0 {
		return fault.New(fault.Unavailable, "it did not answer")
	}
	return s.Store.Run(ctx, fn)
}
