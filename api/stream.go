package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"
	"github.com/labstack/echo/v4"

	"questscheduler/fault"
	"questscheduler/internal/store/changes"
)

const (
	// heartbeatEvery keeps proxies from closing an idle stream.
	heartbeatEvery = 15 * time.Second
	// recheckEvery is how late a stream shows a document that another process wrote
	// (a vote: twice that, see scanVotes), and how long it outlives its token.
	recheckEvery = 30 * time.Second
	// maxStreams is how many streams a person may have open.
	maxStreams = 20
)

// Changes tells which polls were written (changes.Store).
type Changes interface {
	// Listen adds a listener, which the caller closes.
	Listen() *changes.Listener
}

// RealTicks ticks by the real clock (Options.Ticks).
func RealTicks(every time.Duration) (ticks <-chan time.Time, stop func()) {
	ticker := time.NewTicker(every)
	return ticker.C, ticker.Stop
}

const pathStream = "/v1/stream"

func (s *server) streamRoutes() {
	described := s.describe("GET "+pathStream, "stream", persons,
		"The caller's polls as they change, as server-sent events. The first event is ready: list the polls then. "+
			"poll has a changed poll, as GET returns it; removed has the id of a poll that the caller may no longer read. "+
			"Events are not repeated after a lost connection: list the polls again", nil)
	described.Responses = map[string]*huma.Response{"200": {
		Description: "The events.",
		Content:     map[string]*huma.MediaType{"text/event-stream": {Schema: &huma.Schema{Type: huma.TypeString}}},
	}}
	huma.Register(s.huma, described, s.stream)
}

// stream begins a stream. Errors up to here are answered in the envelope; a stream
// that began can only end.
func (s *server) stream(ctx context.Context, _ *struct{}) (*huma.StreamResponse, error) {
	f := newFeed(s, callerOf(ctx))
	if err := s.dispatch.enter(f); err != nil {
		return nil, err
	}
	if err := f.recheck(ctx); err != nil {
		s.dispatch.leave(f)
		return nil, asFailure(err)
	}
	f.sent.learned()
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		defer s.dispatch.leave(f)
		hc.SetHeader(echo.HeaderContentType, "text/event-stream")
		hc.SetHeader("X-Accel-Buffering", "no") // for proxies that would wait for more
		hc.SetStatus(http.StatusOK)
		out := humaecho.Unwrap(hc).Response()
		f.out = &eventWriter{out: out, connection: http.NewResponseController(out)}
		if err := errors.Join(f.run(ctx), f.out.extend()); err != nil && ctx.Err() == nil {
			s.Log.WarnContext(ctx, "a stream ended", "trace", f.by.cause.Trace, "error", err)
		}
	}}, nil
}

// run sends events until the caller disconnects, the server stops or the token
// expires.
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
		case <-f.Stopping:
			return nil
		case <-heartbeats:
			err = f.out.write([]byte(": still here\n\n"))
		case <-rechecks:
			_, err = f.SignIn.Verify(ctx, f.by.token)
			if fault.Is(err, fault.Unauthenticated) {
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
			err = f.sendChanged(ctx)
		}
	}
	return err
}
