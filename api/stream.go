package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"
	"github.com/labstack/echo/v4"

	"questscheduler/internal/fault"
	"questscheduler/internal/store/changes"
)

// How a stream keeps itself alive.
const (
	// heartbeatEvery keeps proxies from ending a stream on which nothing
	// happens.
	heartbeatEvery = 15 * time.Second
	// recheckEvery is how late a document is seen that another process writes
	// (a vote: twice that, see scanVotes), and how long a stream outlives its
	// token.
	recheckEvery = 30 * time.Second
	// maxStreams is how many streams one person may have open.
	maxStreams = 20
)

// Changes is where the dispatcher hears of polls that were written
// (changes.Store).
type Changes interface {
	// Listen adds a listener, which is closed by whoever asked for it.
	Listen() *changes.Listener
}

// RealTicks ticks by the real clock (Options.Ticks).
func RealTicks(every time.Duration) (ticks <-chan time.Time, stop func()) {
	ticker := time.NewTicker(every)
	return ticker.C, ticker.Stop
}

// pathStream is the route that answers for as long as its caller listens.
const pathStream = "/v1/stream"

// streamRoutes are the routes that answer for as long as the caller listens.
func (s *server) streamRoutes() {
	described := s.describe("GET "+pathStream, "stream", persons,
		"One's own polls as they change, as server-sent events. First comes ready: list the polls then. "+
			"poll gives one that changed, as GET gives it; removed the id of one that is no longer one's own. "+
			"Nothing is sent again after a lost connection: list the polls anew", nil)
	described.Responses = map[string]*huma.Response{"200": {
		Description: "The events.",
		Content:     map[string]*huma.MediaType{"text/event-stream": {Schema: &huma.Schema{Type: huma.TypeString}}},
	}}
	huma.Register(s.huma, described, s.stream)
}

// stream begins a stream. What can be refused is refused here, in the envelope;
// afterwards a stream can only end.
func (s *server) stream(ctx context.Context, _ *struct{}) (*huma.StreamResponse, error) {
	by := callerOf(ctx)
	leave, err := s.streaming.enter(by.person.ID)
	if err != nil {
		return nil, asFailure(err)
	}
	f := newFeed(s, by)
	s.dispatch.enter(f)
	end := func() {
		s.dispatch.leave(f)
		leave()
	}
	if err := f.recheck(ctx); err != nil {
		end()
		return nil, asFailure(err)
	}
	f.shown.learned()
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		defer end()
		hc.SetHeader(echo.HeaderContentType, "text/event-stream")
		hc.SetHeader("X-Accel-Buffering", "no") // for proxies that would wait for more
		hc.SetStatus(http.StatusOK)
		f.out = newEventWriter(humaecho.Unwrap(hc).Response())
		if err := errors.Join(f.run(ctx), f.out.end()); err != nil && ctx.Err() == nil {
			s.Log.WarnContext(ctx, "a stream ended", "trace", by.cause.Trace, "error", err)
		}
	}}, nil
}

// run sends what happens until the caller leaves, the server ends, or the token
// does.
func (f *feed) run(ctx context.Context) error {
	heartbeats, stop := f.Ticks(heartbeatEvery)
	defer stop()
	rechecks, stop := f.Ticks(recheckEvery)
	defer stop()
	err := f.send("ready", struct{}{})
	for err == nil {
		select {
		case <-ctx.Done():
			return nil
		case <-f.Ending:
			return nil
		case <-heartbeats:
			err = f.out.comment()
		case <-rechecks:
			if _, err = f.SignIn.Verify(ctx, f.by.token); fault.Is(err, fault.Unauthenticated) {
				return nil
			}
			if err == nil {
				err = f.dispatch.scanVotes(ctx, &f.scans)
			}
			if err == nil {
				err = f.recheck(ctx)
			}
		case <-f.written.Woken():
			err = f.dispatch.route(ctx)
		case <-f.pending.Woken():
			err = f.showChanged(ctx)
		}
	}
	return err
}
