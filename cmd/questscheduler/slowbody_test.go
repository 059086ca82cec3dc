package main

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// withheld sends headers that announce a body, sends none, and waits until the server
// closes the connection.
func withheld(ctx context.Context, address, request string) error {
	connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", strings.TrimPrefix(address, "http://"))
	if err != nil {
		return err
	}
	defer connection.Close()
	deadline, _ := ctx.Deadline()
	if err := connection.SetReadDeadline(deadline); err != nil {
		return err
	}
	_, err = io.WriteString(connection,
		request+" HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n")
	if err != nil {
		return err
	}
	answer, err := io.ReadAll(connection)
	if err == nil && !strings.HasPrefix(string(answer), "HTTP/1.1 4") {
		err = errors.New("the answer is no refusal: " + string(answer))
	}
	return err
}

// closesAll withholds the body of a refused request on each route, and requires that
// the server closes every connection.
func closesAll(t *testing.T, address string, requests ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	const each = 8
	failed := make(chan error, each*len(requests))
	for _, request := range requests {
		for range each {
			go func() { failed <- withheld(ctx, address, request) }()
		}
	}
	open := 0
	for range cap(failed) {
		if err := <-failed; err != nil {
			open++
			t.Log(err)
		}
	}
	if open > 0 {
		t.Errorf("%s keeps %d of %d connections without a body open", address, open, cap(failed))
	}
}

// refusedRoutes are refused without a token: one each of the API, the callables, the
// webhooks, the jobs and the dashboard, and one that does not exist.
var refusedRoutes = []string{
	"POST /v1/polls", "GET /v1/stream", "DELETE /healthz", "POST /googleCalendarFinalizePoll", "POST /webhooks/google/calendar",
	"POST /jobs/drain", "POST /admin/watches/force-register", "POST /nothing/here",
}

func TestServe_RefusedRequestWithoutBody_IsClosed(t *testing.T) {
	t.Parallel()
	s := serve(t, settings(t.TempDir()))
	closesAll(t, s.url, refusedRoutes...)
	if got := s.status("/healthz"); got != http.StatusOK {
		t.Errorf("a health request is answered %d", got)
	}
}

func TestDemo_RefusedRequestWithoutBody_IsClosed(t *testing.T) {
	t.Parallel()
	ready := startDemo(t, t.TempDir())
	closesAll(t, ready.API, "POST /demo", "POST /v1/polls")
	closesAll(t, ready.Google, "POST /calendar/v3/calendars/primary/events", "POST /nothing/here")
	closesAll(t, ready.Discord, "POST /api/v9/channels/1/messages", "POST /nothing/here")
}
