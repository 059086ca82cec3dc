package api_test

import (
	"net/http"
	"net/http/httptest"
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

func TestMetrics_AreForThisMachineAndForAdmins(t *testing.T) {
	t.Parallel()
	w := newWorld(t, figures)
	for name, test := range map[string]struct {
		from, host, as, header, value string
		status                        int
	}{
		"this machine":                            {from: "127.0.0.1:4000", host: "127.0.0.1:8080", status: 200},
		"this machine, by name":                   {from: "127.0.0.1:4000", host: "localhost", status: 200},
		"this machine, by IPv6":                   {from: "[::1]:4000", host: "[::1]:8080", status: 200},
		"a proxy that says for whom":              {from: "127.0.0.1:4000", host: "127.0.0.1:8080", header: "X-Forwarded-For", value: "203.0.113.7", status: 401},
		"a proxy that says so in the new way":     {from: "127.0.0.1:4000", host: "127.0.0.1:8080", header: "Forwarded", value: "for=203.0.113.7", status: 401},
		"a proxy that keeps the name":             {from: "127.0.0.1:4000", host: "quests.example.org", status: 401},
		"a page whose name was made to lead here": {from: "127.0.0.1:4000", host: "evil.example:8080", status: 401},
		"elsewhere":                               {from: "203.0.113.7:4000", host: "127.0.0.1:8080", status: 401},
		"elsewhere, with a token of nobody":       {from: "203.0.113.7:4000", host: "quests.example.org", header: "Authorization", value: "Bearer nonsense", status: 401},
		"here, with a token of nobody":            {from: "127.0.0.1:4000", host: "localhost", header: "Authorization", value: "Bearer nonsense", status: 401},
		"a person":                                {from: "203.0.113.7:4000", host: "quests.example.org", as: "gm", status: 404},
		"a person here":                           {from: "127.0.0.1:4000", host: "localhost", as: "gm", status: 404},
		"an admin":                                {from: "203.0.113.7:4000", host: "quests.example.org", as: "admin", status: 200},
	} {
		t.Run(name, func(t *testing.T) {
			request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody)
			request.RemoteAddr, request.Host = test.from, test.host
			if test.as != "" {
				request.Header.Set("Authorization", "Bearer "+w.tokens[test.as])
			}
			if test.header != "" {
				request.Header.Set(test.header, test.value)
			}
			answer := httptest.NewRecorder()
			w.echo.ServeHTTP(answer, request)
			if answer.Code != test.status {
				t.Errorf("the answer is %d, want %d: %s", answer.Code, test.status, answer.Body)
			}
			if shown := strings.Contains(answer.Body.String(), "some_figure"); shown != (test.status == 200) {
				t.Errorf("the figures are shown: %t", shown)
			}
			if challenged := answer.Header().Get("WWW-Authenticate") != ""; challenged != (test.status == 401) {
				t.Errorf("a token is asked for: %t", challenged)
			}
		})
	}
}

func TestMetrics_WithoutAny_AreNoRoute(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want(404, call{method: "GET", path: "/metrics"}, nil)
}

func TestEachAnswer_IsToldOf_ButStreams(t *testing.T) {
	t.Parallel()
	var told []string
	w := newWorld(t, func(s *setup) {
		s.Answered = func(method string, status int, _ time.Duration) {
			told = append(told, method+" "+http.StatusText(status))
		}
	})
	for _, c := range []call{{method: "GET", path: "/healthz"}, {method: "GET", path: "/v1/polls"}, {method: "POST", path: "/nowhere"}} {
		request := httptest.NewRequestWithContext(t.Context(), c.method, c.path, http.NoBody)
		w.echo.ServeHTTP(httptest.NewRecorder(), request)
	}
	if got := strings.Join(told, ", "); got != "GET OK, GET OK, GET Unauthorized, POST Not Found" { // the first asks for the document
		t.Errorf("told %q", got)
	}
}
