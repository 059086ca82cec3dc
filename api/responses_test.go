package api_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"

	"questscheduler/fault"
)

func TestEveryAnswer_IsInTheEnvelope(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	secret := errors.New("dial /var/" + marker)
	w.echo.GET("/panics", func(echo.Context) error { panic(marker) })
	w.echo.GET("/fails", func(echo.Context) error { return secret })
	w.echo.GET("/misuses", func(echo.Context) error { return fault.Wrap(fault.Internal, secret, marker) })
	w.echo.GET("/asks", func(echo.Context) error { return fault.Wrap(fault.Invalid, secret, "Say more.") })
	w.echo.GET("/refuses", func(echo.Context) error { return echo.NewHTTPError(http.StatusTeapot, marker) })
	for _, row := range []struct {
		method, path string
		status       int
		code         string
	}{
		{"GET", "/healthz", 200, ""},
		{"GET", "/health", 200, ""},
		{"GET", "/readyz", 200, ""},
		{"GET", "/", 404, "NOT_FOUND"},
		{"GET", "/" + marker, 404, "NOT_FOUND"},
		{"GET", "/v1", 404, "NOT_FOUND"},
		{"GET", "/v1/polls/", 404, "NOT_FOUND"},
		{"GET", "//v1/polls", 404, "NOT_FOUND"},
		{"GET", "/v1/../v1/polls", 404, "NOT_FOUND"},
		{"GET", "/openapi.yaml", 404, "NOT_FOUND"},
		{"DELETE", "/v1/groups", 405, "METHOD_NOT_ALLOWED"},
		{"BREW", "/v1/polls", 405, "METHOD_NOT_ALLOWED"},
		{"POST", "/healthz", 405, "METHOD_NOT_ALLOWED"},
		{"GET", "/panics", 500, "INTERNAL_ERROR"},
		{"GET", "/fails", 500, "INTERNAL_ERROR"},
		{"GET", "/misuses", 500, "INTERNAL_ERROR"},
		{"GET", "/asks", 400, "VALIDATION_ERROR"},
		{"GET", "/refuses", 400, "VALIDATION_ERROR"},
	} {
		got := w.do(call{method: row.method, path: row.path})
		if got.status != row.status || got.Error.Code != row.code {
			t.Errorf("%s %s: %d %s", row.method, row.path, got.status, got.text)
		}
		if strings.Contains(got.text, marker) {
			t.Errorf("%s %s gives away what is inside: %s", row.method, row.path, got.text)
		}
		if row.status == 405 && got.header.Get("Allow") == "" {
			t.Errorf("%s %s does not say what is allowed", row.method, row.path)
		}
		if got.header.Get("X-Content-Type-Options") != "nosniff" || got.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s %s: headers %v", row.method, row.path, got.header)
		}
		if row.code == "INTERNAL_ERROR" && !logged(w, got.Meta.RequestID, marker) {
			t.Errorf("%s %s: the log does not say why, by the request's id", row.method, row.path)
		}
	}
}

// logged reports whether one line of the log holds all of the words.
func logged(w *world, words ...string) bool {
	for line := range strings.Lines(w.log.String()) {
		holds := true
		for _, word := range words {
			holds = holds && strings.Contains(line, word)
		}
		if holds {
			return true
		}
	}
	return false
}

func TestReady_WhileTheServerCannotWork_Is503(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ready = errors.New("no store at /var/" + marker)
	got := w.want(503, call{method: "GET", path: "/readyz"}, nil)
	if got.Error.Code != "UNAVAILABLE" || got.header.Get("Retry-After") == "" || strings.Contains(got.text, marker) {
		t.Errorf("answered %s with %v", got.text, got.header)
	}
}

func TestRequestID_IsOurOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	got := w.want(200, call{method: "GET", path: "/healthz", header: map[string]string{"X-Request-Id": marker}}, nil)
	if got.Meta.RequestID == marker {
		t.Error("the caller chose the request's id")
	}
}

func TestLog_HasALinePerRequest_WithoutSecrets(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.newPoll(nil)
	got := w.do(call{as: "gm", method: "GET", path: "/v1/polls/" + made.ID + "?token=" + marker})
	if !logged(w, got.Meta.RequestID, `"method":"GET"`, `"route":"/v1/polls/:id"`, `"status":400`, `"code":"VALIDATION_ERROR"`, `"duration"`) {
		t.Errorf("no line of the request in %s", w.log)
	}
	if log := w.log.String(); strings.Contains(log, marker) || strings.Contains(log, w.tokens["gm"]) {
		t.Error("the log holds the query or the token")
	}
}

func TestAnswer_IsJSON_WhateverIsAccepted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, accept := range []string{"", "*/*", "text/html", "application/cbor", "json", marker + ";;q=x", "application/json;q=0"} {
		got := w.want(200, call{as: "gm", method: "GET", path: "/v1/polls", header: map[string]string{"Accept": accept}}, nil)
		if kind := got.header.Get("Content-Type"); !strings.HasPrefix(kind, "application/json") {
			t.Errorf("%q is answered as %q", accept, kind)
		}
	}
}
