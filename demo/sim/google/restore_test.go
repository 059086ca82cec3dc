package google_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"google.golang.org/api/calendar/v3"

	"questscheduler/demo/sim/google"
)

// counter gives ids that are the same at every run.
func counter() func() string {
	n := 0
	return func() string { n++; return strconv.Itoa(n) }
}

func TestRestart_KilledProcess_ContinuesWhereItStopped(t *testing.T) {
	t.Parallel()
	opt := google.Options{Sequential: true, Dir: t.TempDir()}
	// The first world is never closed before the second one opens: all that
	// the second finds was written before it was answered.
	first := newWorld(t, opt)
	first.fill("gm", 3)
	_, token := first.list("gm", nil)
	page := must(first.as("gm").Events.List("primary").MaxResults(2).Do())(t)
	r := newReceiver(t, nil)
	first.watch("gm", "one", r.url)
	first.deliverAll()
	r.next(t)
	first.advance(30 * time.Minute)
	access := must(first.refresh(first.grants["gm"].RefreshToken))(t)
	if err := first.as("gm").Events.Delete("primary", "qs00000").Do(); err != nil {
		t.Fatal(err)
	}
	first.control("revoke", `{"user":"ben"}`)
	etag := must(first.as("gm").Events.Get("primary", "qs00001").Do())(t).Etag

	second := newWorld(t, opt)
	if second.grants["gm"].RefreshToken != first.grants["gm"].RefreshToken ||
		second.grants["gm"].AccessToken != first.grants["gm"].AccessToken {
		t.Fatal("another grant")
	}
	if items, _ := second.since("gm", token); states(items) != "qs00000 cancelled" {
		t.Errorf("since the old token: %s", states(items))
	}
	rest := must(second.as("gm").Events.List("primary").MaxResults(2).PageToken(page.NextPageToken).Do())(t)
	if states(rest.Items) != "qs00002 confirmed" {
		t.Errorf("the rest of the listing: %s", states(rest.Items))
	}
	if got := second.get("gm", "qs00001"); got.Etag != etag {
		t.Errorf("etag %s, want %s", got.Etag, etag)
	}
	_, err := second.as("ben").Events.List("primary").Do()
	wantError(t, err, 401, "authError")

	t.Log("the push of the deletion was pending, and its number follows")
	pending := second.sim.PendingPushes()
	if len(pending) != 1 || pending[0].ChannelID != "one" || pending[0].State != "exists" {
		t.Fatalf("pending %+v", pending)
	}
	second.deliverAll()
	if h := r.next(t); h.Get("X-Goog-Channel-Token") != "secret-one" || h.Get("X-Goog-Message-Number") == "1" {
		t.Errorf("headers %v", h)
	}
	second.insert("gm", timed("", 9))
	if again := second.sim.PendingPushes(); len(again) != 1 || again[0].Number <= pending[0].Number {
		t.Errorf("a change pushes to the old channel: %+v", again)
	}

	t.Log("the clock goes on, and the access token with it")
	if got := second.sim.Control().Clock().Offset(); got != 30*time.Minute {
		t.Errorf("offset %v", got)
	}
	second.grants["gm"] = google.Grant{AccessToken: access.AccessToken}
	second.list("gm", nil)
	second.advance(time.Hour)
	_, err = second.as("gm").Events.List("primary").Do()
	wantError(t, err, 401, "authError")
}

func TestRestart_PendingPushes_AreDelivered(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := newReceiver(t, nil)
	first := newWorld(t, google.Options{Sequential: true, Dir: dir})
	first.watch("gm", "one", r.url)
	second := newWorld(t, google.Options{Dir: dir})
	if err := second.sim.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if h := r.next(t); h.Get("X-Goog-Resource-State") != "sync" {
		t.Errorf("state %s", h.Get("X-Goog-Resource-State"))
	}
}

func TestRestart_LongJournal_IsShortened(t *testing.T) {
	t.Parallel()
	opt := google.Options{Sequential: true, Dir: t.TempDir()}
	first := newWorld(t, opt)
	first.fill("gm", 5)
	key := first.service(delegated)
	_, token := first.list("gm", nil)
	first.watch("gm", "one", "https://app.test/push")
	before := first.sim.PendingPushes()
	handler, access := first.sim.Handler(), first.grants["gm"].AccessToken
	for i := range 5200 {
		path := fmt.Sprintf("/calendar/v3/calendars/primary/events/qs0000%d", i%4)
		if status := serve(t, handler, access, "PATCH", path, `{"summary":"again"}`); status != 200 {
			t.Fatal(status)
		}
	}
	pending := first.sim.PendingPushes()
	size := func() int64 {
		info, err := os.Stat(filepath.Join(opt.Dir, "google.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	long := size()
	for range 2 { // what a shortened journal gives is the same again
		next := newWorld(t, opt)
		if short := size(); short > long/4 {
			t.Errorf("%d bytes of %d are left", short, long)
		}
		if items, _ := next.since("gm", token); states(items) != "qs00000 confirmed, qs00001 confirmed, qs00002 confirmed, qs00003 confirmed" {
			t.Errorf("since the old token: %s", states(items))
		}
		if items, _ := next.list("gm", nil); len(items) != 5 || items[0].Id != "qs00000" {
			t.Errorf("full listing: %s", states(items))
		}
		if next.service(delegated) != key {
			t.Error("the service account's key is another")
		}
		got := next.sim.PendingPushes()
		if len(got) != len(pending) || got[0] != before[0] || got[len(got)-1] != pending[len(pending)-1] {
			t.Errorf("%d pushes pending, want %d", len(got), len(pending))
		}
	}
}

func TestClose_UnwritableChange_IsNotAnswered(t *testing.T) {
	t.Parallel()
	sim := must(google.New(google.Options{Sequential: true, Dir: t.TempDir()}))(t)
	grant := must(sim.AddUser(people[0]))(t)
	if err := sim.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	const events = "/calendar/v3/calendars/primary/events"
	body := `{"id":"qs00000","start":{"date":"2026-03-06"},"end":{"date":"2026-03-07"}}`
	if status := serve(t, sim.Handler(), grant.AccessToken, "POST", events, body); status != 500 {
		t.Errorf("insert: %d", status)
	}
	if status := serve(t, sim.Handler(), grant.AccessToken, "GET", events+"/qs00000", ""); status != 404 {
		t.Errorf("get: %d, want nothing there", status)
	}
}

func TestSimulator_SameCalls_GiveTheSameAnswers(t *testing.T) {
	t.Parallel()
	history := func() string {
		w := newWorld(t, google.Options{Sequential: true, NewID: counter()})
		w.watch("gm", "one", "https://app.test/push")
		w.insert("gm", timed("", 6))
		w.invite("qs0feast")
		if _, err := w.as("gm").Events.Patch("primary", "qs0feast", &calendar.Event{Summary: "x"}).Do(); err != nil {
			t.Fatal(err)
		}
		var all strings.Builder
		for _, key := range []string{"gm", "ana", "ben"} {
			_, _, text := w.curl(key, "GET", "/calendar/v3/calendars/primary/events?showDeleted=true", "")
			all.WriteString(text)
		}
		fmt.Fprint(&all, w.sim.PendingPushes(), w.grants)
		return all.String()
	}
	if a, b := history(), history(); a != b {
		t.Errorf("first  %s\nsecond %s", a, b)
	}
}
