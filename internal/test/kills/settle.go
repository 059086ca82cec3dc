package main

import (
	"context"
	"errors"
	"time"
)

const (
	settlePause = 500 * time.Millisecond
	mostPause   = 8 * time.Second
	// restartAfter is less than the minute after which a start sweeps all calendars, and finds
	// what was lost.
	restartAfter = 45 * time.Second
)

// glance finds what can never be right again, whatever is still to be done.
func (w *world) glance(ctx context.Context) error {
	found, err := w.judge(ctx, false)
	for _, f := range found {
		w.note(f)
	}
	return err
}

// settle waits until everything is as it should be, and notes what is not after the patience,
// or can never be.
// The program is killed again and again until then, so that no sweep helps it.
func (w *world) settle(ctx context.Context) error {
	began, kills, last := time.Now(), w.server.Kills, ""
	defer func() { w.atRest += w.server.Kills - kills }()
	for deadline, pause := began.Add(w.patience), settlePause; ; {
		w.finish(ctx)
		if err := w.glance(ctx); err == nil && len(w.found) > 0 {
			return nil
		}
		found, err := w.judge(ctx, true)
		if err == nil && len(found) == 0 {
			found, err = w.judgeStored(ctx)
			pause = min(2*pause, mostPause) // each time costs a kill
		}
		if err == nil && len(found) == 0 {
			if took := time.Since(began); took > w.settled {
				w.settled, w.lastSettled = took, last
			}
			return nil
		}
		if len(found) > 0 {
			last = found[0].what
		}
		if w.server.Died() {
			return errors.New("the program ended without a kill")
		}
		if time.Now().After(deadline) || ctx.Err() != nil {
			for _, f := range found {
				w.note(f)
			}
			return err
		}
		if time.Since(w.server.Started) > restartAfter {
			w.kill()
			if err := w.server.Start(ctx); err != nil {
				return err
			}
		}
		<-time.After(pause)
	}
}

// finish sends the commands again that were not answered yet, until they are.
func (w *world) finish(ctx context.Context) {
	for _, a := range w.actors {
		if !wait(ctx, w.patience, func() bool { return !a.again(ctx) }) && ctx.Err() == nil {
			for _, f := range a.unanswered() {
				w.note(f)
			}
		}
	}
}

// judge compares what everybody shows with what people did.
func (w *world) judge(ctx context.Context, settled bool) (found []finding, err error) {
	observed, err := w.observe(ctx)
	if err != nil {
		return nil, err
	}
	for _, a := range w.actors {
		more, err := a.judge(ctx, observed, settled)
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	return found, nil
}
