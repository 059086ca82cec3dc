package api_test

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"questscheduler/api"
)

// limited has a world in which a person may ask three times at once and an
// address twice, and then once in ten seconds.
func limited(clock *stillClock) func(*setup) {
	return func(s *setup) {
		s.Now, s.PersonRate, s.AddressRate = clock.now, api.Rate{PerSecond: 0.1, Burst: 3}, api.Rate{PerSecond: 0.1, Burst: 2}
	}
}

func TestLimit_OfAPerson_CountsTheirRequests(t *testing.T) {
	t.Parallel()
	clock := newStillClock()
	w := newWorld(t, limited(clock))
	list := func(as string, status int) answer {
		t.Helper()
		return w.want(status, call{as: as, method: "GET", path: "/v1/polls"}, nil)
	}
	for range 3 {
		list("gm", 200)
	}
	got := list("gm", 429)
	if got.Error.Code != "RATE_LIMITED" || got.header.Get("Retry-After") != "10" {
		t.Errorf("answered %s with %v", got.text, got.header)
	}
	list("ana", 200) // from the same address
	clock.advance(9 * time.Second)
	if got := list("gm", 429); got.header.Get("Retry-After") != "1" {
		t.Errorf("answered with %v", got.header)
	}
	clock.advance(time.Second)
	list("gm", 200)
	list("gm", 429)

	// Nothing was written, whatever was asked.
	before := w.store.writes.Load()
	w.want(429, createCall(session), nil)
	if w.store.writes.Load() != before {
		t.Error("something was written")
	}
}

// TestLimit_OfAnAddress_CountsAnonymousRequests: anonymous and refused requests count
// together; authenticated callers are not affected.
func TestLimit_OfAnAddress_CountsAnonymousRequests(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]call{
		"no token":       {method: "GET", path: "/v1/polls"},
		"a wrong token":  {method: "GET", path: "/v1/polls", header: map[string]string{"Authorization": "Bearer x"}},
		"nothing there":  {method: "GET", path: "/v1/nothing"},
		"another method": {method: "DELETE", path: "/healthz"},
		"the document":   {method: "GET", path: "/openapi.json"},
		"the page":       {method: "GET", path: "/docs"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clock := newStillClock()
			w := newWorld(t, limited(clock))
			clock.advance(time.Hour) // whatever the making of the world cost
			for range 2 {
				if got := w.send(c); got.status == 429 {
					t.Fatalf("answered %s", got.text)
				}
			}
			got := w.want(429, c, nil)
			if got.Error.Code != "RATE_LIMITED" || got.header.Get("Retry-After") != "10" {
				t.Errorf("answered %s with %v", got.text, got.header)
			}
			w.want(200, call{as: "gm", method: "GET", path: "/v1/polls"}, nil)
			for range 5 { // load balancers ask from one address, again and again
				w.want(200, call{method: "GET", path: "/healthz"}, nil)
				w.want(200, call{method: "GET", path: "/readyz"}, nil)
			}
			clock.advance(10 * time.Second)
			if got := w.send(c); got.status == 429 {
				t.Errorf("after a rest it is answered %s", got.text)
			}
		})
	}
}

// TestLimit_OfAnAddress_BehindAProxy: clients of a trusted proxy are distinguished,
// whatever they claim in X-Forwarded-For; clients of another proxy share one address.
func TestLimit_OfAnAddress_BehindAProxy(t *testing.T) {
	t.Parallel()
	ask := func(w *world, forwarded string) int {
		t.Helper()
		return w.send(call{method: "GET", path: "/v1/polls", header: map[string]string{"X-Forwarded-For": forwarded}}).status
	}
	for name, row := range map[string]struct {
		proxies []netip.Prefix
		apart   bool
	}{
		"trusted":         {[]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}, true},
		"not trusted":     {nil, false},
		"another trusted": {[]netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clock := newStillClock()
			w := newWorld(t, limited(clock), func(s *setup) { s.TrustedProxies = row.proxies })
			clock.advance(time.Hour) // whatever the making of the world cost
			for i, forwarded := range []string{"203.0.113.7", "198.51.100.66, 203.0.113.7", "10.0.0.1, 203.0.113.7"} {
				if got, want := ask(w, forwarded), map[bool]int{true: 401, false: 429}[i < 2]; got != want {
					t.Errorf("request %d, for %s, is answered %d, want %d", i+1, forwarded, got, want)
				}
			}
			if got, want := ask(w, "203.0.113.8"), map[bool]int{true: 401, false: 429}[row.apart]; got != want {
				t.Errorf("somebody else is answered %d, want %d", got, want)
			}
			if strings.Contains(w.log.String(), "203.0.113.") {
				t.Error("the log says where people are")
			}
		})
	}
}

func TestLimit_OfAnAddress_IgnoresKnownCallers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, limited(newStillClock()))
	for _, as := range []string{"gm", "ana", "ben"} {
		w.want(404, call{as: as, method: "GET", path: "/v1/polls/x"}, nil)
		w.want(400, call{as: as, method: "GET", path: "/v1/polls?limit=0"}, nil)
	}
	w.want(401, call{method: "GET", path: "/v1/polls"}, nil)
}

// TestLimit_ByDefault_AdmitsSequentialRequests: hundreds of requests on a
// clock that stands.
func TestLimit_ByDefault_AdmitsSequentialRequests(t *testing.T) {
	t.Parallel()
	w := newWorld(t, newStillClock().on)
	for range 300 {
		w.want(200, call{as: "gm", method: "GET", path: "/v1/notifications"}, nil)
	}
}
