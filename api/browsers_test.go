package api_test

import (
	"strings"
	"testing"
)

const app = "https://app.example"

// allowing has a world that the origins may call.
func allowing(origins ...string) func(*setup) {
	return func(s *setup) { s.AllowedOrigins = origins }
}

// asks is what a browser sends before a request to another origin.
func asks(method, path, origin string) call {
	return call{method: "OPTIONS", path: path, header: map[string]string{
		"Origin": origin, "Access-Control-Request-Method": method, "Access-Control-Request-Headers": "authorization,content-type,idempotency-key",
	}}
}

// TestPreflight_OnEveryPath goes by the OpenAPI document, and by what is not in
// it.
func TestPreflight_OnEveryPath(t *testing.T) {
	t.Parallel()
	w := newWorld(t, allowing("https://other.example", app))
	check := func(method, path string) {
		t.Helper()
		got := w.send(asks(method, path, app))
		if got.status != 204 || got.header.Get("Access-Control-Allow-Origin") != app ||
			got.header.Get("Access-Control-Allow-Credentials") != "true" {
			t.Errorf("%s %s: status %d, %v", method, path, got.status, got.header)
		}
		if !strings.Contains(got.header.Get("Access-Control-Allow-Methods"), method) {
			t.Errorf("%s is not allowed: %s", method, got.header.Get("Access-Control-Allow-Methods"))
		}
		for _, header := range []string{"Authorization", "Content-Type", "Idempotency-Key"} {
			if !strings.Contains(got.header.Get("Access-Control-Allow-Headers"), header) {
				t.Errorf("%s is not allowed: %s", header, got.header.Get("Access-Control-Allow-Headers"))
			}
		}
		if vary := strings.Join(got.header.Values("Vary"), ","); !strings.Contains(vary, "Origin") {
			t.Errorf("%s %s varies by %q", method, path, vary)
		}
	}
	w.document().each(func(method, path string, _ operationJSON) {
		if strings.HasPrefix(path, "/v1/") {
			check(method, fill(path, "00000000-0000-4000-8000-000000000000"))
		}
	})
	check("GET", "/v1")
	check("POST", "/v1/nothing/here")
}

func TestOrigins_SimilarOrigin_IsRefused(t *testing.T) {
	t.Parallel()
	for _, origin := range []string{
		"", "null", "https://evil.example", "http://app.example", app + ":8443", app + ".evil.example", "https://x.app.example",
		app + "/", "*", "https://app-example",
	} {
		w := newWorld(t, allowing(app, "https://*.wild.example"))
		got := w.send(asks("GET", "/v1/polls", origin))
		simple := w.do(call{as: "gm", method: "GET", path: "/v1/polls", header: map[string]string{"Origin": origin}})
		for _, answered := range []answer{got, simple} {
			if allowed := answered.header.Get("Access-Control-Allow-Origin"); allowed != "" {
				t.Errorf("%q is allowed as %q", origin, allowed)
			}
		}
		if simple.status != 200 { // who is no browser may say what they like
			t.Errorf("%q is answered %d", origin, simple.status)
		}
	}
	w := newWorld(t, allowing("https://*.wild.example"))
	if got := w.send(asks("GET", "/v1/polls", "https://a.wild.example")); got.header.Get("Access-Control-Allow-Origin") != "" {
		t.Error("a pattern is accepted as an origin")
	}
}

func TestOrigins_AllowedOrigin_ReadsEveryAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, allowing(app))
	for _, c := range []call{
		{as: "gm", method: "GET", path: "/v1/polls"}, {method: "GET", path: "/v1/polls"}, {as: "gm", method: "GET", path: "/v1/nothing"},
		{as: "gm", method: "POST", path: "/v1/polls", body: "rubbish"}, {as: "gm", method: "BREW", path: "/v1/polls"},
	} {
		c.header = map[string]string{"Origin": app}
		got := w.do(c)
		if got.header.Get("Access-Control-Allow-Origin") != app ||
			!strings.Contains(got.header.Get("Access-Control-Expose-Headers"), "Retry-After") {
			t.Errorf("%s %s: status %d, %v", c.method, c.path, got.status, got.header)
		}
	}
	got := w.do(call{method: "GET", path: "/healthz", header: map[string]string{"Origin": app}})
	if got.header.Get("Access-Control-Allow-Origin") != "" {
		t.Error("what is not under /v1 is shared too")
	}
}

func TestOrigins_AnyAllowed_NoneSendsCredentials(t *testing.T) {
	t.Parallel()
	w := newWorld(t, allowing("*"))
	got := w.send(asks("GET", "/v1/polls", "https://anybody.example"))
	if got.header.Get("Access-Control-Allow-Origin") != "https://anybody.example" || got.header.Get("Access-Control-Allow-Credentials") != "" {
		t.Errorf("answered with %v", got.header)
	}
}

func TestSecurityHeaders_AreEverywhere(t *testing.T) {
	t.Parallel()
	for _, https := range []bool{false, true} {
		w := newWorld(t, func(s *setup) { s.HTTPS = https })
		for _, c := range []call{
			{as: "gm", method: "GET", path: "/v1/polls"}, {method: "GET", path: "/v1/polls"}, {method: "GET", path: "/nothing"},
			{method: "GET", path: "/docs"}, {method: "GET", path: "/openapi.json"}, {method: "GET", path: "/healthz"}, asks("GET", "/v1/polls", app),
		} {
			header := w.send(c).header
			for name, want := range map[string]string{
				"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY", "Cache-Control": "no-store",
			} {
				if header.Get(name) != want {
					t.Errorf("%s: %s is %q", c.path, name, header.Get(name))
				}
			}
			policy := header.Get("Content-Security-Policy")
			if !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "frame-ancestors 'none'") {
				t.Errorf("%s: the policy is %q", c.path, policy)
			}
			if (header.Get("Strict-Transport-Security") != "") != https {
				t.Errorf("%s by HTTPS %t: %q", c.path, https, header.Get("Strict-Transport-Security"))
			}
		}
	}
}
