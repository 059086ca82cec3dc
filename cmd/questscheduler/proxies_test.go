package main

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"questscheduler/internal/config"
)

// atAStandstill is a server with a stopped clock, so that no rate limit refills during
// the test.
func atAStandstill(t *testing.T, more ...string) (address string) {
	t.Helper()
	cfg, err := loadSettings(settings(dataDir(t), more...), config.Default())
	if err != nil {
		t.Fatal(err)
	}
	still := time.Now()
	s, err := openProgram(t.Context(), cfg, func() time.Time { return still }, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	listener, err := listen(cfg.Addr)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.start(t.Context(), listener); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.stop(); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	return "http://" + listener.Addr().String()
}

// TestServe_BehindAProxy_HoldsEachAddressToItsRate: on the routes of the API, of
// machines and of the web app's calls. Behind a proxy that is not trusted all clients
// share one limit.
func TestServe_BehindAProxy_HoldsEachAddressToItsRate(t *testing.T) {
	t.Parallel()
	const most = 1000 // at once, by default
	for name, row := range map[string]struct {
		setting string
		apart   bool
	}{
		"named":                {"QS_TRUSTED_PROXIES=10.0.0.0/8,127.0.0.1", true},
		"another proxy's name": {"QS_TRUSTED_PROXIES=10.0.0.0/8", false},
		"no trusted proxy":     {"QS_TRUSTED_PROXIES=", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := atAStandstill(t, row.setting)
			ask := func(path, forwarded string) int {
				t.Helper()
				request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address+path, strings.NewReader(`{"data":null}`))
				if err != nil {
					t.Fatal(err)
				}
				request.Header.Set("Content-Type", "application/json")
				request.Header.Set("X-Forwarded-For", forwarded)
				response, err := http.DefaultClient.Do(request)
				if err != nil {
					t.Fatal(err)
				}
				if err := response.Body.Close(); err != nil {
					t.Fatal(err)
				}
				return response.StatusCode
			}
			// The web app's calls have a limit of their own.
			for _, paths := range [][]string{
				{"/v1/polls", "/webhooks/google/calendar", "/jobs/drain", "/webhooks/documents"}, {"/googleCalendarStartAuth"},
			} {
				for i := range most {
					if got := ask(paths[i%len(paths)], "203.0.113.7"); got != http.StatusUnauthorized {
						t.Fatalf("request %d, for %s, is answered %d", i+1, paths[i%len(paths)], got)
					}
				}
				for _, path := range paths {
					for _, forged := range []string{"203.0.113.7", "198.51.100.66, 203.0.113.7", "10.0.0.1,203.0.113.7"} {
						if got := ask(path, forged); got != http.StatusTooManyRequests {
							t.Errorf("%s for %q is answered %d", path, forged, got)
						}
					}
					if got, want := ask(path, "203.0.113.8"),
						map[bool]int{true: http.StatusUnauthorized, false: http.StatusTooManyRequests}[row.apart]; got != want {
						t.Errorf("%s for somebody else is answered %d, want %d", path, got, want)
					}
				}
			}
		})
	}
}
