package accounts_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"questscheduler/demo/sim/control"
	"questscheduler/fault"
	"questscheduler/internal/accounts"
)

// wantCalls checks how often Google was asked for an access token and for a
// listing since the start.
func (w *world) wantCalls(t *testing.T, when string, tokens, lists int) {
	t.Helper()
	if gotTokens, gotLists := w.counts(); gotTokens != tokens || gotLists != lists {
		t.Errorf("%s: %d tokens and %d listings asked for, want %d and %d", when, gotTokens, gotLists, tokens, lists)
	}
}

func (w *world) wantOK(t *testing.T, id string) {
	t.Helper()
	if status, err := w.call(t.Context(), id); status != http.StatusOK || err != nil {
		t.Errorf("call: %d, %v", status, err)
	}
}

func (w *world) plant(t *testing.T, rule control.Rule) {
	t.Helper()
	if err := w.google.Control().Plant(rule); err != nil {
		t.Fatal(err)
	}
}

func TestClient_AsksForAnAccessTokenOnceInItsTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.link(t, "gm", "gm").ID
	for range 3 {
		w.wantOK(t, id)
	}
	w.wantCalls(t, "at first", 1, 3)
	w.advance(58 * time.Minute)
	w.wantOK(t, id)
	w.wantCalls(t, "two minutes before its end", 1, 4)
	w.advance(time.Minute + time.Second)
	w.wantOK(t, id)
	w.wantCalls(t, "a minute before its end", 2, 5)
}

func TestClient_EachAccountHasItsOwnToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first, second := w.link(t, "gm", "first").ID, w.link(t, "gm", "second").ID
	for _, id := range []string{first, second, first, second} {
		w.wantOK(t, id)
	}
	w.wantCalls(t, "for two accounts", 2, 4)
}

func TestClient_ManyAtOnceAskOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.link(t, "gm", "gm").ID
	w.plant(t, control.Rule{Match: "oauth.token", DelayMS: 50})
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() { w.wantOK(t, id) })
	}
	group.Wait()
	w.wantCalls(t, "for twenty at once", 1, 20)
}

func TestClient_On401_RetriesOnceWithANewToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.link(t, "gm", "gm").ID
	w.plant(t, control.Rule{Match: "events.list", Status: 401, Times: 1})
	w.wantOK(t, id)
	w.wantCalls(t, "after one refusal", 2, 2)

	w.plant(t, control.Rule{Match: "events.list", Status: 401, Times: 2})
	if status, err := w.call(t.Context(), id); status != http.StatusUnauthorized || err != nil {
		t.Errorf("after two refusals: %d, %v", status, err)
	}
	w.wantCalls(t, "after two refusals", 3, 4)
	if got := w.get(t, id); got.Status != accounts.Active {
		t.Errorf("the account is %s; only who reads the answer can tell why it was refused", got.Status)
	}
}

func TestClient_ARequestWithABodyIsSentAgainWhole(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.link(t, "gm", "gm").ID
	w.plant(t, control.Rule{Match: "events.insert", Status: 401, Times: 1})
	client, err := w.grants.Client(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	body := `{"id":"abcde1","start":{"date":"2026-03-01"},"end":{"date":"2026-03-02"}}`
	response, err := client.Post(w.url+"/calendar/v3/calendars/primary/events", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil || response.StatusCode != http.StatusOK {
		t.Errorf("got %d, %v", response.StatusCode, err)
	}
}

func TestClient_AClientThatIsKeptRenewsItsToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.link(t, "gm", "gm").ID
	client, err := w.grants.Client(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	w.advance(2 * time.Hour)
	if status, err := w.send(t.Context(), client); status != http.StatusOK || err != nil {
		t.Errorf("after two hours: %d, %v", status, err)
	}
	w.wantCalls(t, "after two hours", 2, 1)
}

func TestClient_FollowsNoRedirectWithItsToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.link(t, "gm", "gm").ID
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the redirect was followed with %q", r.Header.Get("Authorization"))
	}))
	t.Cleanup(elsewhere.Close)
	here := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusFound))
	t.Cleanup(here.Close)
	client, err := w.grants.Client(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Get(here.URL)
	if err != nil {
		t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil || response.StatusCode != http.StatusFound {
		t.Errorf("got %d, %v", response.StatusCode, err)
	}
}

func TestClient_WhatIsNotLinkedMakesNoCall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.link(t, "gm", "gm").ID
	w.unlink(t, "gm", id)
	_, err := w.grants.Client(t.Context(), id)
	wantKind(t, err, fault.Revoked, accounts.CodeNotLinked)
	_, err = w.grants.Client(t.Context(), "acc_none")
	wantKind(t, err, fault.NotFound, accounts.CodeNotLinked)
	w.wantCalls(t, "for accounts that are not linked", 0, 0)
}

func TestClient_FailuresOfTheTokenEndpointRevokeNothing(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		rule control.Rule
		kind fault.Kind
		code string
	}{
		{control.Rule{Status: 503}, fault.Unavailable, ""},
		{control.Rule{Status: 400, Reason: "invalid_request"}, fault.Provider, ""},
		{control.Rule{Status: 400, Reason: "temporarily_unavailable"}, fault.Unavailable, ""},
		{control.Rule{Status: 401, Reason: "invalid_client"}, fault.Provider, accounts.CodeClientRefused},
		{control.Rule{Status: 400, Reason: "unauthorized_client"}, fault.Provider, accounts.CodeClientRefused},
		{control.Rule{Status: 500, Reason: "internal_failure"}, fault.Unavailable, ""},
		{control.Rule{Status: 429, Reason: "slow_down"}, fault.RateLimited, ""},
		{control.Rule{Status: 403, Reason: "rate_limit_exceeded"}, fault.RateLimited, ""},
		{control.Rule{Status: 429}, fault.RateLimited, ""},
		{control.Rule{LostAnswer: true}, fault.Unavailable, ""},
	} {
		w := newWorld(t)
		id := w.link(t, "gm", "gm").ID
		tc.rule.Match, tc.rule.Times = "oauth.token", 1
		w.plant(t, tc.rule)
		_, err := w.call(t.Context(), id)
		wantKind(t, err, tc.kind, tc.code)
		w.wantOK(t, id)
	}
}

func TestClient_RefusedGrant_IsRevoked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.link(t, "gm", "gm").ID
	w.plant(t, control.Rule{Match: "oauth.token", Times: 1, Status: 400, Reason: "invalid_grant"})
	_, err := w.call(t.Context(), id)
	wantKind(t, err, fault.Revoked, accounts.CodeTokenExpired)
	if account := w.get(t, id); account.Status != accounts.Revoked {
		t.Errorf("the account is %s", account.Status)
	}
}

// A server that is started with the id of another client, such as staging's, would else end every
// account, and the right id would bring none back.
func TestClient_TokenOfAnotherClient_RevokesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := []string{w.link(t, "gm", "gm").ID, w.link(t, "ana", "ana").ID}
	w.plant(t, control.Rule{Match: "oauth.token", Times: 2, Status: 401, Reason: "unauthorized_client"})
	for _, id := range ids {
		_, err := w.call(t.Context(), id)
		wantKind(t, err, fault.Provider, accounts.CodeClientRefused)
		if !strings.Contains(err.Error(), "linked again") {
			t.Errorf("the log does not say what to do if the client is the right one: %v", err)
		}
	}
	for _, id := range ids { // the setting is corrected
		w.wantOK(t, id)
	}
}

func TestClient_AHungTokenEndpointIsGivenUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.link(t, "gm", "gm").ID
	hung := roundTripper(func(r *http.Request) (*http.Response, error) {
		if err := r.Body.Close(); err != nil {
			return nil, err
		}
		deadline, ok := r.Context().Deadline()
		if !ok || time.Until(deadline) > 10*time.Second {
			t.Errorf("the refresh may take until %v", deadline)
		}
		return nil, context.DeadlineExceeded
	})
	w.grants = w.newGrants(w.accounts, hung)
	_, err := w.call(t.Context(), id)
	wantKind(t, err, fault.Unavailable, "")
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
