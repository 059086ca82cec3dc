package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"questscheduler/internal/test/cost"
	"questscheduler/internal/test/storetest"
	"questscheduler/internal/test/worldtest"
)

// flows counts store operations of what people, calendars and timers do.
func flows(_ context.Context, r *report, _ string) error {
	return inWorlds(func(t worldtest.TB) error {
		counted := map[string]storetest.Cost{}
		for _, f := range cost.Flows {
			got, err := f.Count(t, cost.Place{})
			if err != nil {
				return err
			}
			counted[f.Name] = got.Total
			if err := r.addCost(f.Name, got.Total); err != nil {
				return err
			}
			if err := r.addTransactions(f, got); err != nil {
				return err
			}
		}
		more := counted[cost.UnrelatedChanges].Reads - counted[cost.UnrelatedChange].Reads
		return errors.Join(
			r.add("each_unrelated_change_reads", float64(more)/(cost.ManyChanges-1), "reads", ""),
			listings(t, r))
	})
}

func (r *report) addCost(name string, cost storetest.Cost) error {
	return errors.Join(
		r.add(name+"_reads", float64(cost.Reads), "reads", ""),
		r.add(name+"_writes", float64(cost.Writes), "writes", ""),
		r.add(name+"_deletes", float64(cost.Deletes), "deletes", ""))
}

// addTransactions prints the transactions of a flow whose number matters: all, and those that
// write.
func (r *report) addTransactions(f cost.Flow, got cost.Counted) error {
	if f.Commits == 0 {
		return nil
	}
	return errors.Join(
		r.add(f.Name+"_transactions", float64(len(got.Runs)), "runs", ""),
		r.add(f.Name+"_transactions_that_write", float64(got.Commits()), "runs", f.Name+"_transactions"))
}

// listings counts the sync runs that a thousand pushes within a second cause.
func listings(t worldtest.TB, r *report) error {
	const pushes = 1000
	w := worldtest.New(t, worldtest.Options{PageSize: 2500})
	w.Finalised()
	before := w.Calls("events.list")
	for range pushes {
		w.InsertEvent("gm", map[string]any{
			"start": map[string]any{"date": "2026-03-10"}, "end": map[string]any{"date": "2026-03-11"},
		}) // each is a push
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
