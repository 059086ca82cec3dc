package demo

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"questscheduler/demo/sim/control"
	"questscheduler/demo/sim/discord"
)

// startSimulators starts both for a page of an origin where nothing answers. Its game master is
// a colleague.
func startSimulators(t *testing.T) Ready {
	t.Helper()
	const origin = "http://127.0.0.1:8080"
	world := &World{}
	sims, err := OpenSimulators(t.TempDir(), origin, control.NewClock(nil), world)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sims.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	err = errors.Join(
		sims.Discord.AddGuild(GuildID, "The Party"), sims.Discord.AddChannel(discord.Channel{ID: ChannelID, GuildID: GuildID}), sims.Start(),
	)
	if err != nil {
		t.Fatal(err)
	}
	world.Users, world.DiscordChannel = map[string]User{"gm": {Account: world.Attendees.People["dora"].Account}}, ChannelID
	return Ready{API: origin, Google: sims.GoogleURL(), Discord: sims.DiscordURL(), Party: world.Party}
}

// fromOrigin makes a call as a browser makes it for a script of an origin; "": as a program does.
func fromOrigin(t *testing.T, method, address, origin string, headers ...string) *http.Response {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	if origin != "" {
		request.Header.Set("Origin", origin)
	}
	for pair := range slices.Chunk(headers, 2) {
		request.Header.Set(pair[0], pair[1])
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	return response
}

// preflight asks whether a script of an origin may make a call.
func preflight(t *testing.T, address, origin, method string) *http.Response {
	t.Helper()
	return fromOrigin(t, http.MethodOptions, address, origin,
		"Access-Control-Request-Method", method, "Access-Control-Request-Headers", "authorization,content-type,if-match")
}

// simulated are calls of both simulators that a page makes, with who may make them.
func simulated(ready Ready) map[string]string {
	gm := ready.Users["gm"]
	return map[string]string{
		ready.Google + "/calendar/v3/calendars/" + gm.CalendarID + "/events":         "Bearer " + gm.GoogleToken,
		ready.Discord + "/api/v9/channels/" + ready.DiscordChannel + "/messages":     "Bot " + ready.DiscordToken,
		ready.Google + "/_sim/calls":                                                 "",
		ready.Google + "/calendar/v3/calendars/" + gm.CalendarID + "/events/missing": "Bearer " + gm.GoogleToken,
	}
}

func TestSimulators_ScriptOfItsPage_CallsTheSimulators(t *testing.T) {
	t.Parallel()
	ready := startSimulators(t)
	for address, bearer := range simulated(ready) {
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
			got := preflight(t, address, ready.API, method)
			if got.StatusCode != http.StatusNoContent || got.Header.Get("Access-Control-Allow-Origin") != ready.API ||
				!slices.Contains(strings.Split(got.Header.Get("Access-Control-Allow-Methods"), ","), method) {
				t.Errorf("%s %s is not allowed: %d %v", method, address, got.StatusCode, got.Header)
			}
			for _, header := range []string{"Authorization", "Content-Type", "If-Match"} {
				if !slices.Contains(strings.Split(got.Header.Get("Access-Control-Allow-Headers"), ","), header) {
					t.Errorf("%s is not allowed: %v", header, got.Header)
				}
			}
		}
		got := fromOrigin(t, http.MethodGet, address, ready.API, "Authorization", bearer)
		if got.Header.Get("Access-Control-Allow-Origin") != ready.API || got.Header.Get("Access-Control-Expose-Headers") != "ETag" {
			t.Errorf("%s: the answer %d cannot be read: %v", address, got.StatusCode, got.Header)
		}
	}
}

// Another origin is any other, on this machine too: what another port serves is not
// the demo.
func TestSimulators_ScriptOfAnotherOrigin_ReadsNothing(t *testing.T) {
	t.Parallel()
	ready := startSimulators(t)
	_, port, _ := strings.Cut(strings.TrimPrefix(ready.API, "http://"), ":")
	for address, bearer := range simulated(ready) {
		for _, origin := range []string{
			"https://evil.example", "null", "http://localhost:" + port, "http://127.0.0.1", "https://127.0.0.1:" + port,
			ready.API + "0", ready.API + "/", ready.Google, ready.Discord, "http://127.0.0.1:" + port + ".evil.example",
		} {
			for _, got := range []*http.Response{
				preflight(t, address, origin, http.MethodPatch),
				fromOrigin(t, http.MethodGet, address, origin, "Authorization", bearer),
			} {
				for name, values := range got.Header {
					if strings.HasPrefix(name, "Access-Control-") {
						t.Errorf("%s for %s: %s: %v", address, origin, name, values)
					}
				}
			}
		}
	}
}

// A browser sends a simple POST without a preflight, and an image's GET without an
// origin: neither may control a simulator. The demo's page and programs may.
func TestSimulators_ScriptOfAnotherOrigin_ControlsNothing(t *testing.T) {
	t.Parallel()
	ready := startSimulators(t)
	for name, simulator := range map[string]string{"google": ready.Google, "discord": ready.Discord} {
		for _, path := range []string{"/_sim/faults", "/_sim/calls", "/%5Fsim/faults", "/_sim/clock"} {
			for _, origin := range []string{
				"https://evil.example", "null", "http://127.0.0.1", ready.API + "0", ready.API + "/",
				"https" + strings.TrimPrefix(ready.API, "http"),
			} {
				for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete} {
					if got := fromOrigin(t, method, simulator+path, origin, "Content-Type", "text/plain"); got.StatusCode != http.StatusForbidden {
						t.Errorf("%s: %s %s from %s is answered %d", name, method, path, origin, got.StatusCode)
					}
				}
			}
		}
		for _, site := range []string{"cross-site", "same-site"} {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, simulator+"/_sim/faults", nil)
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Sec-Fetch-Site", site)
			response, err := http.DefaultTransport.RoundTrip(request)
			if err != nil {
				t.Fatal(err)
			}
			response.Body.Close()
			if response.StatusCode != http.StatusForbidden {
				t.Errorf("%s: a %s request is answered %d", name, site, response.StatusCode)
			}
		}
		for _, own := range []string{ready.API, simulator} {
			if got := fromOrigin(t, http.MethodDelete, simulator+"/_sim/faults", own, "Sec-Fetch-Site",
				"same-site"); got.StatusCode != http.StatusOK {
				t.Errorf("%s: %s is answered %d", name, own, got.StatusCode)
			}
		}
		if got := fromOrigin(t, http.MethodGet, simulator+"/_sim/calls", ""); got.StatusCode != http.StatusOK {
			t.Errorf("%s: a program is answered %d", name, got.StatusCode)
		}
	}
}

// A page whose foreign name resolves to this machine is refused, whatever origin it claims.
func TestSimulators_ForeignHostOfPagesOrigin_IsRefused(t *testing.T) {
	t.Parallel()
	ready := startSimulators(t)
	for _, method := range []string{http.MethodGet, http.MethodOptions} {
		request, err := http.NewRequestWithContext(t.Context(), method, ready.Google+"/_sim/calls", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Host = "evil.example"
		request.Header.Set("Origin", ready.API)
		response, err := http.DefaultTransport.RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != http.StatusForbidden || response.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s is answered %d: %v", method, response.StatusCode, response.Header)
		}
	}
}
