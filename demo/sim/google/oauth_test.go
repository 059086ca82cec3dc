package google_test

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/oauth2"

	"questscheduler/demo/sim/control"
	"questscheduler/demo/sim/google"
)

// config is an OAuth client of the simulator.
func (w *world) config() *oauth2.Config {
	return &oauth2.Config{ClientID: "client", ClientSecret: "shh",
		Endpoint: oauth2.Endpoint{TokenURL: w.url + "/token", AuthStyle: oauth2.AuthStyleInParams}}
}

// refresh gets a new access token with a refresh token.
func (w *world) refresh(refreshToken string) (*oauth2.Token, error) {
	return w.config().TokenSource(w.t.Context(), &oauth2.Token{RefreshToken: refreshToken}).Token()
}

// wantRetrieveError demands an error answer of the token endpoint.
func wantRetrieveError(t *testing.T, err error, status int, code string) {
	t.Helper()
	var r *oauth2.RetrieveError
	if !errors.As(err, &r) || r.ErrorCode != code || r.Response.StatusCode != status {
		t.Errorf("got %v, want %d %s", err, status, code)
	}
}

// form posts a form and gives status and answer.
func (w *world) form(path string, values url.Values, headers ...string) (int, string) {
	w.t.Helper()
	headers = append(headers, "Content-Type", "application/x-www-form-urlencoded")
	status, _, text := w.curl("", "POST", path, values.Encode(), headers...)
	return status, text
}

func TestToken_AfterAnHourOfTheClock_Expires(t *testing.T) {
	t.Parallel()
	w := newWorld(t, google.Options{Sequential: true, ClientID: "client", ClientSecret: "shh"})
	token := must(w.refresh(w.grants["gm"].RefreshToken))(t)
	if token.ExpiresIn != 3600 || token.TokenType != "Bearer" {
		t.Errorf("token %+v", token)
	}
	if scope, _ := token.Extra("scope").(string); !slices.Contains(strings.Fields(scope), google.ScopeEvents) {
		t.Errorf("scope %q", scope)
	}
	service := w.client(oauth2.StaticTokenSource(token))
	if _, err := service.Events.List("primary").Do(); err != nil {
		t.Error(err)
	}
	w.advance(time.Hour)
	_, err := service.Events.List("primary").Do()
	wantError(t, err, 401, "authError")
	if _, err := w.as("gm").Events.List("primary").Do(); err != nil {
		t.Errorf("the demo's own token: %v", err)
	}
}

func TestToken_Refuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t, google.Options{Sequential: true, ClientID: "client", ClientSecret: "shh"})
	good := url.Values{
		"client_id": {"client"}, "client_secret": {"shh"}, "grant_type": {"refresh_token"},
		"refresh_token": {w.grants["gm"].RefreshToken},
	}
	if status, text := w.form("/token", good); status != 200 {
		t.Fatalf("%d %s", status, text)
	}
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte("client:shh"))
	inHeader := url.Values{"grant_type": good["grant_type"], "refresh_token": good["refresh_token"]}
	if status, text := w.form("/token", inHeader, "Authorization", basic); status != 200 {
		t.Errorf("basic authentication: %d %s", status, text)
	}
	for name, tc := range map[string]struct {
		field, value string
		status       int
		code         string
	}{
		"another client":           {"client_id", "x", 401, "invalid_client"},
		"another secret":           {"client_secret", "x", 401, "invalid_client"},
		"no grant type":            {"grant_type", "", 400, "invalid_request"},
		"another grant type":       {"grant_type", "password", 400, "unsupported_grant_type"},
		"no refresh token":         {"refresh_token", "", 400, "invalid_request"},
		"an unknown refresh token": {"refresh_token", "x", 400, "invalid_grant"},
		"an access token":          {"refresh_token", w.grants["gm"].AccessToken, 400, "invalid_grant"},
	} {
		values := url.Values{}
		for key := range good {
			values.Set(key, good.Get(key))
		}
		values.Set(tc.field, tc.value)
		if status, text := w.form("/token", values); status != tc.status || !strings.Contains(text, `"error":"`+tc.code+`"`) {
			t.Errorf("%s: %d %s", name, status, text)
		}
	}
}

func TestRevoke(t *testing.T) {
	t.Parallel()
	for name, revoke := range map[string]func(*world) (int, string){
		"by the control": func(w *world) (int, string) {
			s, _, b := w.curl("", "POST", "/_sim/revoke", `{"user":"gm"}`)
			return s, b
		},
		"with a refresh token": func(w *world) (int, string) {
			return w.form("/revoke", url.Values{"token": {w.grants["gm"].RefreshToken}})
		},
		"with an access token": func(w *world) (int, string) {
			return w.form("/revoke", url.Values{"token": {w.grants["gm"].AccessToken}})
		},
		"with it in the query": func(w *world) (int, string) {
			return w.form("/revoke?token="+url.QueryEscape(w.grants["gm"].RefreshToken), nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, testOptions())
			token := must(w.refresh(w.grants["gm"].RefreshToken))(t)
			w.watch("gm", "one", "https://app.test/push")
			if status, text := revoke(w); status != 200 {
				t.Fatalf("%d %s", status, text)
			}
			_, err := w.refresh(w.grants["gm"].RefreshToken)
			wantRetrieveError(t, err, 400, "invalid_grant")
			_, err = w.as("gm").Events.List("primary").Do()
			wantError(t, err, 401, "authError")
			_, err = w.client(oauth2.StaticTokenSource(token)).Events.List("primary").Do()
			wantError(t, err, 401, "authError")
			if _, err := w.as("ana").Events.List("primary").Do(); err != nil {
				t.Errorf("another person: %v", err)
			}
			if status, text := w.form(
				"/revoke", url.Values{"token": {w.grants["gm"].RefreshToken}},
			); status != 400 || !strings.Contains(text, "invalid_token") {
				t.Errorf("revoked twice: %d %s", status, text)
			}

			t.Log("the same user gets the dead grant, and a new one by consenting again")
			if again := must(w.sim.AddUser(people[0]))(t); again.RefreshToken != w.grants["gm"].RefreshToken {
				t.Error("AddUser gave another grant")
			}
			w.grants["gm"] = must(w.sim.NewGrant("gm"))(t)
			if _, err := w.as("gm").Events.List("primary").Do(); err != nil {
				t.Errorf("after consenting again: %v", err)
			}
		})
	}
}

func TestRevoke_UnknownUser_IsNamedInTheError(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	if status, _, text := w.curl("", "POST", "/_sim/revoke", `{"user":"zoe"}`); status != 404 || !strings.Contains(text, "ana, ben, gm") {
		t.Errorf("%d %s", status, text)
	}
}

// A demo's own browser keeps its token, while the program loses all of its grants.
func TestRevoke_KeepingAToken_SparesItsGrantAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	other := must(w.sim.NewGrant("gm"))(t)
	revoke := func(keep string, want int) {
		t.Helper()
		if status, _, text := w.curl("", "POST", "/_sim/revoke", `{"user":"gm","keep":"`+keep+`"}`); status != want {
			t.Errorf("revoke all but %q: %d %s", keep, status, text)
		}
	}
	revoke("unknown", 404)
	revoke(w.grants["ana"].AccessToken, 404)
	must(w.refresh(other.RefreshToken))(t) // nothing was revoked so far
	revoke(w.grants["gm"].AccessToken, 200)
	_, err := w.refresh(other.RefreshToken)
	wantRetrieveError(t, err, 400, "invalid_grant")
	if _, err := w.as("gm").Events.List("primary").Do(); err != nil {
		t.Errorf("with the spared grant: %v", err)
	}
}

func TestGrant_WithoutTheScope_RefusesTheCall(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	w.grants["gm"] = must(w.sim.NewGrant("gm", "openid", google.ScopeEventsReadonly))(t)
	if _, err := w.as("gm").Events.List("primary").Do(); err != nil {
		t.Error(err)
	}
	_, err := w.as("gm").Events.Insert("primary", timed("", 6)).Do()
	wantError(t, err, 403, "insufficientPermissions")
	_, err = w.as("gm").CalendarList.List().Do()
	wantError(t, err, 403, "insufficientPermissions")
}

func TestAddUser_SameKeyOtherData_IsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	for name, u := range map[string]google.User{
		"another e-mail":         {Key: "gm", Sub: "1001", Email: "other@example.test", TimeZone: "Europe/Zurich"},
		"an e-mail that's taken": {Key: "new", Sub: "9", Email: "GM@example.test"},
		"an unknown zone":        {Key: "new", Sub: "9", Email: "new@example.test", TimeZone: "Mars/Base"},
		"no e-mail":              {Key: "new", Sub: "9"},
	} {
		if _, err := w.sim.AddUser(u); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}

func TestFaults_Status_HasGooglesErrorBody(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	for _, tc := range []struct {
		status        int
		reason, wants string
	}{
		{503, "", "backendError"}, {429, "", "rateLimitExceeded"}, {403, "", "rateLimitExceeded"},
		{403, "quotaExceeded", "quotaExceeded"}, {404, "", "notFound"}, {410, "", "fullSyncRequired"}, {401, "", "authError"},
	} {
		w.plant(control.Rule{Match: "events.list", Status: tc.status, Reason: tc.reason, Times: 1})
		_, err := w.as("gm").Events.List("primary").Do()
		wantError(t, err, tc.status, tc.wants)
	}
	w.plant(control.Rule{Match: "oauth.token", Status: 400, Times: 1})
	_, err := w.refresh(w.grants["gm"].RefreshToken)
	wantRetrieveError(t, err, 400, "invalid_grant")
	w.plant(control.Rule{Match: "oauth.token", Status: 500, Times: 1})
	_, err = w.refresh(w.grants["gm"].RefreshToken)
	wantRetrieveError(t, err, 500, "internal_failure")
	if _, err := w.as("gm").Events.List("primary").Do(); err != nil {
		t.Errorf("after the faults: %v", err)
	}
	calls := w.sim.Control().Calls()
	if calls["events.list"] != 8 || calls["oauth.token"] != 2 {
		t.Errorf("calls %v", calls)
	}
}

func TestFaults_LostAnswer_LeavesExactlyOneEvent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	w.plant(control.Rule{Match: "events.insert", LostAnswer: true, Times: 1})
	if _, err := w.as("gm").Events.Insert("primary", timed("qs0lost", 6)).Do(); err == nil {
		t.Fatal("answered")
	}
	_, err := w.as("gm").Events.Insert("primary", timed("qs0lost", 6)).Do()
	wantError(t, err, 409, "duplicate")
	if items, _ := w.list("gm", nil); states(items) != "qs0lost confirmed" {
		t.Errorf("events: %s", states(items))
	}
	if got := w.sim.Control().Calls()["events.insert"]; got != 2 {
		t.Errorf("%d inserts counted", got)
	}
}

func TestFaults_DelayBeyondTheCaller_HasNoEffect(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	client := &http.Client{Transport: control.Transport(w.sim.Handler())}
	w.plant(control.Rule{Match: "events.insert", DelayMS: 60_000, Times: 1})
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://sim/calendar/v3/calendars/primary/events",
		strings.NewReader(`{"start":{"date":"2026-03-06"},"end":{"date":"2026-03-07"}}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+w.grants["gm"].AccessToken)
	if _, err := client.Do(req); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if items, _ := w.list("gm", nil); len(items) != 0 {
		t.Errorf("events: %s", states(items))
	}
}
