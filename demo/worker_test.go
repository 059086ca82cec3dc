package demo

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"questscheduler/fault"
)

// workless counts what a worker has its program do.
type workless struct {
	Lifecycle
	ended               atomic.Bool
	starts, stops, late atomic.Int32 // late are starts after the end
	start, stop         error
	starting            chan struct{} // where set, each start waits for its close
}

func (w *workless) Failed() <-chan error { return nil }

func (w *workless) StopWork(context.Context) error {
	w.stops.Add(1)
	return w.stop
}

func (w *workless) StartWork(context.Context) error {
	w.starts.Add(1)
	if w.starting != nil {
		<-w.starting
	}
	if w.ended.Load() {
		w.late.Add(1)
	}
	return w.start
}

// never is a pause without an end.
func never(time.Duration) <-chan time.Time { return nil }

// over is a pause that has ended.
func over(time.Duration) <-chan time.Time {
	ended := make(chan time.Time)
	close(ended)
	return ended
}

func TestRestart_DuringThePause_Conflicts(t *testing.T) {
	t.Parallel()
	program := &workless{}
	w := newWorker(Program{Lifecycle: program}, never)
	t.Cleanup(w.end)
	if err := w.restart(time.Second); err != nil {
		t.Fatal(err)
	}
	if err := w.restart(0); !fault.Is(err, fault.Conflict) {
		t.Errorf("a second restart: %v", err)
	}
	if stops, starts := program.stops.Load(), program.starts.Load(); stops != 1 || starts != 0 {
		t.Errorf("%d stops, %d starts", stops, starts)
	}
}

func TestEnd_DuringThePause_StaysDown(t *testing.T) {
	t.Parallel()
	program := &workless{}
	w := newWorker(Program{Lifecycle: program}, never)
	if err := w.restart(time.Second); err != nil {
		t.Fatal(err)
	}
	w.end()
	w.end() // again, as a test's clean-up does
	if err := w.restart(0); !fault.Is(err, fault.Unavailable) {
		t.Errorf("a restart after the end: %v", err)
	}
	if starts := program.starts.Load(); starts != 0 {
		t.Errorf("the worker is started %d times after the end", starts)
	}
}

// Restarts without a pause race with the end of the demo, after which the file is closed.
func TestEnd_DuringRestarts_IsLast(t *testing.T) {
	t.Parallel()
	program := &workless{}
	w := newWorker(Program{Lifecycle: program}, over)
	var asking sync.WaitGroup
	for range 4 {
		asking.Go(func() {
			for err := error(nil); !fault.Is(err, fault.Unavailable); {
				err = w.restart(0)
			}
		})
	}
	for program.starts.Load() < 3 { // until it restarts
		_ = w.restart(0) // an error says that another restart is under way
	}
	w.end()
	program.ended.Store(true)
	asking.Wait()
	if late := program.late.Load(); late > 0 || len(w.failed) > 0 {
		t.Errorf("the worker is started %d times after the end, and fails %d times", late, len(w.failed))
	}
}

// The end waits for a start that is under way, since the file is closed after it.
func TestEnd_DuringAStart_WaitsForIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		program := &workless{starting: make(chan struct{})}
		w := newWorker(Program{Lifecycle: program}, over)
		if err := w.restart(0); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // the start is under way
		var ended atomic.Bool
		go func() {
			w.end()
			ended.Store(true)
		}()
		synctest.Wait()
		if ended.Load() {
			t.Error("the end does not wait")
		}
		close(program.starting)
		synctest.Wait()
		if !ended.Load() {
			t.Error("the end waits for nothing")
		}
	})
}

// A worker that cannot be stopped, or started again, ends the demo.
func TestWait_AfterAFailedRestart_SaysWhy(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for name, row := range map[string]struct {
		program *workless
		answers error
		says    string
	}{
		"stop":  {&workless{stop: broken}, broken, "stop the worker: broken"},
		"start": {&workless{start: broken}, nil, "start the worker again: broken"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := &Demo{program: Program{Lifecycle: row.program}}
			d.worker = newWorker(d.program, over)
			if err := d.worker.restart(0); !errors.Is(err, row.answers) {
				t.Errorf("it answers %v", err)
			}
			if err := d.Wait(t.Context()); err == nil || err.Error() != row.says {
				t.Errorf("the demo ends with %v, want %q", err, row.says)
			}
			d.worker.end()
		})
	}
}
