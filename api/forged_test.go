package api_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/api"
	"questscheduler/internal/signin"
	"questscheduler/internal/test/tokentest"
)

// TestForgedTokens_OnEveryRoute_GetTheSameAnswer tries every
// kind of forged token at every route that demands one.
func TestForgedTokens_OnEveryRoute_GetTheSameAnswer(t *testing.T) {
	t.Parallel()
	const project = "quest-party"
	now := func() time.Time { return begin }
	w := newWorld(t, func(s *setup) { s.AddressRate = api.Rate{PerSecond: 1, Burst: 1 << 20} })
	ids := map[string]string{
		"polls": w.newPoll(nil).ID, "groups": w.newGroup(), "notifications": w.newNotification("gm"),
		"calendars": w.newCalendar("gm"), "accounts": w.newAccount("gm"), "sync": w.newAccount("gm"), "policies": "x",
		"events": "x",
	}

	issuer := tokentest.NewIssuer(t)
	firebase, err := signin.NewFirebase(signin.FirebaseOptions{
		Project: project, Keys: signin.NewHTTPKeys(issuer.URL+"/jwks", http.DefaultClient, now), Now: now,
	})
	must(t, err)
	w.verifier.Verifier = firebase
	good := tokentest.Person(project, "gm", begin)
	forged := issuer.Forged(good, begin)
	forged["of the embedded sign-in"] = w.tokens["gm"]
	if len(forged) < 12 {
		t.Fatalf("only %d kinds", len(forged))
	}
	w.tokens["gm"] = issuer.Sign(good)
	w.want(http.StatusOK, call{as: "gm", method: "GET", path: "/v1/polls"}, nil)

	before, tried, first := w.store.writes.Load(), 0, ""
	w.document().each(func(method, path string, op operationJSON) {
		if len(op.Security) == 0 {
			return
		}
		path = fill(path, ids[strings.Split(path, "/")[2]])
		for _, kind := range slices.Sorted(maps.Keys(forged)) {
			got := w.do(call{method: method, path: path, header: map[string]string{"Authorization": "Bearer " + forged[kind]}})
			answer, _, _ := strings.Cut(got.text, `"meta"`)
			if first == "" {
				first = answer
			}
			tried++
			if got.status != http.StatusUnauthorized || answer != first || got.header.Get("WWW-Authenticate") == "" {
				t.Errorf("%s %s, %s: answered %d %s, another got %s", method, path, kind, got.status, got.text, first)
			}
		}
	})
	if tried < 27*len(forged) || !strings.Contains(first, "AUTH_REQUIRED") {
		t.Errorf("%d tokens were tried, and answered %s", tried, first)
	}
	if w.store.writes.Load() != before {
		t.Error("something was written")
	}
}
