package cloudtasks

import (
	"context"
	"sync"
	"time"

	"questscheduler/fault"
)

// session is the time between a Start and its Stop.
type session struct {
	workers map[string]chan struct{} // semaphores, by kind
	ctx     context.Context          //nolint:containedctx // the runs' context, which Stop cancels
	cancel  context.CancelFunc
	closing chan struct{}  // closed by Stop
	running sync.WaitGroup // deliveries; Add only under Waker.mu, before Stop
}

// stopGrace is how long cancelled runs may take to end.
const stopGrace = 5 * time.Second

// Start accepts deliveries of the outbox's kinds. Runs have ctx's values, not its end: Stop
// ends them. Conflict: it is started already.
func (w *Waker) Start(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.session != nil {
		return fault.New(fault.Conflict, "Deliveries are accepted already.")
	}
	s := &session{workers: map[string]chan struct{}{}, closing: make(chan struct{})}
	for _, kind := range w.work.Kinds() {
		s.workers[kind] = make(chan struct{}, w.work.Workers(kind))
	}
	s.ctx, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	w.session = s
	return nil
}

// Stop refuses later deliveries, so that Cloud Tasks sends them again, to this process or
// another. It waits for runs until ctx ends, and then cancels them. Unavailable where a
// handler ignores the end of its context.
func (w *Waker) Stop(ctx context.Context) error {
	w.mu.Lock()
	s := w.session
	w.session = nil
	w.mu.Unlock()
	if s == nil {
		return nil
	}
	close(s.closing)
	defer s.cancel()
	idle := make(chan struct{})
	go func() {
		s.running.Wait()
		close(idle)
	}()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
	}
	s.cancel()
	select {
	case <-idle:
		return nil
	case <-time.After(stopGrace):
		return fault.New(fault.Unavailable, "A handler does not end with its context.")
	}
}

// join adds a delivery to the current session, until running.Done; nil where it is stopped.
func (w *Waker) join() *session {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.session != nil {
		w.session.running.Add(1)
	}
	return w.session
}

// acquire waits for a worker of the kind, until release. It is false where none is free in time,
// the delivery's ctx ends or the waker stops.
func (s *session) acquire(ctx context.Context, kind string) bool {
	select {
	case s.workers[kind] <- struct{}{}:
		return true
	case <-s.closing:
	case <-ctx.Done():
	case <-time.After(workerPatience):
	}
	return false
}

func (s *session) release(kind string) { <-s.workers[kind] }
