package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"
	"github.com/labstack/echo/v4"

	"questscheduler/fault"
)

const (
	// heartbeatEvery keeps proxies from closing an idle stream.
	heartbeatEvery = 15 * time.Second
	// recheckEvery is how late a stream shows a poll's document that another process
	// wrote, and how long it outlives its token.
	recheckEvery = 30 * time.Second
	// streamAge is how long a stream lasts. What a recheck cannot find, such as a vote
	// that another process wrote, the caller finds when it connects again and lists.
	// Cloud Run cuts a request off later (deploy/service.yaml).
	streamAge = 4 * time.Minute
)

// RealTicks ticks by the real clock (Options.Ticks).
func RealTicks(every time.Duration) (ticks <-chan time.Time, stop func()) {
	ticker := time.NewTicker(every)
	return ticker.C, ticker.Stop
}

const pathStream = "/v1/stream"

func (s *server) streamRoutes() {
	described := s.describe("GET "+pathStream, "stream", persons,
		"Which of the caller's polls change, as server-sent events. The first event is ready: list the polls then. "+
			"poll has the id and the etag of a changed poll: GET it, unless you have that ETag. "+
			"removed has the id of a poll that is no longer the caller's. "+
			"A stream ends after 4 minutes at the latest, and repeats no events: connect again, and list", nil)
	described.Responses = map[string]*huma.Response{"200": {
		Description: "The events.",
		Content:     map[string]*huma.MediaType{"text/event-stream": {Schema: &huma.Schema{Type: huma.TypeString}}},
	}}
	huma.Register(s.huma, described, s.stream)
}

// stream begins a stream. Errors up to here are answered in the envelope; a stream
// that began can only end.
func (s *server) stream(ctx context.Context, _ *struct{}) (*huma.StreamResponse, error) {
	f := &feed{server: s, by: callerOf(ctx), known: map[string]sentPoll{}}
	f.open = s.streams.Enter(f.by.person.ID) // before the polls are read, so that no change is missed
	if f.open == nil {
		return nil, errTooFast(recheckEvery)
	}
	if err := f.learn(ctx); err != nil {
		s.streams.Leave(f.open)
		return nil, asFailure(err)
	}
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		defer s.streams.Leave(f.open)
		hc.SetHeader(echo.HeaderContentType, "text/event-stream")
		hc.SetHeader("X-Accel-Buffering", "no") // for proxies that would wait for more
		hc.SetStatus(http.StatusOK)
		out := humaecho.Unwrap(hc).Response()
		f.out = &eventWriter{out: out, connection: http.NewResponseController(out)}
		if err := f.run(ctx); err != nil && ctx.Err() == nil {
			s.Log.WarnContext(ctx, "a stream ended", "trace", f.by.cause.Trace, "error", err)
		}
	}}, nil
}

// run sends events until the caller disconnects, the server stops, the token expires,
// or the caller must list again: after streamAge, or beyond a bound.
func (f *feed) run(ctx context.Context) error {
	heartbeats, stop := f.Ticks(heartbeatEvery)
	defer stop()
	rechecks, stop := f.Ticks(recheckEvery)
	defer stop()
	ended, stop := f.Ticks(streamAge)
	defer stop()
	err := f.send("ready", struct{}{})
	for err == nil && len(f.known) <= maxKnown {
		select {
		case <-ctx.Done():
			return nil
		case <-f.Stopping:
			return nil
		case <-ended:
			return nil
		case <-heartbeats:
			err = f.out.write([]byte(": still here\n\n"))
		case <-rechecks:
			_, err = f.SignIn.Verify(ctx, f.by.token)
			if fault.Is(err, fault.Unauthenticated) {
				return nil
			}
			if err == nil {
				err = f.recheck(ctx)
			}
		case change, listening := <-f.open.Changed:
			if !listening {
				return nil // changes were lost
			}
			err = f.apply(ctx, change)
		}
	}
	return err
}
