package gcal_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"questscheduler/demo/sim/google"
	"questscheduler/fault"
	"questscheduler/internal/gcal"
	"questscheduler/rules"
)

// listAll reads every page and gives the events in order, the new sync token
// and how many pages there were.
func listAll(t *testing.T, client *gcal.Client, ref gcal.Ref, syncToken string) (events []gcal.Event, next string, pages int) {
	t.Helper()
	for pageToken := ""; ; pages++ {
		page, err := client.List(t.Context(), ref, gcal.Times, syncToken, pageToken)
		if err != nil {
			t.Fatalf("list: %v", err)
		}
		events = append(events, page.Events...)
		if page.NextPage == "" {
			return events, page.NextSync, pages + 1
		}
		if page.NextSync != "" {
			t.Error("a page with a next one has a sync token")
		}
		pageToken = page.NextPage
	}
}

func TestList_FollowsPagesAndThenChangesAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, gcal.Options{PageSize: 2})
	for i := range 5 {
		w.insert(t, session(fmt.Sprintf("abcde%d", i)))
	}
	events, token, pages := listAll(t, w.client, mine, "")
	if len(events) != 5 || token == "" || pages < 3 {
		t.Fatalf("full listing: %d events on %d pages, token %q", len(events), pages, token)
	}
	first := events[0]
	if first.EventState != rules.Present || first.Fingerprint.IsZero() || first.ETag == "" || first.Updated.IsZero() ||
		first.Private["poll"] != "p1" {
		t.Errorf("an event of a listing: %+v", first)
	}
	if first.Summary != "" || first.Description != "" {
		t.Error("the listing carries what decides nothing")
	}

	if _, err := w.client.Delete(t.Context(), mine, "abcde3"); err != nil {
		t.Fatal(err)
	}
	changed, token, _ := listAll(t, w.client, mine, token)
	if len(changed) != 1 || changed[0].ID != "abcde3" || changed[0].EventState != rules.Gone {
		t.Errorf("after a deletion: %+v", changed)
	}
	changed, _, _ = listAll(t, w.client, mine, token)
	if len(changed) != 0 {
		t.Errorf("without a change: %+v", changed)
	}
	events, _, _ = listAll(t, w.client, mine, "")
	if len(events) != 4 {
		t.Errorf("a full listing shows %d events, want those that live", len(events))
	}
}

func TestList_ATokenThatEndedAsksForAFullListing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, gcal.Options{})
	_, token, _ := listAll(t, w.client, mine, "")
	if err := w.sim.ExpireSyncTokens(); err != nil {
		t.Fatal(err)
	}
	_, err := w.client.List(t.Context(), mine, gcal.Times, token, "")
	wantKind(t, err, fault.Conflict, gcal.CodeSyncTokenExpired)
}

func TestList_ReportsWriteAccess(t *testing.T) {
	t.Parallel()
	w := newWorld(t, gcal.Options{})
	for role, want := range map[google.Role]bool{
		google.FreeBusyReader: false, google.Reader: false, google.WriterWithoutPrivateAccess: true, google.Writer: true, google.Owner: true,
	} {
		if err := w.sim.Share("gm@example.test", "ana", role); err != nil {
			t.Fatal(err)
		}
		ref := gcal.Ref{Account: "ana", Calendar: "gm@example.test"}
		page, err := w.client.List(t.Context(), ref, gcal.Times, "", "")
		if err != nil || page.Writable != want {
			t.Errorf("as %s: writable %v, %v", role, page.Writable, err)
		}
		access, err := w.client.Access(t.Context(), ref)
		if err != nil || access != (gcal.Access{Role: string(role), Writable: want, TimeZone: "Europe/Zurich"}) {
			t.Errorf("as %s: %+v, %v", role, access, err)
		}
	}
}

// listed answers a listing with these items.
func listed(t *testing.T, zone string, items ...string) *gcal.Client {
	return scripted(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"accessRole":"owner","timeZone":%q,"nextSyncToken":"s","items":[%s]}`, zone, strings.Join(items, ","))
	})
}

func TestList_ReadsWhateverACalendarHolds(t *testing.T) {
	t.Parallel()
	client := listed(t, "Europe/Zurich",
		`{"id":"tombstone","status":"cancelled"}`,
		`{"id":"ex_1","status":"cancelled","recurringEventId":"ex","originalStartTime":{"date":"2026-03-01"}}`,
		`{"id":"series","recurrence":["RRULE:FREQ=DAILY"],"start":{"date":"2026-03-01"},"end":{"date":"2026-03-02"}}`,
		`{"id":"series_2","recurringEventId":"series","start":{"date":"2026-03-01"},"end":{"date":"2026-03-02"}}`,
		`{"id":"birthday","eventType":"birthday","start":{"date":"2026-03-01"},"end":{"date":"2026-03-02"},"updated":"2026-03-01T10:00:00.123Z"}`,
		`{"id":"empty"}`,
		`{"id":"half","start":{"date":"2026-03-01"}}`,
	)
	page, err := client.List(t.Context(), mine, gcal.Times, "", "")
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		id, instanceOf string
		eventState     rules.EventState
		fingerprint    string
	}
	var got []row
	for _, e := range page.Events {
		got = append(got, row{e.ID, e.InstanceOf, e.EventState, e.Fingerprint.String()})
	}
	const day = "2026-03-01|2026-03-02|true"
	want := []row{
		{"tombstone", "", rules.Gone, ""}, {"ex_1", "ex", rules.Gone, ""}, {"series", "", rules.Series, ""},
		{"series_2", "series", rules.Present, day}, {"birthday", "", rules.Present, day},
		{"empty", "", rules.Unreadable, ""}, {"half", "", rules.Unreadable, ""},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if at := page.Events[4].Updated; at.UnixMilli()%1000 != 123 || !page.Events[0].Updated.IsZero() {
		t.Errorf("updated is read as %v and %v", at, page.Events[0].Updated)
	}
}

// Sync tokens in the store were issued for these: a change of them needs another version.
func TestList_ParametersOfAMask_AreTheSameForEver(t *testing.T) {
	t.Parallel()
	const around, wide = "nextPageToken,nextSyncToken,accessRole,timeZone,items(id,etag,status,updated,start,end,recurrence,recurringEventId,extendedProperties/private",
		",iCalUID,summary,description,location,originalStartTime,visibility,transparency,eventType,"
	for mask, want := range map[gcal.Mask]struct {
		version int64
		fields  string
		size    string
		most    string
	}{
		gcal.Times:       {1, around + ")", "2500", ""},
		gcal.WithDetails: {2, around + wide + "attendees(self,responseStatus),organizer(email,self))", "250", "1"},
		gcal.WithGuests: {3,
			around + wide + "attendees(email,responseStatus,resource,organizer,self),attendeesOmitted,guestsCanModify,organizer(email,self))",
			"250", ""},
	} {
		parameters := url.Values{
			"alt": {"json"}, "prettyPrint": {"false"}, "singleEvents": {"false"}, "fields": {want.fields}, "maxResults": {want.size},
		}
		if want.most != "" {
			parameters.Set("maxAttendees", want.most)
		}
		var queries []string
		client := scripted(t, func(w http.ResponseWriter, r *http.Request) {
			query := r.URL.Query()
			for _, own := range []string{"syncToken", "pageToken"} {
				query.Del(own)
			}
			queries = append(queries, query.Encode())
			fmt.Fprint(w, `{"nextPageToken":"p"}`)
		})
		for _, tokens := range [][2]string{{"", ""}, {"", "p"}, {"s", ""}, {"s", "p"}} {
			if _, err := client.List(t.Context(), mine, mask, tokens[0], tokens[1]); err != nil {
				t.Fatal(err)
			}
		}
		for i, got := range queries {
			if got != parameters.Encode() || mask.Version() != want.version {
				t.Errorf("listing %d with mask %d: %s at version %d", i, mask, got, mask.Version())
			}
		}
	}
}
