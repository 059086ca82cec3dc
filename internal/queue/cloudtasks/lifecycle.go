package cloudtasks

import (
	"context"
	"sync"
	"time"

	"questscheduler/internal/fault"
	"questscheduler/internal/queue"
)

// session is the time between a Start and its Stop.
type session struct {
	handlers map[string]queue.Handler
	workers  map[string]chan struct{} // semaphores, by kind
	ctx      context.Context          //nolint:containedctx // the handlers' context, which Stop cancels
	cancel   context.CancelFunc
	closing  chan struct{}  // closed by Stop
	running  sync.WaitGroup // deliveries; Add only under Queue.mu, before Stop
}

// stopGrace is how long cancelled handlers may take to return.
const stopGrace = 5 * time.Second

// Start implements queue.Queue.
func (q *Queue) Start(ctx context.Context, config queue.Config) error {
	if err := queue.CheckConfig(config, q.with.Kinds); err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.session != nil {
		return fault.New(fault.Conflict, "the queue is started already")
	}
	s := &session{handlers: config.Handlers, workers: map[string]chan struct{}{}, closing: make(chan struct{})}
	for _, kind := range q.with.Kinds {
		s.workers[kind] = make(chan struct{}, config.WorkersFor(kind))
	}
	s.ctx, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	q.session = s
	return nil
}

// Stop implements queue.Queue. Later deliveries are refused, so that Cloud Tasks
// sends them again, to this process or another.
func (q *Queue) Stop(ctx context.Context) error {
	q.mu.Lock()
	s := q.session
	q.session = nil
	q.mu.Unlock()
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
		return fault.New(fault.Unavailable, "a handler does not end with its context")
	}
}

// join adds a delivery to the current session, until running.Done; nil where the
// queue is stopped.
func (q *Queue) join() *session {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.session != nil {
		q.session.running.Add(1)
	}
	return q.session
}

// acquire waits for a worker of the kind, until release. It is false where none is
// free in time, the delivery's ctx ends or the queue stops.
func (s *session) acquire(ctx context.Context, kind string) bool {
	select {
	case <-s.closing:
		return false
	default:
	}
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
