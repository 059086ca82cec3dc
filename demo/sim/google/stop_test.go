package google_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"golang.org/x/oauth2"
	"google.golang.org/api/calendar/v3"

	"questscheduler/demo/sim/google"
)

func (w *world) with(token *oauth2.Token) *calendar.Service {
	return w.client(oauth2.StaticTokenSource(token))
}

func TestStop_OtherClientOrEndedGrant_IsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	ours := w.consented(w.linking("ours"), google.Consent{User: "gm"})
	again := w.consented(w.linking("ours"), google.Consent{User: "gm"}, oauth2.ApprovalForce)
	others := w.consented(w.linking("other"), google.Consent{User: "gm"})
	watch := func(id string) *calendar.Channel {
		ch := &calendar.Channel{Id: id, Type: "web_hook", Address: "https://app.test/push"}
		made := must(w.with(ours).Events.Watch("primary", ch).Do())(t)
		return &calendar.Channel{Id: made.Id, ResourceId: made.ResourceId}
	}
	one, two := watch("one"), watch("two")
	wantError(t, w.with(others).Channels.Stop(one).Do(), 404, "notFound")
	if err := w.with(again).Channels.Stop(one).Do(); err != nil {
		t.Errorf("another grant to the same client: %v", err)
	}

	t.Log("after a revocation the channel can only be left to expire")
	w.control("revoke", `{"user":"gm"}`)
	fresh := w.consented(w.linking("ours"), google.Consent{User: "gm"})
	wantError(t, w.with(fresh).Channels.Stop(two).Do(), 404, "notFound")
	must(w.with(fresh).Events.Insert("primary", timed("", 6)).Do())(t)
	if pending := w.sim.PendingPushes(); pending[len(pending)-1].ChannelID != "two" || pending[len(pending)-1].State != "exists" {
		t.Errorf("pending %+v", pending)
	}
}

func TestStop_StoppedChannel_ReceivesDuringTheGrace(t *testing.T) {
	t.Parallel()
	w := newWorld(t, google.Options{Sequential: true, StopGrace: time.Minute})
	r := newReceiver(t, nil)
	one := w.watch("gm", "one", r.url)
	w.deliverAll()
	if err := w.as("gm").Channels.Stop(one).Do(); err != nil {
		t.Fatal(err)
	}
	w.insert("gm", timed("", 6))
	if n := len(w.sim.PendingPushes()); n != 1 {
		t.Errorf("%d pushes within the grace, want 1", n)
	}
	w.deliverAll()
	if len(r.pushes) != 2 {
		t.Errorf("%d pushes received, want sync and one more", len(r.pushes))
	}
	w.advance(time.Minute)
	w.insert("gm", timed("", 7))
	if n := len(w.sim.PendingPushes()); n != 0 {
		t.Errorf("%d pushes after the grace", n)
	}
	wantError(t, w.as("gm").Channels.Stop(one).Do(), 404, "notFound")
}

func TestWatch_UnsupportedCalendars_AreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	if err := w.sim.AddCalendar(google.Calendar{ID: "holidays@group.v.calendar.test", Owner: "gm", NoPush: true}); err != nil {
		t.Fatal(err)
	}
	ch := &calendar.Channel{Id: "one", Type: "web_hook", Address: "https://app.test/push"}
	_, err := w.as("gm").Events.Watch("holidays@group.v.calendar.test", ch).Do()
	wantError(t, err, 400, "pushNotSupportedForRequestedResource")
	must(w.as("gm").Events.Watch("primary", ch).Do())(t)
}

func TestPushes_AccessRemoved_End(t *testing.T) {
	t.Parallel()
	w := newClub(t)
	must(w.as("ben").Events.Watch(club, &calendar.Channel{Id: "bens", Type: "web_hook", Address: "https://app.test/push"}).Do())(t)
	if err := w.sim.Share(club, "ben", google.NoAccess); err != nil {
		t.Fatal(err)
	}
	must(w.as("gm").Events.Insert(club, timed("", 6)).Do())(t)
	if pending := w.sim.PendingPushes(); len(pending) != 1 || pending[0].State != "sync" {
		t.Errorf("pending %+v", pending)
	}
}

func TestRemoveCalendar_Channels_EndWithNotExists(t *testing.T) {
	t.Parallel()
	w := newClub(t)
	r := newReceiver(t, nil)
	must(w.as("gm").Events.Watch(club, &calendar.Channel{Id: "one", Type: "web_hook", Address: r.url}).Do())(t)
	e := must(w.as("gm").Events.Insert(club, timed("", 6)).Do())(t)
	if err := w.sim.RemoveCalendar(club); err != nil {
		t.Fatal(err)
	}
	w.deliverAll()
	for _, want := range []string{"sync", "exists", "not_exists"} {
		if got := r.next(t).Get("X-Goog-Resource-State"); got != want {
			t.Errorf("state %s, want %s", got, want)
		}
	}
	_, err := w.as("gm").Events.Get(club, e.Id).Do()
	wantError(t, err, 404, "notFound")
	_, err = w.as("gm").Events.List(club).Do()
	wantError(t, err, 404, "notFound")
	if list := must(w.as("gm").CalendarList.List().Do())(t); len(list.Items) != 1 {
		t.Errorf("%d calendars", len(list.Items))
	}
	for _, id := range []string{"gm@example.test", "nobody@example.test"} {
		if w.sim.RemoveCalendar(id) == nil {
			t.Errorf("%s was removed", id)
		}
	}
}

func TestChannelRules_ShorterGrants_UntilOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	week := map[string]string{"ttl": "604800"}
	for i, row := range []struct {
		rule string
		want time.Duration
	}{
		{`{"longest_grant":"5m"}`, 5 * time.Minute},
		{`{"longest_grant":"1h"}`, time.Hour},
		{`{"longest_grant":"24h"}`, 24 * time.Hour},
		{`{"longest_grant":"47h"}`, 47 * time.Hour},
		{`{"longest_grant":"off"}`, 7 * 24 * time.Hour},
		{`{}`, 7 * 24 * time.Hour},
	} {
		w.control("channels", row.rule)
		ch := &calendar.Channel{Id: fmt.Sprint("c", i), Type: "web_hook", Address: "https://app.test/push", Params: week}
		made := must(w.as("gm").Events.Watch("primary", ch).Do())(t)
		if want := epoch.Add(row.want).UnixMilli(); made.Expiration != want {
			t.Errorf("%s: until %d, want %d", row.rule, made.Expiration, want)
		}
	}
	for _, bad := range []string{`{"longest_grant":"soon"}`, `{"longest_grant":"-1h"}`, `{"stop_grace":"x"}`, `{"ttl":"1h"}`} {
		if status, _, _ := w.curl("", "POST", "/_sim/channels", bad); status != 400 {
			t.Errorf("%s: %d, want 400", bad, status)
		}
	}
}

func TestChannelRules_HeldPushes_ComeAfterTheStop(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	r := newReceiver(t, nil)
	one := w.watch("gm", "one", r.url)
	w.deliverAll()
	w.control("channels", `{"hold_until_stopped":true}`)
	w.insert("gm", timed("", 6))
	w.deliverAll()
	if len(r.pushes) != 1 || len(w.sim.PendingPushes()) != 1 {
		t.Fatalf("before the stop %d received, %d pending; want the sync message, and the other held", len(r.pushes), len(w.sim.PendingPushes()))
	}
	if err := w.as("gm").Channels.Stop(one).Do(); err != nil {
		t.Fatal(err)
	}
	w.insert("gm", timed("", 7)) // of this nothing is pushed
	w.deliverAll()
	if len(r.pushes) != 2 || len(w.sim.PendingPushes()) != 0 {
		t.Errorf("after the stop %d received, %d pending", len(r.pushes), len(w.sim.PendingPushes()))
	}
	w.control("channels", `{"stop_grace":"1m"}`)
	w.insert("gm", timed("", 8))
	w.deliverAll()
	if len(r.pushes) != 3 {
		t.Errorf("within the grace %d received, want one more", len(r.pushes))
	}
}

func TestChannelRules_HeldInTheBackground_ComeAfterTheStop(t *testing.T) {
	t.Parallel()
	w := newWorld(t, google.Options{})
	r := newReceiver(t, nil)
	if err := w.sim.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	one := w.watch("gm", "one", r.url)
	r.next(t)
	w.control("channels", `{"hold_until_stopped":true}`)
	w.insert("gm", timed("", 6))
	w.insert("gm", timed("", 7))
	held := slices.DeleteFunc(w.sim.PendingPushes(), func(p google.Push) bool { return !p.Held || p.State == "sync" })
	if len(held) != 2 {
		t.Errorf("held are %+v, want 2", held)
	}
	if err := w.as("gm").Channels.Stop(one).Do(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if h := r.next(t); h.Get("X-Goog-Resource-State") != "exists" {
			t.Errorf("state %s", h.Get("X-Goog-Resource-State"))
		}
	}
}
