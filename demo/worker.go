package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"questscheduler/api"
	"questscheduler/fault"
)

// longestDown is how long the worker can be down.
const longestDown = 10 * time.Second

// worker stops and starts the work of the outbox for the demo's page. Requests are
// answered while it is down, and what they record waits.
type worker struct {
	program Program
	failed  chan error // why it cannot go on; sent once
	// after starts a timer.
	after func(time.Duration) <-chan time.Time

	mu     sync.Mutex
	down   bool          // from the stop to the start
	ending chan struct{} // closed by end
	ended  bool
	starts sync.WaitGroup // restarts under way; Add only under mu, before end
}

// newWorker makes a worker that pauses by after, or time.After where that is nil.
func newWorker(p Program, after func(time.Duration) <-chan time.Time) *worker {
	if after == nil {
		after = time.After
	}
	return &worker{program: p, failed: make(chan error, 1), after: after, ending: make(chan struct{})}
}

// restart cancels running tasks, as a crash would, and returns once all have ended.
// The work begins again after pause. Errors: Conflict (a restart is under way),
// Unavailable (the demo ends, or a task did not end; then the demo ends too).
func (w *worker) restart(pause time.Duration) error {
	if err := w.claim(); err != nil {
		return err
	}
	// Independent of the request: a caller who leaves must not leave the worker down.
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // Stop waits for no task
	if err := w.program.StopWork(ctx); err != nil {
		w.starts.Done()
		w.failed <- fmt.Errorf("stop the worker: %w", err)
		return err
	}
	go func() {
		defer w.starts.Done()
		select {
		case <-w.after(pause):
			w.start()
		case <-w.ending:
		}
	}()
	return nil
}

func (w *worker) claim() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.ended:
		return fault.New(fault.Unavailable, "The demo ends.")
	case w.down:
		return fault.New(fault.Conflict, "The worker is being restarted already. Wait until it is back.")
	}
	w.down = true
	w.starts.Add(1)
	return nil
}

func (w *worker) start() {
	if err := w.program.StartWork(context.Background()); err != nil {
		w.failed <- fmt.Errorf("start the worker again: %w", err)
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.down = false
}

// end refuses further restarts and returns once none is under way. A worker that is
// down then stays down.
func (w *worker) end() {
	w.mu.Lock()
	if !w.ended {
		w.ended = true
		close(w.ending)
	}
	w.mu.Unlock()
	w.starts.Wait()
}

// restartWorker restarts the worker for the page. after_ms is how long it is down.
func (d *Demo) restartWorker(c echo.Context) error {
	var body struct {
		AfterMS int `json:"after_ms"`
	}
	decoder := json.NewDecoder(http.MaxBytesReader(c.Response(), c.Request().Body, 1<<10))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&body); err != nil && !errors.Is(err, io.EOF) { // no body: no pause
		return fault.Wrap(fault.Invalid, err, `Send no body, or JSON such as {"after_ms": 3000}.`)
	}
	if body.AfterMS < 0 || body.AfterMS > int(longestDown.Milliseconds()) {
		return fault.Field("after_ms", fmt.Sprintf("must be between 0 and %d", longestDown.Milliseconds()))
	}
	if err := d.worker.restart(time.Duration(body.AfterMS) * time.Millisecond); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// localCall keeps a control to this machine, and from the scripts of other pages: a
// browser sends their requests too, without a preflight.
func localCall(next echo.HandlerFunc) echo.HandlerFunc {
	pages := http.NewCrossOriginProtection()
	return func(c echo.Context) error {
		if !api.FromThisMachine(c.Request()) {
			return fault.New(fault.Forbidden, sayLocal)
		}
		if err := pages.Check(c.Request()); err != nil {
			return fault.Wrap(fault.Forbidden, err, "Only the demo's own page may do this.")
		}
		return next(c)
	}
}
