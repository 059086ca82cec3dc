package google_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"google.golang.org/api/calendar/v3"

	"questscheduler/demo/sim/google"
)

// fill inserts events qs00000, qs00001, … into a person's calendar.
func (w *world) fill(key string, n int) {
	w.t.Helper()
	for i := range n {
		w.insert(key, timed(fmt.Sprintf("qs%05d", i), 1+i%28))
	}
}

func TestSyncToken_Listing_HasTheChangesSince(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	w.fill("gm", 3)
	items, token := w.list("gm", nil)
	if got := states(items); got != "qs00000 confirmed, qs00001 confirmed, qs00002 confirmed" {
		t.Fatalf("full listing: %s", got)
	}
	if items, again := w.since("gm", token); len(items) != 0 || again == "" {
		t.Errorf("nothing changed: %s, token %q", states(items), again)
	}

	w.insert("gm", timed("qsfresh", 9))
	if _, err := w.as("gm").Events.Patch("primary", "qs00001", &calendar.Event{Summary: "moved"}).Do(); err != nil {
		t.Fatal(err)
	}
	if err := w.as("gm").Events.Delete("primary", "qs00000").Do(); err != nil {
		t.Fatal(err)
	}
	items, next := w.since("gm", token)
	if got := states(items); got != "qsfresh confirmed, qs00001 confirmed, qs00000 cancelled" {
		t.Errorf("since the token: %s", got)
	}
	if gone := items[2]; gone.Start != nil || gone.Summary != "" || gone.Updated != "" {
		t.Errorf("the tombstone shows more than its id: %+v", gone)
	}
	if items, _ := w.since("gm", next); len(items) != 0 {
		t.Errorf("since the next token: %s", states(items))
	}
	if items, _ := w.since("gm", token); len(items) != 3 {
		t.Errorf("the old token lists %d events, want the same 3", len(items))
	}

	w.insert("gm", timed("qsgone0", 9))
	if err := w.as("gm").Events.Delete("primary", "qsgone0").Do(); err != nil {
		t.Fatal(err)
	}
	if items, _ := w.since("gm", next); states(items) != "qsgone0 cancelled" {
		t.Errorf("made and deleted within one gap: %s", states(items))
	}
}

func TestPages_LastPage_AloneHasASyncToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	w.fill("gm", 7)
	items, pages := w.pages("gm", func(c *calendar.EventsListCall) { c.MaxResults(3) })
	if len(items) != 7 || len(pages) != 3 {
		t.Fatalf("%d events on %d pages, want 7 on 3", len(items), len(pages))
	}
	for i, page := range pages {
		if last := i == 2; (page.NextSyncToken != "") != last || (page.NextPageToken == "") != last {
			t.Errorf("page %d: page token %q, sync token %q", i, page.NextPageToken, page.NextSyncToken)
		}
	}

	token := pages[2].NextSyncToken
	for i := range 5 {
		if err := w.as("gm").Events.Delete("primary", fmt.Sprintf("qs%05d", i)).Do(); err != nil {
			t.Fatal(err)
		}
	}
	items, pages = w.pages("gm", func(c *calendar.EventsListCall) { c.SyncToken(token).MaxResults(2) })
	if len(items) != 5 || len(pages) != 3 || pages[0].NextSyncToken != "" || pages[2].NextSyncToken == "" {
		t.Errorf("tombstones: %s on %d pages", states(items), len(pages))
	}

	t.Log("deleted events count for a page before they are hidden, so pages are short and empty")
	items, pages = w.pages("gm", func(c *calendar.EventsListCall) { c.MaxResults(2) })
	if len(items) != 2 || len(pages) != 4 || len(pages[0].Items) != 0 || pages[0].NextPageToken == "" {
		t.Errorf("%s on %d pages", states(items), len(pages))
	}
	items, _ = w.pages("gm", func(c *calendar.EventsListCall) { c.ShowDeleted(true).MaxResults(2) })
	if len(items) != 7 || items[0].Status != "cancelled" {
		t.Errorf("with deleted ones: %s", states(items))
	}
}

func TestPages_ChangeInBetween_IsInTheNextListing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	w.fill("gm", 4)
	first := must(w.as("gm").Events.List("primary").MaxResults(2).Do())(t)
	if err := w.as("gm").Events.Delete("primary", "qs00000").Do(); err != nil {
		t.Fatal(err)
	}
	w.insert("gm", timed("qsfresh", 9))
	last := must(w.as("gm").Events.List("primary").MaxResults(3).PageToken(first.NextPageToken).Do())(t)
	items, _ := w.since("gm", last.NextSyncToken)
	if got := states(items); got != "qs00000 cancelled, qsfresh confirmed" {
		t.Errorf("since the listing that was under way: %s", got)
	}

	t.Log("and likewise while a sync token's listing goes on")
	for i := 1; i < 4; i++ {
		if _, err := w.as("gm").Events.Patch("primary", fmt.Sprintf("qs%05d", i), &calendar.Event{Summary: "x"}).Do(); err != nil {
			t.Fatal(err)
		}
	}
	first = must(w.as("gm").Events.List("primary").SyncToken(last.NextSyncToken).MaxResults(2).Do())(t)
	if _, err := w.as("gm").Events.Patch("primary", "qs00003", &calendar.Event{Summary: "y"}).Do(); err != nil {
		t.Fatal(err)
	}
	var rest []string
	page := first
	for page.NextPageToken != "" {
		page = must(w.as("gm").Events.List("primary").SyncToken(last.NextSyncToken).MaxResults(2).PageToken(page.NextPageToken).Do())(t)
		rest = append(rest, states(page.Items))
	}
	items, _ = w.since("gm", page.NextSyncToken)
	if got := states(items); got != "qs00003 confirmed" {
		t.Errorf("changed under way: %s after %v", got, rest)
	}
}

func TestSyncToken_DeletionInTheGap_IsNotInAFullListing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	w.fill("gm", 2)
	_, token := w.list("gm", nil)
	if err := w.as("gm").Events.Delete("primary", "qs00000").Do(); err != nil {
		t.Fatal(err)
	}
	w.control("expire-sync-tokens", "")
	_, err := w.as("gm").Events.List("primary").SyncToken(token).Do()
	wantError(t, err, 410, "fullSyncRequired")

	items, fresh := w.list("gm", nil)
	if got := states(items); got != "qs00001 confirmed" {
		t.Errorf("full listing after 410: %s", got)
	}
	if got := must(w.as("gm").Events.Get("primary", "qs00000").Do())(t); got.Status != "cancelled" {
		t.Errorf("get of the deleted: %q", got.Status)
	}
	if items, _ := w.since("gm", fresh); len(items) != 0 {
		t.Errorf("a fresh token: %s", states(items))
	}
}

func TestList_ConflictingParameters_AreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	w.fill("gm", 3)
	_, token := w.list("gm", nil)
	page := must(w.as("gm").Events.List("primary").MaxResults(2).Do())(t)
	_, other := w.list("ana", nil)
	with := "syncToken=" + url.QueryEscape(token) + "&"
	for query, want := range map[string]struct {
		status int
		reason string
	}{
		with + "showDeleted=true":                                   {200, ""},
		with + "maxResults=1":                                       {200, ""},
		with + "showDeleted=false":                                  {400, "badRequest"},
		with + "iCalUID=x":                                          {400, "badRequest"},
		with + "singleEvents=true&orderBy=startTime":                {400, "badRequest"},
		with + "privateExtendedProperty=a%3Db":                      {400, "badRequest"},
		with + "sharedExtendedProperty=a%3Db":                       {400, "badRequest"},
		with + "q=x":                                                {400, "badRequest"},
		with + "timeMin=2026-03-01T00:00:00Z":                       {400, "badRequest"},
		with + "timeMax=2026-03-01T00:00:00Z":                       {400, "badRequest"},
		with + "updatedMin=2026-03-01T00:00:00Z":                    {400, "badRequest"},
		with + "singleEvents=true":                                  {400, "badRequest"},
		with + "timeZone=Asia/Tokyo":                                {400, "badRequest"},
		"syncToken=rubbish":                                         {400, "invalidParameter"},
		"syncToken=" + url.QueryEscape(other):                       {400, "invalidParameter"},
		"pageToken=rubbish":                                         {400, "invalidParameter"},
		"q=x&pageToken=" + url.QueryEscape(page.NextPageToken):      {400, "invalidParameter"},
		"orderBy=startTime":                                         {400, "badRequest"},
		"orderBy=summary":                                           {400, "invalidParameter"},
		"maxResults=0":                                              {400, "invalidParameter"},
		"maxResults=many":                                           {400, "invalidParameter"},
		"maxResults=9999":                                           {200, ""},
		"showDeleted=maybe":                                         {400, "invalidParameter"},
		"timeMin=2026-03-01T00:00:00":                               {400, "invalidParameter"},
		"timeMin=2026-03-02T00:00:00Z&timeMax=2026-03-02T00:00:00Z": {400, "invalidParameter"},
		"timeZone=Mars/Base":                                        {400, "invalidParameter"},
		"eventTypes=party":                                          {400, "invalidParameter"},
		"privateExtendedProperty=a":                                 {400, "invalidParameter"},
		"updatedMin=2025-12-01T00:00:00Z":                           {410, "updatedMinTooLongAgo"},
		"fields=items(id":                                           {400, "invalidParameter"},
		"fields=items/nothing":                                      {400, "invalidParameter"},
		"fields=":                                                   {200, ""},
		"fields=" + strings.Repeat("items(", 50) + strings.Repeat(")", 50): {400, "invalidParameter"},
		"%zz": {400, "badRequest"},
	} {
		status, _, text := w.curl("gm", "GET", "/calendar/v3/calendars/primary/events?"+query, "")
		if status != want.status || want.reason != "" && !strings.Contains(text, `"reason":"`+want.reason+`"`) {
			t.Errorf("%s: got %d %s, want %d %s", query, status, text, want.status, want.reason)
		}
	}
}

func TestList_Filters(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	w.fill("gm", 5) // on 1 to 5 March
	special := timed("special", 20)
	special.ExtendedProperties = &calendar.EventExtendedProperties{Private: map[string]string{"poll": "p1", "gen": "2"}}
	special.Location, special.EventType = "Dragon's Den", "focusTime"
	w.insert("gm", special)
	day := w.insert("gm", &calendar.Event{
		Id: "dateonl", Start: &calendar.EventDateTime{Date: "2026-03-10"}, End: &calendar.EventDateTime{Date: "2026-03-11"},
	})
	w.advance(time.Hour)
	if _, err := w.as("gm").Events.Patch("primary", "qs00000", &calendar.Event{Summary: "later"}).Do(); err != nil {
		t.Fatal(err)
	}
	if err := w.as("gm").Events.Delete("primary", "qs00001").Do(); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		change func(*calendar.EventsListCall)
		want   string
		token  bool
	}{
		"time": {func(c *calendar.EventsListCall) {
			c.TimeMin("2026-03-03T19:30:00+01:00").TimeMax("2026-03-05T00:00:00Z")
		}, "qs00002 confirmed, qs00003 confirmed", true},
		"an all-day event begins at the calendar's midnight": {
			func(c *calendar.EventsListCall) { c.TimeMin("2026-03-09T22:00:00Z").TimeMax("2026-03-09T23:00:01Z") },
			"dateonl confirmed", true,
		},
		"property": {
			func(c *calendar.EventsListCall) { c.PrivateExtendedProperty("poll=p1", "gen=2") }, "special confirmed", false,
		},
		"both properties must match": {func(c *calendar.EventsListCall) { c.PrivateExtendedProperty("poll=p1", "gen=3") }, "", false},
		"text":                       {func(c *calendar.EventsListCall) { c.Q("dragon") }, "special confirmed", false},
		"type":                       {func(c *calendar.EventsListCall) { c.EventTypes("focusTime") }, "special confirmed", true},
		"iCalUID":                    {func(c *calendar.EventsListCall) { c.ICalUID(day.ICalUID) }, "dateonl confirmed", false},
		"updated": {
			func(c *calendar.EventsListCall) { c.UpdatedMin("2026-03-01T13:00:00Z").OrderBy("updated") },
			"qs00000 confirmed, qs00001 cancelled", false,
		},
		"order": {
			func(c *calendar.EventsListCall) { c.SingleEvents(true).OrderBy("startTime").MaxResults(2) },
			"qs00000 confirmed, qs00002 confirmed, qs00003 confirmed, qs00004 confirmed, dateonl confirmed, special confirmed",
			false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			items, token := w.list("gm", tc.change)
			if got := states(items); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
			if (token != "") != tc.token {
				t.Errorf("sync token %q", token)
			}
		})
	}
}

func TestList_HeadAndMask(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	w.fill("gm", 2)
	page := must(w.as("gm").Events.List("primary").Do())(t)
	if page.AccessRole != "owner" || page.TimeZone != "Europe/Zurich" || page.Summary != "gm@example.test" || len(page.DefaultReminders) != 1 {
		t.Errorf("head %+v", page)
	}
	for fields, want := range map[string]string{
		"items(id,status)":                        `{"items":[{"id":"qs00000","status":"confirmed"},{"id":"qs00001","status":"confirmed"}]}`,
		"accessRole,items/start/dateTime":         `{"accessRole":"owner","items":[{"start":{"dateTime":"2026-03-01T19:00:00+01:00"}},{"start":{"dateTime":"2026-03-02T19:00:00+01:00"}}]}`,
		"items/id,items/organizer(email)":         `{"items":[{"id":"qs00000","organizer":{"email":"gm@example.test"}},{"id":"qs00001","organizer":{"email":"gm@example.test"}}]}`,
		"items(start/dateTime,start/timeZone)":    `{"items":[{"start":{"dateTime":"2026-03-01T19:00:00+01:00","timeZone":"Europe/Zurich"}},{"start":{"dateTime":"2026-03-02T19:00:00+01:00","timeZone":"Europe/Zurich"}}]}`,
		"items/reminders/useDefault,timeZone":     `{"timeZone":"Europe/Zurich","items":[{"reminders":{"useDefault":true}},{"reminders":{"useDefault":true}}]}`,
		"items/attendees(email)":                  `{"items":[{},{}]}`,
		"nextPageToken,accessRole":                `{"accessRole":"owner"}`,
		"items/start/*":                           `{"items":[{"start":{"dateTime":"2026-03-01T19:00:00+01:00","timeZone":"Europe/Zurich"}},{"start":{"dateTime":"2026-03-02T19:00:00+01:00","timeZone":"Europe/Zurich"}}]}`,
		"items(id),items(id,summary),accessRole ": `{"accessRole":"owner","items":[{"id":"qs00000","summary":"Session qs00000"},{"id":"qs00001","summary":"Session qs00001"}]}`, //nolint:gocritic // the blank is what is tested
	} {
		_, _, text := w.curl("gm", "GET", "/calendar/v3/calendars/primary/events?fields="+url.QueryEscape(fields), "")
		if text != want {
			t.Errorf("%s:\n got %s\nwant %s", fields, text, want)
		}
	}
}

func TestList_MaxAttendees_ShowsTheCallerOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	e := timed("", 6)
	for _, email := range []string{"gm@example.test", "x@elsewhere.test", "y@elsewhere.test"} {
		e.Attendees = append(e.Attendees, &calendar.EventAttendee{Email: email})
	}
	w.insert("gm", e)
	page := must(w.as("gm").Events.List("primary").MaxAttendees(2).Do())(t)
	if got := page.Items[0]; !got.AttendeesOmitted || len(got.Attendees) != 1 || !got.Attendees[0].Self {
		t.Errorf("omitted %v, attendees %+v", got.AttendeesOmitted, got.Attendees)
	}
	page = must(w.as("gm").Events.List("primary").MaxAttendees(3).Do())(t)
	if got := page.Items[0]; got.AttendeesOmitted || len(got.Attendees) != 3 {
		t.Errorf("omitted %v, attendees %+v", got.AttendeesOmitted, got.Attendees)
	}
}

func TestList_TenThousandEvents_ArriveInPagesOf2500(t *testing.T) {
	t.Parallel()
	w := newWorld(t, google.Options{Sequential: true})
	const n = 10_000
	handler := w.sim.Handler()
	for i := range n {
		body := fmt.Sprintf(`{"id":"qs%05d","summary":"Session","start":{"date":"2026-03-06"},"end":{"date":"2026-03-07"}}`, i)
		if status := serve(t, handler, w.grants["gm"].AccessToken, "POST", "/calendar/v3/calendars/primary/events", body); status != 200 {
			t.Fatal(status)
		}
	}
	items, pages := w.pages("gm", func(c *calendar.EventsListCall) {
		c.MaxResults(2500).Fields("items(id,status),nextPageToken,nextSyncToken")
	})
	if len(items) != n || len(pages) != 4 {
		t.Errorf("%d events on %d pages", len(items), len(pages))
	}
	if items, _ := w.since("gm", pages[3].NextSyncToken); len(items) != 0 {
		t.Errorf("%d changes", len(items))
	}
}
