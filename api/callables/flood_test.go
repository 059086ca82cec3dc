package callables

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"questscheduler/api"
	"questscheduler/fault"
	"questscheduler/internal/signin"
	"questscheduler/scheduler"
)

// onlyGM takes one token.
type onlyGM struct{}

// Verify implements signin.Verifier.
func (onlyGM) Verify(_ context.Context, token string) (signin.Person, error) {
	if token != "gm" {
		return signin.Person{}, fault.New(fault.Unauthenticated, "Sign in.")
	}
	return signin.Person{UID: "gm"}, nil
}

// noPolls holds no poll.
type noPolls struct{ Polls }

func (noPolls) DeleteEvent(context.Context, scheduler.Person, string, scheduler.Cause) (bool, error) {
	return false, fault.New(fault.NotFound, "There is no such poll.")
}

// edge is the server's edge with the functions, where an address may call twice.
func edge(t *testing.T, upstream string) (send func(path, token string) int, lines func() int) {
	t.Helper()
	var text strings.Builder
	log := slog.New(slog.NewTextHandler(&text, nil))
	now := func() time.Time { return time.Date(2026, 2, 1, 12, 0, 0, 0, time.UTC) }
	e := api.New(api.Options{Now: now, NewID: func(prefix string) string { return prefix + "_1" }, Log: log})
	err := Register(e, Options{
		Polls: noPolls{}, SignIn: onlyGM{}, Upstream: upstream, Log: log, Refused: api.Sampled(log, now),
		LimitPerson: api.LimitPerson(api.Rate{}, now), LimitAddress: api.LimitAddress(api.Rate{PerSecond: 0.001, Burst: 2}, now),
	})
	if err != nil {
		t.Fatal(err)
	}
	send = func(path, token string) int {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(`{"data":{"schedulerId":"p"}}`))
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Authorization", "Bearer "+token)
		recorder := httptest.NewRecorder()
		e.ServeHTTP(recorder, request)
		if recorder.Code == http.StatusTooManyRequests && recorder.Header().Get("Retry-After") == "" {
			t.Error("429 does not say when to come again")
		}
		return recorder.Code
	}
	return send, func() int { return strings.Count(text.String(), "\n") }
}

func TestCalls_ForgedOverTheRate_CostNoLine(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/" + nameDelete, "/noSuchFunction"} {
		send, lines := edge(t, "")
		send(path, "forged")
		send(path, "forged")
		before := lines()
		for range 1000 {
			if status := send(path, "forged"); status != http.StatusTooManyRequests {
				t.Fatalf("%s is answered %d", path, status)
			}
		}
		if written := lines() - before; written > 20 { // ten of the request, ten of the call
			t.Errorf("%s: 1000 calls over the rate wrote %d lines", path, written)
		}
	}
}

func TestCalls_OfAKnownCaller_AreAllLogged(t *testing.T) {
	t.Parallel()
	send, lines := edge(t, "")
	for range 3 {
		send("/"+nameDelete, "forged")
	}
	before := lines()
	for range 50 {
		if status := send("/"+nameDelete, "gm"); status != http.StatusNotFound {
			t.Fatalf("answered %d", status)
		}
	}
	if written := lines() - before; written != 100 {
		t.Errorf("50 calls wrote %d lines, want 100", written)
	}
}

// TestCalls_PassedOnInVain_AreSampled: the functions behind us say who may call
// them, so while they are away nobody knows who does.
func TestCalls_PassedOnInVain_AreSampled(t *testing.T) {
	t.Parallel()
	away := httptest.NewServer(http.NotFoundHandler())
	away.Close()
	send, lines := edge(t, away.URL)
	for range 200 {
		if status := send("/theirs", "forged"); status != http.StatusServiceUnavailable {
			t.Fatalf("answered %d", status)
		}
	}
	if written := lines(); written != 20 {
		t.Errorf("200 calls wrote %d lines, want 20", written)
	}
}
