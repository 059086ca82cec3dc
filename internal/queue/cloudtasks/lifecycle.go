package cloudtasks

import (
	"context"
	"time"

	"questscheduler/internal/fault"
	"questscheduler/internal/queue"
)

// shift is the time from a Start to its Stop.
type shift struct {
	q        *Queue
	handlers map[string]queue.Handler
	slots    map[string]chan struct{} // a worker each, by kind
	ctx      context.Context          //nolint:containedctx // it is that of the handlers, and ends with Stop
	cancel   context.CancelFunc

	closing chan struct{} // closed when nothing more is begun
	idle    chan struct{} // closed when nothing runs after that
	running int           // guarded by q.mu
}

// stubborn is how long handlers that were cancelled may take to end.
const stubborn = 5 * time.Second

// Start begins to run the tasks that are delivered; see queue.Queue.
func (q *Queue) Start(ctx context.Context, config queue.Config) error {
	if err := queue.CheckConfig(config, q.with.Kinds); err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.shift != nil {
		return fault.New(fault.Conflict, "the queue is started already")
	}
	s := &shift{
		q: q, handlers: config.Handlers, slots: map[string]chan struct{}{},
		closing: make(chan struct{}), idle: make(chan struct{}),
	}
	for _, kind := range q.with.Kinds {
		s.slots[kind] = make(chan struct{}, config.WorkersFor(kind))
	}
	s.ctx, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	q.shift = s
	return nil
}

// Stop begins nothing more, and waits for what runs; see queue.Queue. What is
// delivered from then on is refused and comes again, to this process or another.
func (q *Queue) Stop(ctx context.Context) error {
	q.mu.Lock()
	s := q.shift
	q.shift = nil
	if s != nil {
		close(s.closing)
		s.tellIdle()
	}
	q.mu.Unlock()
	if s == nil {
		return nil
	}
	defer s.cancel()
	select {
	case <-s.idle:
		return nil
	case <-ctx.Done():
	}
	s.cancel()
	patience := time.NewTimer(stubborn)
	defer patience.Stop()
	select {
	case <-s.idle:
		return nil
	case <-patience.C:
		return fault.New(fault.Unavailable, "a handler does not end with its context")
	}
}

// begin takes part in the present shift, until end; nil where there is none.
func (q *Queue) begin() *shift {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.shift != nil {
		q.shift.running++
	}
	return q.shift
}

func (s *shift) end() {
	s.q.mu.Lock()
	defer s.q.mu.Unlock()
	s.running--
	select {
	case <-s.closing:
		s.tellIdle()
	default:
	}
}

// tellIdle says so where nothing runs; the caller holds q.mu, and nothing is
// begun any more.
func (s *shift) tellIdle() {
	if s.running == 0 {
		close(s.idle)
	}
}

// take waits for a worker of the kind, until giveBack. It is false where none is
// free for a while, nobody waits for the answer any more, or the shift is over.
func (s *shift) take(ctx context.Context, kind string) bool {
	select {
	case <-s.closing:
		return false
	default:
	}
	patience := time.NewTimer(turnPatience)
	defer patience.Stop()
	select {
	case s.slots[kind] <- struct{}{}:
		return true
	case <-s.closing:
	case <-ctx.Done():
	case <-patience.C:
	}
	return false
}

func (s *shift) giveBack(kind string) { <-s.slots[kind] }
