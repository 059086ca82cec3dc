package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"questscheduler/internal/queue"
	"questscheduler/scheduler"
)

// tickEvery is how often the timers are asked what is due.
const tickEvery = time.Minute

// stopPatience is how long requests may take to end, of which tasks have half
// before they are cancelled: Cloud Run and Docker kill who has not ended 10 s
// after they asked, and a look that is killed holds its calendar for a minute.
// Tests, whose machines are busier, give more.
var stopPatience = 8 * time.Second

// listen takes an address. Requests wait there until the server is started.
func listen(addr string) (net.Listener, error) {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s; is something else running there? %w", addr, err)
	}
	return listener, nil
}

// start puts the server to work: what a dead process held is taken back, tasks
// run, requests are answered, what was owed is handed over at once, and so is
// what may have come to pass while nobody was here.
//
// One of several does no more than to answer: what another holds is not dead,
// leases and intents of one that is come free by themselves within minutes, and
// what is owed is Cloud Scheduler's to ask for, or each start would ask for all
// of it again.
func (s *server) start(ctx context.Context) error {
	if s.alone() {
		if err := s.scheduler.Recover(ctx); err != nil {
			return fmt.Errorf("recover: %w", err)
		}
		s.timers.Started = s.now()
	}
	if err := s.queue.Start(ctx, s.work()); err != nil {
		return fmt.Errorf("start the queue: %w", err)
	}
	go func() {
		if err := s.http.Serve(s.listener); err != nil && !errors.Is(err, http.ErrServerClosed) {
			s.failed <- fmt.Errorf("the server stopped answering: %w", err)
		}
	}()
	s.startListening()
	if !s.alone() {
		return nil
	}
	if err := s.drain(ctx, "start"); err != nil {
		return err
	}
	if s.tasks != nil {
		go s.tick()
		return nil
	}
	if err := s.timers.Tick(ctx); err != nil {
		return fmt.Errorf("start the timers: %w", err)
	}
	return nil
}

func (s *server) drain(ctx context.Context, hint string) error {
	cause := scheduler.Cause{Hint: hint, Trace: s.newTrace()}
	_, err := s.scheduler.Drain(ctx, cause)
	if err != nil {
		return fmt.Errorf("drain: %w", err)
	}
	// What Google does not let through now is due again in a minute, and no
	// reason not to start.
	if _, err := s.links.FollowDue(ctx, cause); err != nil {
		s.log.Warn("what became of linked accounts is not carried on yet", "trace", cause.Trace, "error", err)
	}
	return nil
}

// newTrace names what one hint causes.
func (s *server) newTrace() string { return "trc_" + newULID(s.now()) }

// stop ends the server: no further hints, requests and tasks, then the store.
// Everything is tried, and what need not wait for each other does not: with Cloud
// Tasks a task is a request too, which is answered once its task is cancelled.
// What was accepted and not done is done after the next start, or by another
// instance.
func (s *server) stop() error {
	s.stopTick()
	var answering, working error
	var ending sync.WaitGroup
	ending.Go(s.stopListening)
	ending.Go(func() { answering = s.stopAnswering() })
	ending.Go(func() { working = s.stopWorking() })
	ending.Wait()
	s.outbound.CloseIdleConnections()
	return errors.Join(answering, working, s.closeStores())
}

// stopAnswering lets requests end, and cuts off those that do not.
func (s *server) stopAnswering() error {
	ctx, cancel := context.WithTimeout(context.Background(), s.patience)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		s.log.Warn("requests that did not end were cut off")
		return s.http.Close()
	}
	return err
}

// stopWorking lets tasks end, and cancels those that do not while there is time
// left for them to say so.
func (s *server) stopWorking() error {
	ctx, cancel := context.WithTimeout(context.Background(), s.patience/2)
	defer cancel()
	return s.queue.Stop(ctx)
}

// idlePatience is how long the queue may not say how many tasks it has.
const idlePatience = 10 * time.Second

// awaitIdle returns when no task is due or running, or with ctx's error.
func (s *server) awaitIdle(ctx context.Context) error {
	for answered := s.now(); ; {
		depths, err := s.queue.Depths(ctx)
		if err != nil && s.now().Sub(answered) > idlePatience {
			return err
		}
		if err == nil {
			answered = s.now()
			if !slices.ContainsFunc(depths, func(depth queue.Depth) bool { return depth.Waiting > 0 }) {
				return nil
			}
		}
		if err := wait(ctx, 10*time.Millisecond); err != nil {
			return err
		}
	}
}
