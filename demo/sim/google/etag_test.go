package google_test

import (
	"net/http"
	"testing"

	"google.golang.org/api/calendar/v3"
	"google.golang.org/api/googleapi"

	"questscheduler/demo/sim/google"
)

func TestETag_OfAReadThatNothingChanged_IsNotModified(t *testing.T) {
	t.Parallel()
	const below = "/calendar/v3/calendars/"
	for name, tc := range map[string]struct {
		path   string
		change func(w *world)
	}{
		"events.get":        {below + "primary/events/qs0mine", func(w *world) { w.rename("qs0mine") }},
		"events.list":       {below + "primary/events", func(w *world) { w.rename("qs0series") }},
		"events.instances":  {below + "primary/events/qs0series/instances", func(w *world) { w.rename("qs0series") }},
		"calendarList.list": {"/calendar/v3/users/me/calendarList", (*world).share},
		"calendarList.get":  {"/calendar/v3/users/me/calendarList/ana@example.test", (*world).share},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, testOptions())
			w.insert("gm", timed("qs0mine", 6))
			w.weekly("qs0series")
			if err := w.sim.Share("ana@example.test", "gm", google.Reader); err != nil {
				t.Fatal(err)
			}
			_, header, _ := w.curl("gm", "GET", tc.path, "")
			etag := header.Get("ETag")
			for _, known := range []string{etag, "W/" + etag, `"other", ` + etag, "*"} {
				if status, header, text := w.curl("gm", "GET", tc.path, "", "If-None-Match", known); status != http.StatusNotModified ||
					header.Get("ETag") != etag {
					t.Errorf("%s: %d %s", known, status, text)
				}
			}
			if status, _, text := w.curl("gm", "GET", tc.path, "", "If-None-Match", `"other"`); status != http.StatusOK {
				t.Errorf("another etag: %d %s", status, text)
			}
			tc.change(w)
			if status, header, text := w.curl("gm", "GET", tc.path, "", "If-None-Match", etag); status != http.StatusOK ||
				header.Get("ETag") == etag {
				t.Errorf("after a change: %d %s", status, text)
			}
		})
	}
}

// rename changes an event of gm's.
func (w *world) rename(id string) {
	w.t.Helper()
	must(w.as("gm").Events.Patch("primary", id, &calendar.Event{Summary: "new"}).Do())(w.t)
}

// share gives gm another role in ana's calendar.
func (w *world) share() {
	w.t.Helper()
	if err := w.sim.Share("ana@example.test", "gm", google.Writer); err != nil {
		w.t.Fatal(err)
	}
}

func TestETag_OfAListing_IsItsOwnForEveryPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	w.fill("gm", 6)
	_, pages := w.pages("gm", func(c *calendar.EventsListCall) { c.MaxResults(3) })
	if len(pages) != 2 || pages[0].Etag == pages[1].Etag || pages[0].Etag != pages[0].ServerResponse.Header.Get("ETag") {
		t.Fatalf("%d pages, etags %s and %s", len(pages), pages[0].Etag, pages[1].Etag)
	}
	second := w.as("gm").Events.List("primary").MaxResults(3).PageToken(pages[0].NextPageToken)
	if _, err := second.IfNoneMatch(pages[0].Etag).Do(); err != nil {
		t.Errorf("the first page's etag: %v", err)
	}
	if _, err := second.IfNoneMatch(pages[1].Etag).Do(); !googleapi.IsNotModified(err) {
		t.Errorf("its own etag: %v", err)
	}
}

func TestETag_OfAWrite_IsNotAskedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	w.insert("gm", timed("qs0mine", 6))
	if status, _, text := w.curl("gm", "PATCH", "/calendar/v3/calendars/primary/events/qs0mine", `{"summary":"new"}`,
		"If-None-Match", "*"); status != 200 {
		t.Errorf("%d %s", status, text)
	}
	gone := w.as("gm").Events.Get("primary", "qs0none").IfNoneMatch("*")
	_, err := gone.Do()
	wantError(t, err, 404, "notFound")
}
