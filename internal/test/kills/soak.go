package main

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"
)

const (
	// soakPause is of a person after an act: the load is steady, and leaves the machine time.
	soakPause = 500 * time.Millisecond
	// samples are taken while it is soaked, but none in less than sampleLeast. The first of
	// warmUp do not count: caches and connections fill.
	samples     = 120
	sampleLeast = time.Second
	warmUp      = 10
)

// soak has all actors act steadily for a while. Nothing is killed before that is over; then
// everything is compared, as after kills.
func (w *world) soak(ctx context.Context, out io.Writer) error {
	figures := newFigures()
	began := time.Now()
	alive, end := context.WithTimeout(ctx, w.soaking)
	defer end()
	var acting sync.WaitGroup
	for _, a := range w.actors {
		acting.Go(func() {
			for alive.Err() == nil {
				a.act(ctx)
				<-time.After(soakPause)
			}
		})
	}
	err := w.watch(alive, began, figures)
	end()
	acting.Wait()
	if err != nil {
		return err
	}
	from := w.soaking / warmUp
	fmt.Fprintf(out, "after %v of load, with %d commands answered; growth since %v:\n", w.soaking, w.answered, from)
	for _, f := range figures {
		fmt.Fprintln(out, f.line(from))
	}
	return w.settle(ctx)
}

// watch samples the figures until the load ends. That the program ended is an error.
func (w *world) watch(alive context.Context, began time.Time, figures []*figure) error {
	ticks := time.NewTicker(max(w.soaking/samples, sampleLeast))
	defer ticks.Stop()
	for {
		select {
		case <-alive.Done():
			return nil
		case <-ticks.C:
		}
		if w.server.Died() {
			return fmt.Errorf("the program ended after %v", rounded(time.Since(began)))
		}
		if err := w.sample(alive, time.Since(began), figures); err != nil && alive.Err() == nil {
			return err
		}
	}
}
