package api_test

import (
	"cmp"
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"
)

// figures stand in the place of package metrics.
func figures(s *setup) {
	s.Metrics = http.HandlerFunc(func(answer http.ResponseWriter, _ *http.Request) {
		if _, err := answer.Write([]byte("some_figure 1\n")); err != nil {
			panic(err)
		}
	})
}

// metricsToken is who scrapes'.
const metricsToken = "a-token-of-thirty-two-characters"

func TestMetrics_ThisMachineAndAdmins_AreAdmitted(t *testing.T) {
	t.Parallel()
	here := newWorld(t, figures, func(s *setup) { s.MetricsLocal, s.MetricsToken = true, metricsToken })
	// The same server, reached from outside: a proxied request may resemble a local
	// one.
	public := newWorld(t, figures, func(s *setup) { s.MetricsToken = metricsToken })
	without := newWorld(t, figures) // and without a token
	// The first, which believes a proxy on this machine when it says for whom it asks.
	behind := newWorld(t, figures, func(s *setup) {
		s.MetricsLocal, s.MetricsToken = true, metricsToken
		s.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
	})
	for name, test := range map[string]struct {
		from, host, as, header, value string
		status                        int
		public, without               int // where that is another
	}{
		"this machine":          {from: "127.0.0.1:4000", host: "127.0.0.1:8080", status: 200, public: 401, without: 401},
		"this machine, by name": {from: "127.0.0.1:4000", host: "localhost", status: 200, public: 401, without: 401},
		"this machine, by IPv6": {from: "[::1]:4000", host: "[::1]:8080", status: 200, public: 401, without: 401},
		"a proxy that says for whom": {
			from: "127.0.0.1:4000", host: "127.0.0.1:8080", header: "X-Forwarded-For", value: "203.0.113.7", status: 401,
		},
		"a proxy that says so in the new way": {
			from: "127.0.0.1:4000", host: "127.0.0.1:8080", header: "Forwarded", value: "for=203.0.113.7", status: 401,
		},
		"a proxy that says it is for here": {
			from: "127.0.0.1:4000", host: "127.0.0.1:8080", header: "X-Forwarded-For", value: "127.0.0.1", status: 401,
		},
		"a proxy that says for nobody": {from: "127.0.0.1:4000", host: "localhost", header: "X-Forwarded-For", value: "", status: 401},
		"a proxy that says by what way": {
			from: "127.0.0.1:4000", host: "localhost", header: "X-Forwarded-Proto", value: "https", status: 401,
		},
		"a proxy that says only that it is one": {from: "127.0.0.1:4000", host: "localhost", header: "Via", value: "1.1 google", status: 401},
		"elsewhere, which says it is here": {
			from: "203.0.113.7:4000", host: "127.0.0.1:8080", header: "X-Forwarded-For", value: "127.0.0.1", status: 401,
		},
		"a proxy that keeps the name":             {from: "127.0.0.1:4000", host: "quests.example.org", status: 401},
		"a page whose name was made to lead here": {from: "127.0.0.1:4000", host: "evil.example:8080", status: 401},
		"elsewhere": {from: "203.0.113.7:4000", host: "127.0.0.1:8080", status: 401},
		"elsewhere, with a token of nobody": {
			from: "203.0.113.7:4000", host: "quests.example.org", header: "Authorization", value: "Bearer nonsense", status: 401,
		},
		"here, with a token of nobody": {
			from: "127.0.0.1:4000", host: "localhost", header: "Authorization", value: "Bearer nonsense", status: 401,
		},
		"a person":      {from: "203.0.113.7:4000", host: "quests.example.org", as: "gm", status: 404},
		"a person here": {from: "127.0.0.1:4000", host: "localhost", as: "gm", status: 404},
		"who scrapes": {
			from: "203.0.113.7:4000", host: "quests.example.org", header: "Authorization", value: "Bearer " + metricsToken,
			status: 200, without: 401,
		},
		"who scrapes, with a part of the token": {
			from: "203.0.113.7:4000", host: "quests.example.org", header: "Authorization", value: "Bearer " + metricsToken[1:],
			status: 401,
		},
		"an admin": {from: "203.0.113.7:4000", host: "quests.example.org", as: "admin", status: 200},
	} {
		for at, server := range map[string]struct {
			w      *world
			status int
		}{
			"here": {here, test.status}, "behind a trusted proxy": {behind, test.status},
			"public": {public, cmp.Or(test.public, test.status)}, "without a token": {without, cmp.Or(test.without, test.status)},
		} {
			t.Run(name+"/"+at, func(t *testing.T) {
				request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody)
				request.RemoteAddr, request.Host = test.from, test.host
				if test.as != "" {
					request.Header.Set("Authorization", "Bearer "+server.w.tokens[test.as])
				}
				if test.header != "" {
					request.Header.Set(test.header, test.value)
				}
				answer := httptest.NewRecorder()
				server.w.echo.ServeHTTP(answer, request)
				if answer.Code != server.status {
					t.Errorf("the answer is %d, want %d: %s", answer.Code, server.status, answer.Body)
				}
				if shown := strings.Contains(answer.Body.String(), "some_figure"); shown != (server.status == 200) {
					t.Errorf("the figures are shown: %t", shown)
				}
				if challenged := answer.Header().Get("WWW-Authenticate") != ""; challenged != (server.status == 401) {
					t.Errorf("a token is asked for: %t", challenged)
				}
			})
		}
	}
}

func TestMetricsToken_OpensNothingElse(t *testing.T) {
	t.Parallel()
	w := newWorld(t, figures, func(s *setup) { s.MetricsToken = metricsToken })
	for _, path := range []string{"/v1/polls", "/admin/watches", "/dashboard"} {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody)
		request.Header.Set("Authorization", "Bearer "+metricsToken)
		answer := httptest.NewRecorder()
		w.echo.ServeHTTP(answer, request)
		if answer.Code != http.StatusUnauthorized {
			t.Errorf("%s answers %d", path, answer.Code)
		}
	}
}

func TestMetrics_WithoutAny_AreNoRoute(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want(404, call{method: "GET", path: "/metrics"}, nil)
}

func TestMeter_EachAnswerButStreams_IsCounted(t *testing.T) {
	t.Parallel()
	var counted []string
	w := newWorld(t, func(s *setup) {
		s.OnAnswer = func(method string, status int, _ time.Duration) {
			counted = append(counted, method+" "+http.StatusText(status))
		}
	})
	for _, c := range []call{{method: "GET", path: "/healthz"}, {method: "GET", path: "/v1/polls"}, {method: "POST", path: "/nowhere"}} {
		request := httptest.NewRequestWithContext(t.Context(), c.method, c.path, http.NoBody)
		w.echo.ServeHTTP(httptest.NewRecorder(), request)
	}
	if got := strings.Join(counted, ", "); got != "GET OK, GET Unauthorized, POST Not Found" {
		t.Errorf("the meter counted %q", got)
	}
}

// A client that disconnects before its 503 is not a failure in the log or the
// metrics.
func TestRequest_ClientDisconnected_IsNoFailure(t *testing.T) {
	t.Parallel()
	left, leave := context.WithCancel(t.Context())
	leave()
	late, end := context.WithTimeout(t.Context(), 0)
	defer end()
	for name, row := range map[string]struct {
		ctx    context.Context
		status int
		line   string
	}{
		"it disconnected":   {left, 499, `"level":"INFO","msg":"client disconnected"`},
		"its time was over": {late, http.StatusServiceUnavailable, `"level":"WARN","msg":"a request could not be carried out"`},
		"it has the answer": {t.Context(), http.StatusOK, `"msg":"request"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var counted []int
			w := newWorld(t, func(s *setup) {
				s.OnAnswer = func(_ string, status int, _ time.Duration) { counted = append(counted, status) }
			})
			counted = nil // of what the world asked for itself
			request := httptest.NewRequestWithContext(row.ctx, http.MethodGet, "/v1/polls", http.NoBody)
			request.Header.Set("Authorization", "Bearer "+w.tokens["gm"])
			w.echo.ServeHTTP(httptest.NewRecorder(), request)
			if len(counted) != 1 || counted[0] != row.status {
				t.Errorf("%v is counted, want %d", counted, row.status)
			}
			if !strings.Contains(w.log.String(), row.line) {
				t.Errorf("the log has no %s:\n%s", row.line, w.log)
			}
		})
	}
}
