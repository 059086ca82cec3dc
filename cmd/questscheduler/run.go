package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"questscheduler/internal/config"
)

// stopPatience is how long requests may take to end; runs of outside work have half of it before
// they are cancelled. Cloud Run and Docker kill a process 10 s after they asked it
// to end, and a sync that is killed holds its calendar for a minute. Tests, on busier
// machines, allow more.
var stopPatience = 8 * time.Second

// listen takes an address. Requests wait there until the program starts.
func listen(addr string) (net.Listener, error) {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s; is something else running there? %w", addr, err)
	}
	return listener, nil
}

// withProgram opens the program with the settings of the environment, without
// starting it, and stops it after do.
func withProgram(ctx context.Context, process Process, do func(*program) error) (err error) {
	cfg, err := loadSettings(process.Environ, config.Default())
	if err != nil {
		return err
	}
	p, err := openProgram(ctx, cfg, wallClock, newLogger(cfg, process.Stderr))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.stop()) }()
	return do(p)
}

// start recovers what a dead process left, drains and runs what is due, and answers requests.
//
// One of several processes skips recovery, drain and timers: the others are not
// dead, leases and intents of one that is expire within minutes, and Cloud Scheduler
// asks for the drain.
func (p *program) start(ctx context.Context, listener net.Listener) error {
	if p.alone() {
		if err := p.scheduler.Recover(ctx); err != nil {
			return fmt.Errorf("recover: %w", err)
		}
	}
	if err := p.startWork(ctx); err != nil {
		return fmt.Errorf("start the work: %w", err)
	}
	p.listening.Go(func() {
		if err := p.http.Serve(listener); err != nil && !errors.Is(err, http.ErrServerClosed) {
			p.failed <- fmt.Errorf("the server stopped answering: %w", err)
		}
	})
	if p.pollListener != nil {
		p.listening.Go(func() { p.pollListener.Run(p.ending) })
	}
	if p.tasks != nil && p.alone() {
		p.listening.Go(p.drainEveryMinute)
	}
	return nil
}

// drainEveryMinute drains at once and every minute, in place of Cloud Scheduler.
func (p *program) drainEveryMinute() {
	for waited := error(nil); waited == nil; waited = wait(p.ending, time.Minute) {
		if _, err := p.outbox.Drain(p.ending); err != nil && p.ending.Err() == nil {
			p.log.Warn("work that is due is left to the next drain", "error", err)
		}
	}
}

// stop ends the listener, requests and tasks at the same time, since with Cloud Tasks
// a request waits for its task, and then closes the stores. Whatever fails, the rest
// is still ended. Work that is left is done after the next start, or by another
// instance.
func (p *program) stop() error {
	p.end()
	var answering, working error
	var ending sync.WaitGroup
	ending.Go(p.listening.Wait)
	ending.Go(func() { answering = p.stopAnswering() })
	ending.Go(func() { working = p.stopWorking() })
	ending.Wait()
	p.outbound.CloseIdleConnections()
	return errors.Join(answering, working, p.closeStores())
}

// stopAnswering waits for requests to end, and cuts off those that do not.
func (p *program) stopAnswering() error {
	ctx, cancel := context.WithTimeout(context.Background(), p.patience)
	defer cancel()
	err := p.http.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		p.log.Warn("requests that did not end were cut off")
		return p.http.Close()
	}
	return err
}

// stopWorking waits for runs of outside work to end, and cancels those that do not while
// requests of Cloud Tasks can still be answered.
func (p *program) stopWorking() error {
	ctx, cancel := context.WithTimeout(context.Background(), p.patience/2)
	defer cancel()
	return p.stopWork(ctx)
}

// idlePatience is how long Cloud Tasks may fail to say what waits.
const idlePatience = 10 * time.Second

// awaitIdle returns when no work runs or waits for the next minute, or with ctx's error.
func (p *program) awaitIdle(ctx context.Context) error {
	for answered := p.now(); ; {
		idle, err := p.idle(ctx)
		switch {
		case err == nil && idle:
			return nil
		case err == nil:
			answered = p.now()
		case p.now().Sub(answered) > idlePatience:
			return err
		}
		if err := wait(ctx, 10*time.Millisecond); err != nil {
			return err
		}
	}
}
