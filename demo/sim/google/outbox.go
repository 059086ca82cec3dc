package google

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"
)

// outbox is what is known of pending pushes beside the world: how often each
// was tried and which are under way. A restart begins anew with it. The
// server's lock guards all but the channels and the wait group.
type outbox struct {
	tries  map[int64]attempt
	flying map[int64]bool
	// woken has room for one: a push was added.
	woken chan struct{}
	stop  context.CancelFunc // nil before Start
	// working counts the goroutines that Start makes.
	working *sync.WaitGroup
	slots   chan struct{}
}

type attempt struct {
	count int
	due   time.Time // zero: at once
}

// maxFlying is how many receivers may hang at once before pushes wait.
const maxFlying = 16

func newOutbox() outbox {
	return outbox{tries: map[int64]attempt{}, flying: map[int64]bool{}, woken: make(chan struct{}, 1),
		working: &sync.WaitGroup{}, slots: make(chan struct{}, maxFlying)}
}

// Delay has a pending push be due no earlier than a time. False: it is not
// pending, or on its way.
func (s *Server) Delay(id int64, until time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.world.pushes[id] == nil || s.outbox.flying[id] {
		return false
	}
	try := s.outbox.tries[id]
	if until.After(try.due) {
		try.due = until
	}
	s.outbox.tries[id] = try
	return true
}

func (o *outbox) wake() {
	select {
	case o.woken <- struct{}{}:
	default: // a wake-up is pending already
	}
}

// outboxNow is the time that retries are due by. In the background that is the
// machine's own: a test clock that stands still must not hold them up.
func (s *Server) outboxNow() time.Time {
	if s.opt.Sequential {
		return s.clock.Now()
	}
	return time.Now()
}

// Start delivers pushes in the background until ctx ends or Close is called,
// those that an earlier process left behind first. It must be called once, and
// not with Options.Sequential.
func (s *Server) Start(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.opt.Sequential || s.outbox.stop != nil {
		stop()
		return errors.New("google simulator: pushes are sequential, or were started before")
	}
	s.outbox.stop = stop
	s.outbox.working.Go(func() { s.dispatch(ctx) })
	return nil
}

// dispatch hands each push that is due to a goroutine of its own.
func (s *Server) dispatch(ctx context.Context) {
	for {
		due, wait := s.duePushes()
		for _, id := range due {
			select {
			case s.outbox.slots <- struct{}{}:
				s.launch(ctx, id)
			case <-ctx.Done():
				return
			}
		}
		timer := time.NewTimer(wait)
		select {
		case <-s.outbox.woken:
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
		timer.Stop()
	}
}

func (s *Server) launch(ctx context.Context, id int64) {
	p, ch, ok := s.claim(id)
	if !ok {
		<-s.outbox.slots
		return
	}
	s.outbox.working.Go(func() {
		defer func() { <-s.outbox.slots; s.outbox.wake() }()
		result, err := s.attempt(ctx, p, ch)
		err = errors.Join(err, s.settle(id, result))
		if err != nil && ctx.Err() == nil {
			s.opt.Log.LogAttrs(ctx, slog.LevelError, "google simulator: push", slog.Int64("push", id), slog.Any("error", err))
		}
	})
}

// idle is how long dispatch sleeps where nothing is pending.
const idle = time.Hour

// duePushes are those to be tried now, oldest first, and how long until there
// may be others.
func (s *Server) duePushes() (due []int64, wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, wait := s.outboxNow(), idle
	for _, id := range sortedKeys(s.world.pushes) {
		until := s.outbox.tries[id].due.Sub(now)
		switch {
		case s.outbox.flying[id]: // its end wakes dispatch
		case s.held(s.world.pushes[id]): // so does what frees it
		case until <= 0:
			due = append(due, id)
		default:
			wait = min(wait, until)
		}
	}
	return due, wait
}

// Close ends the delivery of pushes, waits for those under way until ctx ends,
// and gives back the journal. What was not delivered is kept for the next
// start. Calls that would change something fail afterwards.
func (s *Server) Close(ctx context.Context) error {
	s.mu.Lock()
	stop := s.outbox.stop
	s.mu.Unlock()
	var late error
	if stop != nil {
		stop()
		ended := make(chan struct{})
		go func() { s.outbox.working.Wait(); close(ended) }()
		select {
		case <-ended:
		case <-ctx.Done():
			late = ctx.Err()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.journal == nil {
		return late
	}
	return errors.Join(late, s.journal.Close())
}
