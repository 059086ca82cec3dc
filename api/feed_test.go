package api_test

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"questscheduler/api"
	"questscheduler/feed"
	"questscheduler/internal/signin"
	"questscheduler/internal/store"
)

const feedBase = "https://api.party.example"

// newFeed gives the path of a person's new feed.
func (w *world) newFeed(as string) (path string) {
	w.t.Helper()
	var made struct{ URL string }
	w.want(201, call{as: as, method: "POST", path: "/v1/feed"}, &made)
	path, ok := strings.CutPrefix(made.URL, feedBase)
	if !ok || !strings.HasPrefix(path, "/feeds/") || !strings.HasSuffix(path, ".ics") {
		w.t.Fatalf("the address is %s", made.URL)
	}
	return path
}

// subscribed reads a feed as a calendar program does.
func (w *world) subscribed(path, condition string) answer {
	w.t.Helper()
	c := call{method: "GET", path: path}
	if condition != "" {
		c.header = map[string]string{"If-None-Match": condition}
	}
	return w.send(c)
}

func TestFeed_OfAPerson_IsReadWithoutSignIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.finalise(w.newPoll(nil))
	path := w.newFeed("gm")
	got := w.subscribed(path, "")
	if got.status != 200 || got.header.Get("Content-Type") != "text/calendar; charset=utf-8" ||
		got.header.Get("Cache-Control") != "private, no-cache" {
		t.Errorf("status %d, %v", got.status, got.header)
	}
	if !strings.Contains(got.text, "UID:"+p.ID+"@questscheduler.app\r\n") || strings.Count(got.text, "BEGIN:VEVENT") != 1 ||
		!strings.Contains(got.text, "URL:https://party.example/scheduler/") {
		t.Errorf("the feed is\n%s", got.text)
	}
	if stranger := w.subscribed(w.newFeed("eve"), ""); stranger.status != 200 || strings.Contains(stranger.text, "BEGIN:VEVENT") {
		t.Errorf("eve's feed, %d, is\n%s", stranger.status, stranger.text)
	}
}

func TestFeed_Unchanged_Gets304(t *testing.T) {
	t.Parallel()
	clock := newStillClock()
	w := newWorld(t, clock.on)
	p := w.finalise(w.newPoll(nil))
	path := w.newFeed("gm")
	tag := w.subscribed(path, "").header.Get("ETag")
	if !strings.HasPrefix(tag, `"`) || len(tag) != 34 {
		t.Fatalf("the tag is %s", tag)
	}
	for condition, want := range map[string]int{
		tag: 304, "W/" + tag: 304, `"other", ` + tag: 304, "*": 304, `"other"`: 200, "rubbish": 200, strings.Repeat(tag+",", 40) + tag: 200,
	} {
		got := w.subscribed(path, condition)
		if got.status != want || got.header.Get("ETag") != tag || (got.text == "") != (want == 304) {
			t.Errorf("If-None-Match: %s is answered %d with %s: %q", condition, got.status, got.header.Get("ETag"), got.text)
		}
	}
	w.want(200, call{as: "gm", method: "POST", path: "/v1/polls/" + p.ID + "/cancel"}, nil)
	clock.advance(feed.RenderEvery)
	if got := w.subscribed(path, tag); got.status != 200 || !strings.Contains(got.text, "STATUS:CANCELLED\r\n") ||
		got.header.Get("ETag") == tag {
		t.Errorf("after the cancellation: %d, %s", got.status, got.text)
	}
}

func TestFeed_UnknownRenewedOrRevoked_Is404WithoutDifference(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	renewed := w.newFeed("gm")
	revoked := w.newFeed("gm")
	w.want(200, call{as: "gm", method: "DELETE", path: "/v1/feed"}, nil)
	w.want(200, call{as: "gm", method: "DELETE", path: "/v1/feed"}, nil) // there is none
	live := w.newFeed("ana")
	unknown := "/feeds/" + strings.Repeat("A", 43) + ".ics"
	var first answer
	for _, path := range []string{
		renewed, revoked, unknown, "/feeds/x.ics", "/feeds/.ics", "/feeds/%2e%2e.ics", "/feeds/" + strings.Repeat("x", 5000) + ".ics",
		strings.TrimSuffix(live, ".ics"), strings.TrimSuffix(live, ".ics") + ".ICS", live + ".ics",
	} {
		got := w.do(call{method: "GET", path: path})
		got.text, got.Meta.RequestID, got.Meta.Timestamp = "", "", time.Time{}
		if first.status == 0 {
			first = got
		}
		for _, varying := range []string{"Date", "X-Request-Id", "Content-Length"} {
			got.header.Del(varying)
		}
		if got.status != 404 || got.Error.Code != first.Error.Code || got.Error.Message != first.Error.Message ||
			len(got.header) != len(first.header) {
			t.Errorf("%s is answered %d, %+v, %v; the first %+v, %v", path, got.status, got.Error, got.header, first.Error, first.header)
		}
	}
	if got := w.subscribed(live, ""); got.status != 200 {
		t.Errorf("ana's feed is answered %d", got.status)
	}
}

func TestFeed_Secret_IsInNoLogLine(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := w.newFeed("gm")
	secret := strings.TrimSuffix(strings.TrimPrefix(path, "/feeds/"), ".ics")
	for _, method := range []string{"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"} {
		for _, suffix := range []string{"", "/", "/more", "?token=" + secret} {
			w.send(call{method: method, path: path + suffix})
		}
	}
	w.want(200, call{as: "gm", method: "DELETE", path: "/v1/feed"}, nil)
	w.subscribed(path, "")
	failing := w.newFeed("gm")
	w.store.reading = func(context.Context, store.Path) error { return errors.New("the store is away") }
	failed := w.subscribed(failing, "")
	if failed.status < 500 || strings.Contains(failed.text, failing[7:20]) {
		t.Errorf("status %d: %s", failed.status, failed.text)
	}
	w.store.reading = func(context.Context, store.Path) error { panic("the store panics") }
	if failed := w.subscribed(failing, ""); failed.status < 500 {
		t.Errorf("status %d: %s", failed.status, failed.text)
	}
	w.store.reading = nil
	log := w.log.String()
	for _, made := range []string{secret, failing} {
		if strings.Contains(log, made[8:24]) {
			t.Errorf("the log has the secret:\n%s", log)
		}
	}
	if !strings.Contains(log, `"route":"`+api.PathFeed+`","status":200`) {
		t.Errorf("the log does not have the route:\n%s", log)
	}
}

func TestFeed_AnAddressOverItsRate_Waits(t *testing.T) {
	t.Parallel()
	clock := newStillClock()
	w := newWorld(t, clock.on, func(s *setup) { s.AddressRate = api.Rate{PerSecond: 1, Burst: 3} })
	path := w.newFeed("gm")
	for range 3 {
		if got := w.subscribed(path, ""); got.status != http.StatusOK {
			t.Fatalf("status %d", got.status)
		}
	}
	if got := w.do(call{method: "GET", path: path}); got.status != http.StatusTooManyRequests {
		t.Errorf("status %d", got.status)
	}
	clock.advance(time.Second)
	if got := w.subscribed(path, ""); got.status != http.StatusOK || !strings.Contains(got.text, "END:VCALENDAR") {
		t.Errorf("a second later: status %d", got.status)
	}
}

func TestFeed_HEAD_HasTheHeadersOfGET(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.finalise(w.newPoll(map[string]any{"description": strings.Repeat("dice ", 1000)})) // more than package http buffers
	path := w.newFeed("gm")
	head, got := w.send(call{method: "HEAD", path: path}), w.subscribed(path, "")
	if head.status != 200 || head.text != "" || head.header.Get("Content-Length") != strconv.Itoa(len(got.text)) {
		t.Errorf("HEAD is answered %d, %v: %q", head.status, head.header, head.text)
	}
	for _, name := range []string{"ETag", "Content-Type", "Cache-Control"} {
		if head.header.Get(name) != got.header.Get(name) || head.header.Get(name) == "" {
			t.Errorf("%s is %q by HEAD, %q by GET", name, head.header.Get(name), got.header.Get(name))
		}
	}
	known := w.send(call{method: "HEAD", path: path, header: map[string]string{"If-None-Match": head.header.Get("ETag")}})
	unknown := w.send(call{method: "HEAD", path: "/feeds/" + strings.Repeat("A", 43) + ".ics"})
	if known.status != 304 || unknown.status != 404 || unknown.text != "" {
		t.Errorf("HEAD is answered %d with the tag, and %d for no feed", known.status, unknown.status)
	}
}

func TestFeed_AskedTooOften_WaitsForTheMinute(t *testing.T) {
	t.Parallel()
	clock := newStillClock()
	w := newWorld(t, clock.on)
	path := w.newFeed("gm")
	for range feed.MaxAnswers {
		if got := w.subscribed(path, "*"); got.status != http.StatusNotModified {
			t.Fatalf("status %d", got.status)
		}
	}
	clock.advance(20 * time.Second)
	if got := w.do(call{method: "GET", path: path}); got.status != http.StatusTooManyRequests ||
		got.Error.Code != "RATE_LIMITED" || got.header.Get("Retry-After") != "40" {
		t.Errorf("status %d, %+v, %v", got.status, got.Error, got.header)
	}
	if got := w.subscribed(w.newFeed("ana"), ""); got.status != http.StatusOK {
		t.Errorf("another feed is answered %d", got.status)
	}
}

// signedInBefore is a sign-in of gm a day ago, whatever the token.
type signedInBefore struct{}

func (signedInBefore) Verify(context.Context, string) (signin.Person, error) {
	return signin.Person{UID: "gm", VouchedFor: true, SignedIn: begin.AddDate(0, 0, -1)}, nil
}

// endedSignIns are those before a time.
type endedSignIns struct{ before time.Time }

func (e endedSignIns) Revoked(_ context.Context, _ string, signedIn time.Time) (bool, error) {
	return signedIn.Before(e.before), nil
}

func TestFeed_MadeByAnEndedSignIn_Is404(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(s *setup) { s.SignIn = signedInBefore{} })
	path := w.newFeed("gm")
	w.options.Feeds.SignIns = endedSignIns{begin.Add(-time.Hour)} // the token was still accepted
	if got := w.subscribed(path, ""); got.status != http.StatusNotFound {
		t.Errorf("status %d", got.status)
	}
}
