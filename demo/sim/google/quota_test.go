package google_test

import (
	"net/http"
	"testing"
	"time"

	"questscheduler/demo/sim/google"
)

// burst makes calls with a person's token and counts the answers by status and
// reason; "200" is a success.
func (w *world) burst(key string, n int, method, body string) map[string]int {
	w.t.Helper()
	answers := map[string]int{}
	for range n {
		status, _, text := w.curl(key, method, "/calendar/v3/calendars/primary/events", body)
		answer := http.StatusText(status)
		if status >= 400 {
			answer = reasonOf(w.t, text)
		}
		answers[answer]++
	}
	return answers
}

func wantCounts(t *testing.T, got, want map[string]int) {
	t.Helper()
	for answer, n := range want {
		if got[answer] != n {
			t.Errorf("%d times %s, want %d of %v", got[answer], answer, n, got)
		}
	}
}

func TestQuota_OfAPerson_SlidesWithTheClock(t *testing.T) {
	t.Parallel()
	w := newWorld(t, google.Options{Sequential: true, Quota: google.Quota{PerPerson: 3, PerProject: 100}})
	wantCounts(t, w.burst("gm", 2, "GET", ""), map[string]int{"OK": 2})
	w.advance(40 * time.Second)
	wantCounts(t, w.burst("gm", 5, "GET", ""), map[string]int{"OK": 1, "userRateLimitExceeded": 2, "rateLimitExceeded": 2})
	wantCounts(t, w.burst("ana", 3, "GET", ""), map[string]int{"OK": 3})
	w.advance(20 * time.Second) // the first two are a minute old
	wantCounts(t, w.burst("gm", 3, "GET", ""), map[string]int{"OK": 2})
	if got := w.sim.Control().Calls()["events.list"]; got != 13 {
		t.Errorf("%d calls counted, want the refused ones too", got)
	}
}

func TestQuota_OfTheProject_IsSharedByAll(t *testing.T) {
	t.Parallel()
	w := newWorld(t, google.Options{Sequential: true, Quota: google.Quota{PerProject: 4}})
	wantCounts(t, w.burst("gm", 3, "GET", ""), map[string]int{"OK": 3})
	wantCounts(t, w.burst("ana", 3, "GET", ""), map[string]int{"OK": 1, "rateLimitExceeded": 2})
	w.advance(time.Minute)
	wantCounts(t, w.burst("ana", 1, "GET", ""), map[string]int{"OK": 1})
}

func TestQuota_TooManyWrites_MakeAnAccountReadOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	w.control("quota", `{"writes":2}`)
	const event = `{"start":{"date":"2026-03-06"},"end":{"date":"2026-03-07"}}`
	wantCounts(t, w.burst("gm", 4, "POST", event), map[string]int{"OK": 2, "quotaExceeded": 2})
	wantCounts(t, w.burst("gm", 2, "GET", ""), map[string]int{"OK": 2})
	w.watch("gm", "one", "https://app.test/push")
	w.advance(5 * time.Hour)
	wantCounts(t, w.burst("gm", 1, "POST", event), map[string]int{"quotaExceeded": 1})
	w.advance(time.Hour)
	wantCounts(t, w.burst("gm", 1, "POST", event), map[string]int{"OK": 1})
	if items, _ := w.list("gm", nil); len(items) != 3 {
		t.Errorf("%d events", len(items))
	}
	if status, _, _ := w.curl("", "POST", "/_sim/quota", `{"reads":1}`); status != 400 {
		t.Errorf("an unknown field: %d", status)
	}
}
