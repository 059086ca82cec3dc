package gcal_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"questscheduler/demo/sim/google"
	"questscheduler/fault"
	"questscheduler/internal/gcal"
)

// wanted is a channel for two days.
func wanted(id string) gcal.WatchRequest {
	return gcal.WatchRequest{
		ID: id, Token: "channel-secret", Address: "https://quest.example.org/webhooks/google/calendar", TTL: 48 * time.Hour,
	}
}

func TestWatch_GivesWhatStoppingNeeds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, gcal.Options{})
	channel, err := w.client.Watch(t.Context(), mine, wanted("c1"))
	if err != nil || channel.ID != "c1" || channel.ResourceID == "" || !channel.Expiration.Equal(noon.Add(48*time.Hour)) {
		t.Fatalf("got %+v, %v", channel, err)
	}
	for i := range 2 {
		if err := w.client.StopWatch(t.Context(), "gm", channel.ID, channel.ResourceID); err != nil {
			t.Errorf("stop %d: %v", i, err)
		}
	}
	w.insert(t, session("abcde1"))
	if pending := w.sim.PendingPushes(); len(pending) != 1 || pending[0].State != "sync" {
		t.Errorf("pushes after the stop: %+v", pending)
	}
}

func TestWatch_AnIdThatWasUsedIsRefusedForGood(t *testing.T) {
	t.Parallel()
	w := newWorld(t, gcal.Options{})
	if _, err := w.client.Watch(t.Context(), mine, wanted("c1")); err != nil {
		t.Fatal(err)
	}
	_, err := w.client.Watch(t.Context(), mine, wanted("c1"))
	wantKind(t, err, fault.Provider, "channelIdNotUnique")
}

func TestWatch_ItsEndIsAsGrantedElseAsAsked(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		granted string
		asked   time.Duration
		want    time.Time
	}{
		"less than asked":     {`"1772373600000"`, 48 * time.Hour, time.UnixMilli(1772373600000).UTC()},
		"not said":            {"", 48 * time.Hour, noon.Add(48 * time.Hour)},
		"not said, not asked": {"", 0, noon.Add(168 * time.Hour)},
		"not said, for years": {"", 20000 * time.Hour, noon.Add(168 * time.Hour)},
	} {
		client := scripted(t, func(w http.ResponseWriter, _ *http.Request) {
			if tc.granted == "" {
				fmt.Fprint(w, `{"resourceId":"r"}`)
				return
			}
			fmt.Fprintf(w, `{"resourceId":"r","expiration":%s}`, tc.granted)
		})
		request := wanted("c1")
		request.TTL = tc.asked
		if channel, err := client.Watch(t.Context(), mine, request); err != nil || channel.Expiration != tc.want {
			t.Errorf("%s: until %v, %v, want %v", name, channel.Expiration, err, tc.want)
		}
	}
}

func TestCalendars_ListsAllPagesOfThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t, gcal.Options{})
	for i := range 300 {
		if err := w.sim.AddCalendar(google.Calendar{
			ID: fmt.Sprintf("c%d@group.calendar.google.com", i), Summary: "Shared", Owner: "ana",
		}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.sim.Share("gm@example.test", "ana", google.Reader); err != nil {
		t.Fatal(err)
	}
	if err := w.sim.Hide("c7@group.calendar.google.com", "ana", true); err != nil {
		t.Fatal(err)
	}
	entries, err := w.client.Calendars(t.Context(), "ana")
	if err != nil || len(entries) != 302 {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	find := func(id string) gcal.CalendarEntry {
		return entries[slices.IndexFunc(entries, func(e gcal.CalendarEntry) bool { return e.ID == id })]
	}
	for _, want := range []gcal.CalendarEntry{
		{ID: "ana@example.test", Summary: "ana@example.test", TimeZone: "UTC", Primary: true, Writable: true},
		{ID: "gm@example.test", Summary: "gm@example.test", TimeZone: "Europe/Zurich"},
		{ID: "c7@group.calendar.google.com", Summary: "Shared", TimeZone: "UTC", Writable: true, Hidden: true},
		{ID: "c8@group.calendar.google.com", Summary: "Shared", TimeZone: "UTC", Writable: true},
	} {
		if got := find(want.ID); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

func TestCalendars_WithoutTheirScopeTheAccountStaysGood(t *testing.T) {
	t.Parallel()
	w := newWorld(t, gcal.Options{})
	grant, err := w.sim.NewGrant("gm", "openid", "email", google.ScopeEvents)
	if err != nil {
		t.Fatal(err)
	}
	w.grants["gm"] = grant
	_, err = w.client.Calendars(t.Context(), "gm")
	wantKind(t, err, fault.Forbidden, gcal.CodeScopeMissing)
	w.insert(t, session("abcde1"))
}
