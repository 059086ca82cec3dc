package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"questscheduler/internal/worldtest"
	"questscheduler/scheduler"
	"questscheduler/store"
	"questscheduler/store/storetest"
)

// metered is a world whose documents are counted as Firestore would charge
// them: a document read is one, however it was batched.
type metered struct {
	*worldtest.World
	meter *storetest.Counter
}

func newMetered(t worldtest.TB) *metered {
	w := &metered{}
	w.World = worldtest.New(t, worldtest.Options{PageSize: 2500, Wrap: func(inner store.Store) store.Store {
		w.meter = storetest.Count(inner)
		return w.meter
	}})
	return w
}

// cost counts what do costs, with all that is due because of it.
func (w *metered) cost(do func() error) (storetest.Cost, error) {
	w.meter.Reset()
	err := do()
	w.RunDue()
	return w.meter.Total(), err
}

// flow is what is done to a poll that was finalised for Ten, counted.
type flow struct {
	name string
	// before is done first, and has come to rest.
	before func(w *metered, eventID string)
	do     func(w *metered, pollID, eventID string) error
}

var allDay = map[string]any{"start": map[string]any{"date": "2026-03-10"}, "end": map[string]any{"date": "2026-03-11"}}

func moved(to worldtest.Slot) func(w *metered, eventID string) {
	return func(w *metered, eventID string) { w.MoveEvent("gm", eventID, to) }
}

// costs are the flows. What is counted ends where the program is at rest until
// the announcement is due, which is a flow of its own.
var costs = []flow{
	{name: "finalise", do: func(w *metered, _, _ string) error {
		pollID, slots := w.Poll()
		w.meter.Reset()
		_, err := w.Finalise(pollID, slots[0])
		return err
	}},
	{name: "reschedule", do: func(w *metered, _, eventID string) error {
		moved(worldtest.Noon)(w, eventID)
		return nil
	}},
	{name: "restore", before: moved(worldtest.Noon), do: func(w *metered, _, eventID string) error {
		moved(worldtest.Ten)(w, eventID)
		return nil
	}},
	{name: "announcement_to_three", do: func(w *metered, _, eventID string) error {
		moved(worldtest.Noon)(w, eventID)
		w.RunDue()
		w.meter.Reset()
		w.Skip(worldtest.Settle)
		return nil
	}},
	{name: "cancel", do: func(w *metered, pollID, _ string) error {
		_, err := w.Cancel(pollID)
		return err
	}},
	{name: "delete_outside", do: func(w *metered, _, eventID string) error {
		w.DeleteEvent("gm", eventID)
		return nil
	}},
	{name: "look_and_push_without_change", do: func(w *metered, _, _ string) error {
		w.InsertEvent("gm", allDay)
		return nil
	}},
	{name: "idle_sweep_of_a_calendar", do: func(w *metered, _, _ string) error {
		_, err := w.Watcher.Sweep(w.Context(), scheduler.Cause{Hint: "sweep"})
		return err
	}},
}

// flows counts store operations of what people and calendars do.
func flows(_ context.Context, r *report, _ string) error {
	return inWorlds(func(t worldtest.TB) error {
		for _, f := range costs {
			w := newMetered(t)
			_, _, eventID := w.Finalised()
			if f.before != nil {
				f.before(w, eventID)
				w.Run(time.Minute)
			}
			pollID := w.Polls()[0].ID
			cost, err := w.cost(func() error { return f.do(w, pollID, eventID) })
			if err != nil {
				return fmt.Errorf("%s: %w", f.name, err)
			}
			if err := r.addCost(f.name, cost); err != nil {
				return err
			}
		}
		return errors.Join(unrelated(t, r), listings(t, r))
	})
}

func (r *report) addCost(name string, cost storetest.Cost) error {
	return errors.Join(
		r.add(name+"_reads", float64(cost.Reads), "reads", ""),
		r.add(name+"_writes", float64(cost.Writes), "writes", ""))
}

// unrelated counts what each of many unrelated changes adds to the look that
// finds them.
func unrelated(t worldtest.TB, r *report) error {
	const many = 200
	look := func(changes int) int {
		w := newMetered(t)
		w.Finalised()
		for range changes - 1 {
			w.InsertEvent("gm", allDay)
		}
		w.LosePushes()
		w.InsertEvent("gm", allDay)
		w.meter.Reset()
		w.RunDue()
		return w.meter.Total().Reads
	}
	return r.add("unrelated_change_reads", float64(look(many)-look(1))/(many-1), "reads", "")
}

// listings counts the looks that a thousand pushes within a second cause.
func listings(t worldtest.TB, r *report) error {
	const pushes = 1000
	w := newMetered(t)
	w.Finalised()
	before := w.Calls("events.list")
	for range pushes {
		w.InsertEvent("gm", allDay) // each is a push
		w.Run(time.Second / pushes)
	}
	w.Run(time.Minute)
	return r.add("listings_of_1000_pushes_in_a_second", float64(w.Calls("events.list")-before), "listings", "")
}

// bystander is what worlds report to outside tests.
type bystander struct{ problems []error }

// errStopped ends what a world cannot go on with.
var errStopped = errors.New("the world ended early")

// inWorlds runs what works with worlds; what they complain of is its error.
func inWorlds(run func(t worldtest.TB) error) (err error) {
	t := &bystander{}
	defer func() {
		if stopped := recover(); stopped != nil && stopped != errStopped { //nolint:errorlint // a panic's value, and no error that was wrapped
			panic(stopped)
		}
		err = errors.Join(append(t.problems, err)...)
	}()
	return run(t)
}

// Helper is worldtest.TB's, and does nothing here.
func (b *bystander) Helper() {}

// Logf is worldtest.TB's, and does nothing here.
func (b *bystander) Logf(string, ...any) {}

// Errorf is worldtest.TB's: a problem.
func (b *bystander) Errorf(format string, args ...any) {
	b.problems = append(b.problems, fmt.Errorf(format, args...))
}

// Fatalf is worldtest.TB's: a problem that ends the run.
func (b *bystander) Fatalf(format string, args ...any) {
	b.Errorf(format, args...)
	panic(errStopped)
}
