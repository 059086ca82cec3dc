package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// cast makes the actors, and what they need once.
func (w *world) cast(ctx context.Context) error {
	busy := &busyPerson{hand: w.hand("gm", 1)}
	group := &host{hand: w.hand("gm", 2)}
	w.actors = []actor{
		&organiser{hand: w.hand("gm", 3)}, &organiser{hand: w.hand("ana", 4)}, &organiser{hand: w.hand("cho", 5)},
		busy, group,
		&inviter{hand: w.hand(organizer, 6), active: true},
		&reader{hand: w.hand("gm", 7), feeds: map[string]string{}},
	}
	return errors.Join(busy.begin(ctx), group.begin(ctx), w.beginWindow(ctx))
}

const (
	// windowEvery: one round of so many is a push window. What can never be right again is checked
	// after every glanceEvery kills, and all is compared after every settleEvery.
	windowEvery = 12
	glanceEvery = 25
	settleEvery = 100
)

// live lives through all kills, and through the checks between and after them.
func (w *world) live(ctx context.Context, out io.Writer) error {
	if err := w.settle(ctx); err != nil {
		return err
	}
	for round, glanced, settled := 1, 0, 0; w.killed() < w.kills && len(w.found) == 0; round++ {
		act := w.round
		if round%windowEvery == windowEvery/2 {
			act = w.pushWindow
		}
		if err := act(ctx); err != nil {
			return err
		}
		if w.killed()-settled >= settleEvery && w.killed() < w.kills {
			settled = w.killed()
			if err := w.settle(ctx); err != nil {
				return err
			}
		}
		if w.killed()-glanced >= glanceEvery {
			glanced = w.killed()
			if err := w.glance(ctx); err != nil {
				return err
			}
			w.progress(out)
		}
	}
	if len(w.found) > 0 {
		return nil
	}
	return w.settle(ctx)
}

// killed is how often the program was killed at work.
func (w *world) killed() int { return w.server.Kills - w.atRest }

func (w *world) progress(out io.Writer) {
	p99, longest := w.server.StartTimes()
	fmt.Fprintf(out, "kills %d of %d: %d commands answered, starts p99 %v, max %v\n", w.killed(), w.kills, w.answered,
		rounded(p99), rounded(longest))
}

// The moments of kills.
const (
	mostLife   = 400 * time.Millisecond
	longLife   = 1500 * time.Millisecond // one in ten
	mostBirth  = 80 * time.Millisecond   // after the start of a process that never gets ready
	mostActors = 5
	actPause   = 20 * time.Millisecond // of a person after an act
)

// round has some actors act at the same time, and kills the program at a moment of it.
func (w *world) round(ctx context.Context) error {
	life := mostLife
	if w.random.IntN(10) == 0 {
		life = longLife
	}
	alive, end := context.WithTimeout(ctx, time.Duration(w.random.Int64N(int64(life))))
	defer end()
	var acting sync.WaitGroup
	for _, n := range w.random.Perm(len(w.actors))[:1+w.random.IntN(mostActors)] {
		acting.Go(func() {
			for alive.Err() == nil {
				w.actors[n].act(ctx)
				<-time.After(actPause)
			}
		})
	}
	<-alive.Done()
	w.kill()
	acting.Wait()
	return w.restart(ctx)
}

// kill kills the program; that it ended before is a finding.
func (w *world) kill() {
	if w.server.Died() {
		w.note(finding{wrong, "the program ended without a kill:\n" + w.server.LastLines()})
	}
	w.server.Kill()
}

// restart starts the killed program; one time in four it is killed during its start first.
func (w *world) restart(ctx context.Context) error {
	if w.random.IntN(4) == 0 {
		if err := w.server.Spawn(); err != nil {
			return err
		}
		<-time.After(time.Duration(w.random.Int64N(int64(mostBirth))))
		w.kill()
	}
	return w.server.Start(ctx)
}

func rounded(d time.Duration) time.Duration { return d.Round(time.Millisecond) }

// report prints what the kills came to, and everything that is wrong.
func (w *world) report(out io.Writer, took time.Duration) {
	p99, longest := w.server.StartTimes()
	if longest > w.ready {
		w.note(finding{late, fmt.Sprintf("a start took %v", rounded(longest))})
	}
	count := map[string]int{}
	for _, f := range w.found {
		count[f.kind]++
		fmt.Fprintf(out, "%s: %s\n", f.kind, f.what)
	}
	if w.lastSettled != "" {
		fmt.Fprintf(out, "the last to settle: %s\n", w.lastSettled)
	}
	fmt.Fprintf(out,
		"commands answered %d  pushes acknowledged %d  killed between push and sync %d of %d  at rest %d  settled in %v at most  "+
			"took %v  seed %d\n",
		w.answered, w.sims.pushes, w.windows.hit, w.windows.tried, w.atRest, rounded(w.settled), took.Round(time.Second), w.seed)
	fmt.Fprintf(out, "kills %d  lost %d  doubled %d  wrong %d  late %d  restart p99 %v  max %v\n",
		w.killed(), count[lost], count[doubled], count[wrong], count[late], rounded(p99), rounded(longest))
	again := fmt.Sprintf("make kills N=%d", w.kills)
	if w.soaking > 0 {
		again = fmt.Sprintf("make soak MINUTES=%v", w.soaking.Minutes())
	}
	if len(w.found) > 0 {
		fmt.Fprintf(out, "again: %s SEED=%d\n", again, w.seed)
	}
}
