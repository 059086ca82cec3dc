package google_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/api/calendar/v3"

	"questscheduler/demo/sim/google"
)

func TestSyncToken_AfterItsLife_Expires(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	w.fill("gm", 2)
	_, token := w.list("gm", nil)
	w.advance(28*24*time.Hour - time.Second)
	_, next := w.since("gm", token)
	w.advance(time.Second)
	_, err := w.as("gm").Events.List("primary").SyncToken(token).Do()
	wantError(t, err, 410, "updatedMinTooLongAgo")
	w.since("gm", next)
}

func TestSyncToken_EndedByControl_HasEitherReason(t *testing.T) {
	t.Parallel()
	for body, reason := range map[string]string{
		"":                                  "fullSyncRequired",
		`{}`:                                "fullSyncRequired",
		`{"reason":"fullSyncRequired"}`:     "fullSyncRequired",
		`{"reason":"updatedMinTooLongAgo"}`: "updatedMinTooLongAgo",
	} {
		opt := google.Options{Sequential: true, Dir: t.TempDir()}
		w := newWorld(t, opt)
		_, token := w.list("gm", nil)
		w.control("expire-sync-tokens", body)
		for _, now := range []*world{w, newWorld(t, opt)} { // a restart remembers it
			_, err := now.as("gm").Events.List("primary").SyncToken(token).Do()
			wantError(t, err, 410, reason)
		}
		_, token = w.list("gm", nil)
		w.since("gm", token)
	}
	w := newWorld(t, testOptions())
	if status, _, text := w.curl("", "POST", "/_sim/expire-sync-tokens",
		`{"reason":"deleted"}`); status != 400 || !strings.Contains(text, "updatedMinTooLongAgo") {
		t.Errorf("%d %s", status, text)
	}
}

func TestSyncToken_RejectedOnDemand_IsABadRequest(t *testing.T) {
	t.Parallel()
	opt := google.Options{Sequential: true, Dir: t.TempDir()}
	w := newWorld(t, opt)
	_, token := w.list("gm", nil)
	calendars := must(w.as("gm").CalendarList.List().Do())(t).NextSyncToken
	w.control("expire-sync-tokens", `{"status":400}`)
	for _, now := range []*world{w, newWorld(t, opt)} { // a restart remembers it
		_, err := now.as("gm").Events.List("primary").SyncToken(token).Do()
		wantError(t, err, 400, "invalidParameter")
		_, err = now.as("gm").CalendarList.List().SyncToken(calendars).Do()
		wantError(t, err, 400, "invalidParameter")
	}
	_, fresh := w.list("gm", nil)
	w.since("gm", fresh)

	t.Log("the latest ending counts for all tokens of before")
	if err := w.sim.RejectSyncTokens(); err != nil {
		t.Fatal(err)
	}
	_, err := w.as("gm").Events.List("primary").SyncToken(fresh).Do()
	wantError(t, err, 400, "invalidParameter")
	if err := w.sim.ExpireSyncTokens(); err != nil {
		t.Fatal(err)
	}
	for _, old := range []string{token, fresh} {
		_, err := w.as("gm").Events.List("primary").SyncToken(old).Do()
		wantError(t, err, 410, "fullSyncRequired")
	}
	for _, body := range []string{
		`{"status":404}`, `{"status":400,"reason":"fullSyncRequired"}`, `{"status":410,"reason":"invalidParameter"}`,
	} {
		if status, _, text := w.curl("", "POST", "/_sim/expire-sync-tokens", body); status != 400 {
			t.Errorf("%s: %d %s", body, status, text)
		}
	}
}

func TestTombstones_AfterTheirLife_KeepTheIDTaken(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	w.insert("gm", timed("qs0gone", 6))
	if err := w.as("gm").Events.Delete("primary", "qs0gone").Do(); err != nil {
		t.Fatal(err)
	}
	showDeleted := func(c *calendar.EventsListCall) { c.ShowDeleted(true) }
	w.advance(30*24*time.Hour - time.Second)
	if items, _ := w.list("gm", showDeleted); states(items) != "qs0gone cancelled" {
		t.Errorf("before: %s", states(items))
	}
	w.advance(time.Second)
	if items, _ := w.list("gm", showDeleted); len(items) != 0 {
		t.Errorf("after: %s", states(items))
	}
	_, err := w.as("gm").Events.Get("primary", "qs0gone").Do()
	wantError(t, err, 404, "notFound")
	_, err = w.as("gm").Events.Insert("primary", timed("qs0gone", 7)).Do()
	wantError(t, err, 409, "duplicate")
	_, err = w.as("gm").Events.Patch("primary", "qs0gone", &calendar.Event{Status: "confirmed"}).Do()
	wantError(t, err, 403, "forbidden")
}

func TestPages_MostlyTombstones_MayBeEmpty(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	w.fill("gm", 12)
	for _, id := range []string{"qs00000", "qs00001", "qs00002", "qs00003", "qs00004", "qs00006", "qs00007", "qs00008"} {
		if err := w.as("gm").Events.Delete("primary", id).Do(); err != nil {
			t.Fatal(err)
		}
	}
	sizes := func(change func(*calendar.EventsListCall)) (sizes []int, token string) {
		_, pages := w.pages("gm", func(c *calendar.EventsListCall) { change(c.MaxResults(3)) })
		for _, page := range pages {
			sizes = append(sizes, len(page.Items))
		}
		return sizes, pages[len(pages)-1].NextSyncToken
	}
	hidden, token := sizes(func(*calendar.EventsListCall) {})
	shown, _ := sizes(func(c *calendar.EventsListCall) { c.ShowDeleted(true) })
	if want := []int{0, 1, 0, 3}; !slices.Equal(hidden, want) || !slices.Equal(shown, []int{3, 3, 3, 3}) {
		t.Errorf("pages of %v without and %v with tombstones", hidden, shown)
	}
	if items, _ := w.since("gm", token); len(items) != 0 {
		t.Errorf("changes: %s", states(items))
	}
}
