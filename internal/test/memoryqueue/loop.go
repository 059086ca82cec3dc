package memoryqueue

import (
	"context"
	"sync"
	"time"

	"questscheduler/internal/fault"
	"questscheduler/internal/queue"
)

// stopGrace is how long cancelled handlers may take to return.
const stopGrace = 5 * time.Second

// loop is the worker loop of a started queue: one goroutine that begins runs
// and one for each run. Its fields but those named are set once.
type loop struct {
	queue  *Queue
	config queue.Config
	// runContext is every handler's parent; cancelRuns ends it.
	runContext context.Context
	cancelRuns context.CancelFunc
	// woken holds at most one value: something changed.
	woken chan struct{}
	// stop is closed to begin no further run.
	stop chan struct{}
	// runs counts the loop and the runs that it began.
	runs sync.WaitGroup
	// busy counts runs by kind; guarded by the queue's mutex.
	busy map[string]int
}

// Start implements queue.Queue. The error is Invalid or Conflict.
func (q *Queue) Start(ctx context.Context, config queue.Config) error {
	if err := queue.CheckConfig(config, q.kinds); err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.loop != nil {
		return fault.New(fault.Conflict, "the queue is started already; stop it first")
	}
	l := &loop{
		queue: q, config: config,
		woken: make(chan struct{}, 1), stop: make(chan struct{}), busy: map[string]int{},
	}
	l.runContext, l.cancelRuns = context.WithCancel(context.WithoutCancel(ctx))
	q.loop = l
	l.runs.Go(l.work)
	return nil
}

// Stop implements queue.Queue. After an error a handler has ignored its cancelled context
// for stopGrace, and its task stays unsettled.
func (q *Queue) Stop(ctx context.Context) error {
	q.mu.Lock()
	l := q.loop
	q.loop = nil
	q.mu.Unlock()
	if l == nil {
		return nil
	}
	close(l.stop)
	ended := make(chan struct{})
	go func() {
		l.runs.Wait()
		close(ended)
	}()
	defer l.cancelRuns()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
	}
	l.cancelRuns()
	grace := time.NewTimer(stopGrace)
	defer grace.Stop()
	select {
	case <-ended:
		return nil
	case <-grace.C:
		return fault.New(fault.Unavailable, "the queue stopped while a handler did not return; its task is run again after a restart")
	}
}

// wake makes the loop check for due tasks; a nil loop is not started.
func (l *loop) wake() {
	if l == nil {
		return
	}
	select {
	case l.woken <- struct{}{}:
	default:
	}
}

// work begins runs as tasks become due and workers free, until stop.
func (l *loop) work() {
	for {
		wait, more := l.beginDue()
		timer := time.NewTimer(wait)
		due := timer.C
		if !more {
			due = nil
		}
		select {
		case <-l.stop:
			timer.Stop()
			return
		case <-l.woken:
		case <-due:
		}
		timer.Stop()
	}
}

// beginDue begins every due run that has a free worker, and returns the time until the next
// task is due; false where none is, except for tasks that wait for a worker, whose end
// wakes the loop.
func (l *loop) beginDue() (time.Duration, bool) {
	q := l.queue
	now := q.now()
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.loop != l {
		return 0, false
	}
	for _, t := range q.inState(waiting) {
		if t.due.After(now) {
			return t.due.Sub(now), true
		}
		if l.busy[t.Kind] < l.config.WorkersFor(t.Kind) {
			l.busy[t.Kind]++
			run := q.begin(t)
			l.runs.Go(func() { l.run(run) })
		}
	}
	return 0, false
}

// run runs one task to its verdict.
func (l *loop) run(run *Run) {
	verdict := queue.Invoke(l.runContext, l.config.Handlers[run.Kind], run.Delivery)
	verdict = verdict.Final(run.Attempt, l.queue.now().Sub(run.since), l.runContext.Err() != nil)
	queue.LogVerdict(l.runContext, l.queue.log, run.Delivery, verdict)
	run.Settle(verdict)
	l.queue.mu.Lock()
	l.busy[run.Kind]--
	l.queue.mu.Unlock()
	l.wake()
}
