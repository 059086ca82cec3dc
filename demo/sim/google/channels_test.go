package google_test

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"google.golang.org/api/calendar/v3"

	"questscheduler/demo/sim/control"
	"questscheduler/demo/sim/google"
)

func TestWatch_Pushes_HaveGooglesHeaders(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	r := newReceiver(t, nil)
	ch := must(w.as("gm").Events.Watch("primary", &calendar.Channel{
		Id: "channel-1", Type: "web_hook", Address: r.url, Token: "secret", Params: map[string]string{"ttl": "3600"},
	}).Do())(t)
	until := epoch.Add(time.Hour)
	if ch.Expiration != until.UnixMilli() || ch.ResourceId == "" || ch.Token != "secret" || ch.Kind != "api#channel" {
		t.Errorf("channel %+v", ch)
	}
	if want := "https://www.googleapis.com/calendar/v3/calendars/gm@example.test/events?alt=json"; ch.ResourceUri != want {
		t.Errorf("resource uri %q, want %q", ch.ResourceUri, want)
	}
	w.fill("gm", 3)
	w.deliverAll()

	last := int64(0)
	gap := false
	for i := range 4 {
		h := r.next(t)
		number, err := strconv.ParseInt(h.Get("X-Goog-Message-Number"), 10, 64)
		if err != nil || number <= last || i == 0 && number != 1 {
			t.Errorf("push %d has number %d after %d (%v)", i, number, last, err)
		}
		gap = gap || number > last+1
		last = number
		state := "exists"
		if i == 0 {
			state = "sync"
		}
		for name, want := range map[string]string{
			"X-Goog-Channel-ID":         "channel-1",
			"X-Goog-Channel-Token":      "secret",
			"X-Goog-Channel-Expiration": "Sun, 01 Mar 2026 13:00:00 GMT",
			"X-Goog-Resource-ID":        ch.ResourceId,
			"X-Goog-Resource-URI":       ch.ResourceUri,
			"X-Goog-Resource-State":     state,
		} {
			if got := h.Get(name); got != want {
				t.Errorf("push %d: %s is %q, want %q", i, name, got, want)
			}
		}
	}
	if !gap {
		t.Error("the numbers have no gaps")
	}
}

func TestWatch_Expiration_IsGrantedUpToTheLimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t, google.Options{Sequential: true, MaxChannelTTL: 10 * 24 * time.Hour})
	for name, tc := range map[string]struct {
		channel calendar.Channel
		want    time.Duration
	}{
		"nothing asked":        {calendar.Channel{}, 7 * 24 * time.Hour},
		"a ttl":                {calendar.Channel{Params: map[string]string{"ttl": "60"}}, time.Minute},
		"an expiration":        {calendar.Channel{Expiration: epoch.Add(2 * time.Hour).UnixMilli()}, 2 * time.Hour},
		"more than is allowed": {calendar.Channel{Params: map[string]string{"ttl": "31536000"}}, 10 * 24 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			tc.channel.Id, tc.channel.Type, tc.channel.Address = strings.ReplaceAll(name, " ", "-"), "web_hook", "https://app.test/push"
			got := must(w.as("gm").Events.Watch("primary", &tc.channel).Do())(t)
			if want := epoch.Add(tc.want).UnixMilli(); got.Expiration != want {
				t.Errorf("expiration %d, want %d", got.Expiration, want)
			}
		})
	}
}

func TestWatch_InvalidChannels_AreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	w.watch("gm", "taken", "https://app.test/push")
	for name, tc := range map[string]struct {
		change func(*calendar.Channel)
		reason string
	}{
		"an id that is taken":          {func(c *calendar.Channel) { c.Id = "taken" }, "channelIdNotUnique"},
		"no id":                        {func(c *calendar.Channel) { c.Id = "" }, "required"},
		"an id above 64 characters":    {func(c *calendar.Channel) { c.Id = strings.Repeat("x", 65) }, "invalid"},
		"an id with a blank":           {func(c *calendar.Channel) { c.Id = "a b" }, "invalid"},
		"a token above 256 characters": {func(c *calendar.Channel) { c.Token = strings.Repeat("x", 257) }, "invalid"},
		"another type":                 {func(c *calendar.Channel) { c.Type = "mail" }, "channelUnknown"},
		"an address without TLS":       {func(c *calendar.Channel) { c.Address = "http://app.test/push" }, "push.webhookUrlNotHttps"},
		"no address":                   {func(c *calendar.Channel) { c.Address = "" }, "push.webhookUrlNotHttps"},
		"a ttl that is none":           {func(c *calendar.Channel) { c.Params = map[string]string{"ttl": "soon"} }, "invalid"},
		"an expiration in the past":    {func(c *calendar.Channel) { c.Expiration = 1 }, "invalid"},
	} {
		t.Run(name, func(t *testing.T) {
			ch := &calendar.Channel{Id: "fresh", Type: "web_hook", Address: "https://app.test/push"}
			tc.change(ch)
			_, err := w.as("gm").Events.Watch("primary", ch).Do()
			wantError(t, err, 400, tc.reason)
		})
	}
	if n := len(w.sim.PendingPushes()); n != 1 {
		t.Errorf("%d pushes pending, want the one of the first channel", n)
	}
}

func TestPushes_ChangedCalendar_ReachEachLiveChannel(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	w.watch("gm", "one", "https://app.test/push")
	two := w.watch("gm", "two", "https://app.test/push")
	w.watch("ana", "other", "https://app.test/push")
	short := &calendar.Channel{Id: "short", Type: "web_hook", Address: "https://app.test/push", Params: map[string]string{"ttl": "60"}}
	if _, err := w.as("gm").Events.Watch("primary", short).Do(); err != nil {
		t.Fatal(err)
	}
	pending := func() string {
		var list []string
		for _, p := range w.sim.PendingPushes() {
			list = append(list, p.ChannelID+" "+p.State)
		}
		return strings.Join(list, ", ")
	}
	if got, want := pending(), "one sync, two sync, other sync, short sync"; got != want {
		t.Fatalf("got %s, want %s", got, want)
	}
	t.Log("a channel is stopped by its own person, with its resource id")
	wantError(t, w.as("ana").Channels.Stop(&calendar.Channel{Id: "two", ResourceId: two.ResourceId}).Do(), 404, "notFound")
	wantError(t, w.as("gm").Channels.Stop(&calendar.Channel{Id: "two", ResourceId: "another"}).Do(), 404, "notFound")
	if err := w.as("gm").Channels.Stop(&calendar.Channel{Id: "two", ResourceId: two.ResourceId}).Do(); err != nil {
		t.Fatal(err)
	}
	wantError(t, w.as("gm").Channels.Stop(&calendar.Channel{Id: "two", ResourceId: two.ResourceId}).Do(), 404, "notFound")
	w.advance(time.Minute) // and short has ended
	w.insert("gm", timed("", 6))
	if got, want := pending(), "one sync, two sync, other sync, short sync, one exists"; got != want {
		t.Errorf("got %s, want %s: what was on its way stays on its way", got, want)
	}
	_, err := w.as("gm").Events.Watch("primary", &calendar.Channel{Id: "two", Type: "web_hook", Address: "https://app.test/push"}).Do()
	wantError(t, err, 400, "channelIdNotUnique")
}

func TestDeliver_Failed_IsRetriedAsGoogleDoes(t *testing.T) {
	t.Parallel()
	for status, again := range map[int]bool{
		200: false, 201: false, 202: false, 204: false, 400: false, 401: false, 404: false, 429: false, 501: false,
		500: true, 502: true, 503: true, 504: true,
	} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, testOptions())
			r := newReceiver(t, func(n int) int {
				if n == 0 {
					return status
				}
				return http.StatusOK
			})
			w.watch("gm", "one", r.url)
			if err := w.sim.Deliver(t.Context(), w.sim.PendingPushes()[0].ID); err != nil {
				t.Fatal(err)
			}
			pending := w.sim.PendingPushes()
			if got := len(pending) == 1; got != again {
				t.Fatalf("pending %+v", pending)
			}
			if !again {
				return
			}
			if p := pending[0]; p.Attempts != 1 || !p.Due.After(epoch) {
				t.Errorf("after a failure: %+v", p)
			}
			w.deliverAll()
			if first, second := r.next(t), r.next(t); first.Get("X-Goog-Message-Number") != second.Get("X-Goog-Message-Number") {
				t.Error("a retry has another number")
			}
		})
	}
}

func TestDeliver_FailsForever_GivesUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	w.watch("gm", "one", "http://127.0.0.1:1/refused")
	attempts := 0
	for len(w.sim.PendingPushes()) > 0 {
		attempts++
		if attempts > 50 {
			t.Fatal("still trying after 50 attempts")
		}
		if _, err := w.sim.DeliverNext(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if attempts < 5 {
		t.Errorf("gave up after %d attempts", attempts)
	}
	if got := w.sim.Control().Calls()["push"]; got != attempts {
		t.Errorf("%d pushes counted, want each of the %d attempts", got, attempts)
	}
}

func TestDeliver_Faults(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		rule               control.Rule
		received, attempts int
	}{
		"a dropped push never comes":           {control.Rule{Match: "push", Drop: true, Times: 1}, 0, 1},
		"a duplicate comes once more":          {control.Rule{Match: "push", Duplicate: 2, Times: 1}, 3, 1},
		"a lost answer is a failure, so twice": {control.Rule{Match: "push", LostAnswer: true, Times: 1}, 2, 2},
		"a status stands for the receiver's":   {control.Rule{Match: "push", Status: 503, Times: 2}, 1, 3},
		"and is final where Google's is":       {control.Rule{Match: "push", Status: 404, Times: 1}, 0, 1},
		"a delay only delays":                  {control.Rule{Match: "push", DelayMS: 1, Times: 1}, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, testOptions())
			r := newReceiver(t, nil)
			w.watch("gm", "one", r.url)
			w.plant(tc.rule)
			w.deliverAll()
			if got := len(r.pushes); got != tc.received {
				t.Errorf("%d received, want %d", got, tc.received)
			}
			if got := w.sim.Control().Calls()["push"]; got != tc.attempts {
				t.Errorf("%d attempts, want %d", got, tc.attempts)
			}
		})
	}
}

func TestDeliver_EndedChannel_ReceivesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	r := newReceiver(t, nil)
	w.watch("gm", "one", r.url)
	w.advance(8 * 24 * time.Hour)
	w.deliverAll()
	if len(r.pushes) != 0 || len(w.sim.PendingPushes()) != 0 {
		t.Errorf("%d received, %d pending", len(r.pushes), len(w.sim.PendingPushes()))
	}
}

func TestStart_InTheBackground_DeliversAndRetries(t *testing.T) {
	t.Parallel()
	w := newWorld(t, google.Options{})
	r := newReceiver(t, func(n int) int {
		if n < 2 {
			return http.StatusServiceUnavailable
		}
		return http.StatusNoContent
	})
	if err := w.sim.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if w.sim.Start(t.Context()) == nil {
		t.Error("started twice")
	}
	w.watch("gm", "one", r.url)
	for range 3 {
		if h := r.next(t); h.Get("X-Goog-Message-Number") != "1" {
			t.Errorf("number %s, want the sync message again", h.Get("X-Goog-Message-Number"))
		}
	}
	w.insert("gm", timed("", 6))
	if h := r.next(t); h.Get("X-Goog-Resource-State") != "exists" {
		t.Errorf("state %s", h.Get("X-Goog-Resource-State"))
	}
}

func TestStart_HangingReceiver_DelaysNoOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t, google.Options{})
	release := make(chan struct{})
	hung := newReceiver(t, func(int) int { <-release; return http.StatusOK })
	quick := newReceiver(t, nil)
	if err := w.sim.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.watch("gm", "hung", hung.url)
	w.watch("gm", "quick", quick.url)
	quick.next(t)
	close(release)
	hung.next(t)
}

func TestDeliver_InProcess(t *testing.T) {
	t.Parallel()
	var got http.Header
	app := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.Header })
	w := newWorld(t, google.Options{Sequential: true, PushClient: &http.Client{Transport: control.Transport(app)}})
	w.watch("gm", "one", "https://app.test/push")
	w.deliverAll()
	if got.Get("X-Goog-Channel-ID") != "one" || len(w.sim.PendingPushes()) != 0 {
		t.Errorf("headers %v, pending %+v", got, w.sim.PendingPushes())
	}
	if err := w.sim.Deliver(t.Context(), 1); !errors.Is(err, google.ErrNoPush) {
		t.Errorf("delivered again: %v", err)
	}
}
