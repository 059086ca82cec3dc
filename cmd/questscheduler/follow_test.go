package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/demo"
	"questscheduler/demo/sim/control"
)

// calendarWorld is the data of an ended demo, with a poll that follows an event, and
// its simulators running again.
type calendarWorld struct {
	*demo.Simulators
	demo.World
	dir   string
	ready demo.Ready
}

func newCalendarWorld(t *testing.T) *calendarWorld {
	t.Helper()
	w := &calendarWorld{dir: dataDir(t)}
	d, err := openTestDemo(t.Context(), demo.Place{Dir: w.dir, Addr: "127.0.0.1:0"}, Process{Stderr: testLog{t}})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Begin(t.Context()); err != nil {
		t.Error(err)
	}
	w.ready = d.Ready()
	if err := d.End(); err != nil || t.Failed() {
		t.Fatal(err)
	}
	w.World, err = demo.OpenWorld(w.dir)
	if err != nil {
		t.Fatal(err)
	}
	w.Simulators, err = demo.OpenSimulators(w.dir, w.ready.API, control.NewClock(nil), &w.World)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), stopPatience)
		defer cancel()
		if err := w.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	w.ready.Google, w.ready.Discord = w.GoogleURL(), w.DiscordURL()
	return w
}

// settings are those of a server for this world that listens at an address and is
// reached there.
func (w *calendarWorld) settings(address string, more ...string) []string {
	return append(settings(w.dir, "QS_ENC_KEYS=", "QS_ENC_KEYS_FILE="+filepath.Join(w.dir, demo.KeysFile),
		"QS_SYNC=on", "QS_ADDR="+address, "QS_PUBLIC_URL=http://"+address, "QS_LOG_LEVEL=debug", "QS_NOTIFY_SETTLE=0s",
		"QS_GOOGLE_ENDPOINT="+w.GoogleURL(), "QS_DISCORD_ENDPOINT="+w.DiscordURL(), "QS_DISCORD_BOT_TOKEN="+w.DiscordToken), more...)
}

// calls counts the calls of a method that Google received.
func (w *calendarWorld) calls(method string) int { return w.Google.Control().Calls()[method] }

// TestServe_FollowsCalendars_OverRestartsOnOtherAddresses runs the server on a store
// with a linked poll. Its watch channels survive a restart, are created anew if its
// address changes, and are not created if sync is off.
func TestServe_FollowsCalendars_OverRestartsOnOtherAddresses(t *testing.T) {
	t.Parallel()
	w := newCalendarWorld(t)
	linked := w.ready.Polls["linked"]
	start := func(more ...string) (*serving, *outside) {
		s := serve(t, w.settings(freeAddress(t), more...))
		o := &outside{t, w.ready}
		o.ready.API = s.url
		return s, o
	}
	stands := func(o *outside, state string) func() error {
		return func() error {
			poll, err := o.poll(linked)
			if err != nil {
				return err
			}
			return expect(poll, map[string]any{"status": "FINALIZED", "sync.state": state})
		}
	}
	// Two jobs of one start may each open a channel; one of them is stopped.
	watched := func(before ...string) func() error {
		return func() error {
			if open := w.Google.OpenChannels(); len(open) != 1 || slices.Contains(before, open[0]) {
				return fmt.Errorf("the channels %v are open, want one, and none of %v", open, before)
			}
			return nil
		}
	}

	first, o := start()
	eventually(t, "a channel", watched())
	poll, err := o.poll(linked)
	if err != nil {
		t.Fatal(err)
	}
	event := fmt.Sprint(poll["google_event_id"])
	from, to := instant(t, at(poll, "winning_slot", "start")), instant(t, at(poll, "winning_slot", "end"))
	move := func(by time.Duration) {
		t.Helper()
		got, err := o.event("PATCH", event, map[string]any{
			"start": map[string]any{"dateTime": from.Add(by).Format(time.RFC3339)},
			"end":   map[string]any{"dateTime": to.Add(by).Format(time.RFC3339)},
		})
		if err != nil || got.status != http.StatusOK {
			t.Fatalf("the event cannot be moved: %v %v", got, err)
		}
	}
	move(24 * time.Hour)
	eventually(t, "a reschedule by push", stands(o, "RESCHEDULED"))
	code, left := first.stop(), w.Google.OpenChannels()
	if code != exitOK || len(left) == 0 {
		t.Errorf("it ended with %d and left %v open, which the next start could go on with", code, left)
	}

	move(0) // no server is running
	second, o := start()
	eventually(t, "a channel at the new address in the place of the old one", watched(left...))
	eventually(t, "the move during the restart", stands(o, "OK"))
	if code := second.stop(); code != exitOK {
		t.Errorf("it ended with %d", code)
	}

	asked := w.calls("events.watch")
	off, o := start("QS_SYNC=off")
	got, err := o.pushTo(off.url + webhookPath)
	if err != nil || got != http.StatusOK {
		t.Errorf("with sync off a push is answered with %d (%v)", got, err)
	}
	off.stop()
	if w.calls("events.watch") != asked {
		t.Error("with sync off a channel was made")
	}

	for _, s := range []*serving{first, second, off} {
		w.wantNoSecrets(t, s.log.String())
	}
	if got := strings.Count(first.log.String(), `msg="poll reschedule"`); got != 1 {
		t.Errorf("%d lines report the reschedule, want one:\n%s", got, first.log)
	}
}

// pushTo sends an unauthenticated push.
func (o *outside) pushTo(address string) (int, error) {
	request, err := http.NewRequestWithContext(o.t.Context(), http.MethodPost, address, http.NoBody)
	if err != nil {
		return 0, err
	}
	for name, value := range map[string]string{"Id": "channel", "Token": "token"} {
		request.Header.Set("X-Goog-Channel-"+name, value)
	}
	request.Header.Set("X-Goog-Resource-Id", "resource")
	request.Header.Set("X-Goog-Resource-State", "exists")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	return response.StatusCode, response.Body.Close()
}

// wantNoSecrets fails if a text contains a secret of this world.
func (w *calendarWorld) wantNoSecrets(t *testing.T, text string) {
	t.Helper()
	key, err := os.ReadFile(filepath.Join(w.dir, demo.KeysFile))
	if err != nil {
		t.Fatal(err)
	}
	secrets := []string{secretOfClient, w.DiscordToken, w.AdminToken, strings.TrimPrefix(string(key), "k1:"), "1//sim-", "ya29.sim-"}
	for _, user := range w.Users {
		secrets = append(secrets, user.Token, user.GoogleToken)
		if user.Second != nil {
			secrets = append(secrets, user.Second.GoogleToken)
		}
	}
	if i := slices.IndexFunc(secrets, func(secret string) bool { return strings.Contains(text, secret) }); i >= 0 {
		t.Errorf("the log holds a secret, number %d of the test's", i)
	}
}
