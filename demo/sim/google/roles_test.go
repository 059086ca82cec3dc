package google_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"google.golang.org/api/calendar/v3"

	"questscheduler/demo/sim/google"
)

func TestRoles_ReadAndWrite_WhatTheyMay(t *testing.T) {
	t.Parallel()
	for role, tc := range map[google.Role]struct {
		open, private string // visible titles; "-" if they are hidden
		writes        bool
		writesPrivate bool
	}{
		google.FreeBusyReader:             {"-", "-", false, false},
		google.Reader:                     {"Session qs0open", "-", false, false},
		google.WriterWithoutPrivateAccess: {"Session qs0open", "-", true, false},
		google.Writer:                     {"Session qs0open", "Session qs0secret", true, true},
		google.Owner:                      {"Session qs0open", "Session qs0secret", true, true},
	} {
		t.Run(string(role), func(t *testing.T) {
			t.Parallel()
			w := newClub(t)
			secret := timed("qs0secret", 7)
			secret.Visibility = "private"
			for _, e := range []*calendar.Event{timed("qs0open", 6), secret} {
				must(w.as("gm").Events.Insert(club, e).Do())(t)
			}
			if err := w.sim.Share(club, "ben", role); err != nil {
				t.Fatal(err)
			}
			page := must(w.as("ben").Events.List(club).Do())(t)
			if page.AccessRole != string(role) || len(page.Items) != 2 {
				t.Fatalf("role %q, %d events", page.AccessRole, len(page.Items))
			}
			for i, want := range []string{tc.open, tc.private} {
				got := page.Items[i]
				if hidden := want == "-"; hidden != (got.Summary == "" && got.Visibility == "private" && got.Organizer == nil) ||
					!hidden && got.Summary != want || got.Start == nil {
					t.Errorf("event %d: %+v", i, got)
				}
				one := must(w.as("ben").Events.Get(club, got.Id).Do())(t)
				if one.Summary != got.Summary {
					t.Errorf("get shows %q, the listing %q", one.Summary, got.Summary)
				}
			}
			write := func(id string, allowed bool, reason string) {
				_, err := w.as("ben").Events.Patch(club, id, &calendar.Event{Summary: "new"}).Do()
				if !allowed {
					wantError(t, err, 403, reason)
				} else if err != nil {
					t.Error(err)
				}
			}
			reason := "requiredAccessLevel"
			if tc.writes {
				reason = "forbidden"
			}
			write("qs0open", tc.writes, reason)
			write("qs0secret", tc.writesPrivate, reason)
		})
	}
}

func TestCalendarList_SyncToken_ListsTheChanges(t *testing.T) {
	t.Parallel()
	w := newClub(t)
	list := func(token string) ([]*calendar.CalendarListEntry, string) {
		t.Helper()
		page := must(w.as("ana").CalendarList.List().SyncToken(token).Do())(t)
		return page.Items, page.NextSyncToken
	}
	full := must(w.as("ana").CalendarList.List().Do())(t)
	if len(full.Items) != 2 || !full.Items[0].Primary || full.NextSyncToken == "" {
		t.Fatalf("full listing: %d calendars, token %q", len(full.Items), full.NextSyncToken)
	}
	same, token := list(full.NextSyncToken)
	if len(same) != 0 {
		t.Errorf("nothing has changed: %+v", same)
	}
	if err := w.sim.Share("ben@example.test", "ana", google.FreeBusyReader); err != nil {
		t.Fatal(err)
	}
	if err := w.sim.Share(club, "ana", google.NoAccess); err != nil {
		t.Fatal(err)
	}
	changed, next := list(token)
	if len(changed) != 2 || changed[0].AccessRole != "freeBusyReader" || changed[1].Id != club || !changed[1].Deleted {
		t.Errorf("changed: %+v", changed)
	}
	first := must(w.as("ana").CalendarList.List().MaxResults(1).Do())(t)
	rest := must(w.as("ana").CalendarList.List().MaxResults(1).PageToken(first.NextPageToken).Do())(t)
	if first.NextSyncToken != "" || len(rest.Items) != 1 || rest.NextSyncToken == "" || rest.NextPageToken != "" {
		t.Errorf("pages: %+v, %+v", first, rest)
	}

	t.Log("what is hidden is in the list only where that is asked for, or it is news")
	if err := w.sim.Hide("ben@example.test", "ana", true); err != nil {
		t.Fatal(err)
	}
	hidden, after := list(next)
	if len(hidden) != 1 || !hidden[0].Hidden {
		t.Errorf("hidden: %+v", hidden)
	}
	shown := must(w.as("ana").CalendarList.List().Do())(t)
	all := must(w.as("ana").CalendarList.List().ShowHidden(true).Do())(t)
	if len(shown.Items) != 1 || len(all.Items) != 2 || !all.Items[1].Hidden {
		t.Errorf("shown: %+v, all: %+v", shown.Items, all.Items)
	}
	if err := w.sim.Hide("ben@example.test", "ana", false); err != nil {
		t.Fatal(err)
	}
	if back, _ := list(after); len(back) != 1 || back[0].Hidden {
		t.Errorf("shown again: %+v", back)
	}

	t.Log("tokens are refused for what they were not given for, and end")
	for query, status := range map[string]int{
		"minAccessRole=owner": 400, "showDeleted=false": 400, "showHidden=false": 400, "showOwnOrganizationOnly=false": 400,
		"showDeleted=true": 200, "fields=items/nothing": 400, "fields=items(id,primary)": 200,
	} {
		if got, _, text := w.curl("ana", "GET", "/calendar/v3/users/me/calendarList?syncToken="+url.QueryEscape(next)+"&"+query,
			""); got != status {
			t.Errorf("%s: %d %s", query, got, text)
		}
	}
	for _, bad := range []string{"rubbish", full.NextSyncToken} {
		if status, _, text := w.curl("ben", "GET", "/calendar/v3/users/me/calendarList?syncToken="+url.QueryEscape(bad),
			""); status != 400 || !strings.Contains(text, "syncToken") {
			t.Errorf("%d %s", status, text)
		}
	}
	w.advance(28 * 24 * time.Hour)
	_, err := w.as("ana").CalendarList.List().SyncToken(next).Do()
	wantError(t, err, 410, "fullSyncRequired")
	_, fresh := list("")
	w.control("expire-sync-tokens", "")
	_, err = w.as("ana").CalendarList.List().SyncToken(fresh).Do()
	wantError(t, err, 410, "fullSyncRequired")
}
