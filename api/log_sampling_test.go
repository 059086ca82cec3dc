package api_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"questscheduler/api"
)

func TestSampled_ManyLinesOfAKind_AreCounted(t *testing.T) {
	t.Parallel()
	var out logText
	clock := newStillClock()
	log := api.Sampled(slog.New(slog.NewJSONHandler(&out, nil)), clock.now).With("part", "edge")
	write := func(times int, status int) {
		for i := range times {
			log.Info("request", "status", status, "request_id", fmt.Sprint("req_", i))
		}
	}
	write(1000, 401)
	write(3, 404)
	clock.advance(59 * time.Second)
	write(1, 401)
	clock.advance(time.Second)
	write(2, 401)
	clock.advance(-time.Hour) // the clock is set back
	write(1, 401)
	var got []string
	for line := range strings.Lines(out.String()) {
		var one struct {
			Status, Suppressed int
			Part               string
		}
		must(t, json.Unmarshal([]byte(line), &one))
		if one.Part != "edge" {
			t.Errorf("the line %s lost an attribute", line)
		}
		got = append(got, fmt.Sprintf("%d/%d", one.Status, one.Suppressed))
	}
	want := strings.Repeat("401/0 ", 10) + strings.Repeat("404/0 ", 3) + "401/991 401/0 401/0"
	if strings.Join(got, " ") != want {
		t.Errorf("status and suppressed are\n%s, want\n%s", strings.Join(got, " "), want)
	}
}

func TestSampled_EndlessKinds_ShareALimit(t *testing.T) {
	t.Parallel()
	var out logText
	log := api.Sampled(slog.New(slog.NewJSONHandler(&out, nil)), newStillClock().now)
	for i := range 5000 {
		log.Info("request", "route", fmt.Sprint("/", i))
	}
	if written := strings.Count(out.String(), "\n"); written != 1010 {
		t.Errorf("%d lines of 5000 kinds were written", written)
	}
}

// TestLimit_OverTheRate_CostsNothing: with its store closed the server answers 429
// to every request that proves nothing, so none of them reads or writes.
func TestLimit_OverTheRate_CostsNothing(t *testing.T) {
	t.Parallel()
	forged := map[string]string{"Authorization": "Bearer forged"}
	cookie := map[string]string{"Cookie": "questscheduler_admin=forged"}
	form := map[string]string{"Content-Type": "application/x-www-form-urlencoded", "Sec-Fetch-Site": "same-origin"}
	for name, c := range map[string]call{
		"an unknown state":           {method: "GET", path: "/oauth/google/callback?state=v1.default.forged&code=x"},
		"a forged ticket":            {method: "GET", path: "/oauth/google/start?ticket=forged"},
		"a link by a forged token":   {method: "GET", path: "/oauth/google/start", header: forged},
		"a forged sign-in":           {method: "POST", path: "/dashboard/sign-in", header: form, body: "token=forged"},
		"a forged admin cookie":      {method: "GET", path: "/dashboard", header: cookie},
		"a button with that cookie":  {method: "POST", path: "/dashboard/tasks/retry", header: cookie},
		"an admin route and cookie":  {method: "GET", path: "/admin/watches", header: cookie},
		"an admin route":             {method: "POST", path: "/admin/watches/force-register", header: forged},
		"a forged token":             {method: "GET", path: "/v1/polls", header: forged},
		"a stream by a forged token": {method: "GET", path: "/v1/stream", header: forged},
		"a command":                  {method: "POST", path: "/v1/polls", header: forged, body: map[string]any{}},
		"nothing there":              {method: "GET", path: "/v1/nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clock := newStillClock()
			w := newWorld(t, limited(clock))
			clock.advance(time.Hour) // whatever the making of the world cost
			w.closeStore()
			for range 2 {
				if got := w.send(c); got.status < 400 || got.status == 429 || got.status >= 500 {
					t.Fatalf("within the rate it is answered %d %s", got.status, got.text)
				}
			}
			before := strings.Count(w.log.String(), "\n")
			for range 200 {
				if got := w.send(c); got.status != http.StatusTooManyRequests || got.header.Get("Retry-After") == "" {
					t.Fatalf("answered %d %s", got.status, got.text)
				}
			}
			if lines := strings.Count(w.log.String(), "\n") - before; lines > 10 {
				t.Errorf("200 requests over the rate wrote %d lines", lines)
			}
		})
	}
}

// TestLog_OfWhatNoRateLimits_IsSampled: probes and preflights are answered to
// everybody, however often.
func TestLog_OfWhatNoRateLimits_IsSampled(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]call{
		"a probe": {method: "GET", path: "/healthz"},
		"another": {method: "GET", path: "/readyz"},
		"a preflight": {
			method: "OPTIONS", path: "/v1/polls",
			header: map[string]string{"Origin": "https://app.example", "Access-Control-Request-Method": "GET"},
		},
		"an unready probe": {method: "GET", path: "/readyz", body: "unready"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, newStillClock().on)
			if c.body != nil {
				w.ready = fmt.Errorf("the store is away")
			}
			before := strings.Count(w.log.String(), "\n")
			for range 200 {
				if got := w.send(c); got.status == http.StatusTooManyRequests {
					t.Fatal("a rate limits it")
				}
			}
			if lines := strings.Count(w.log.String(), "\n") - before; lines > 20 {
				t.Errorf("200 requests wrote %d lines", lines)
			}
		})
	}
}

// TestLog_OfAKnownCaller_IsWhole: what people do who are signed in stands in the
// log, refusals included.
func TestLog_OfAKnownCaller_IsWhole(t *testing.T) {
	t.Parallel()
	w := newWorld(t, newStillClock().on)
	before := strings.Count(w.log.String(), `"msg":"request"`)
	for range 50 {
		w.want(200, call{as: "gm", method: "GET", path: "/v1/polls"}, nil)
		w.want(404, call{as: "gm", method: "GET", path: "/v1/polls/x"}, nil)
	}
	if lines := strings.Count(w.log.String(), `"msg":"request"`) - before; lines != 100 {
		t.Errorf("100 requests wrote %d lines", lines)
	}
}
