package google_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"golang.org/x/oauth2"

	"questscheduler/demo/sim/google"
)

// identity are the claims of an id_token whose signature, audience and times
// are good.
func (w *world) identity(token *oauth2.Token, audience string) map[string]any {
	w.t.Helper()
	text, _ := token.Extra("id_token").(string)
	parsed := must(jwt.ParseSigned(text, []jose.SignatureAlgorithm{jose.RS256}))(w.t)
	status, _, answer := w.curl("", "GET", "/oauth2/v3/certs", "")
	var keys jose.JSONWebKeySet
	if err := json.Unmarshal([]byte(answer), &keys); err != nil || status != 200 {
		w.t.Fatalf("certs: %d %s", status, answer)
	}
	var registered jwt.Claims
	said := map[string]any{}
	if err := parsed.Claims(keys, &registered, &said); err != nil {
		w.t.Fatalf("id_token: %v", err)
	}
	now := w.sim.Control().Clock().Now()
	if err := registered.ValidateWithLeeway(
		jwt.Expected{AnyAudience: jwt.Audience{audience}, Issuer: google.Issuer, Time: now}, 0,
	); err != nil {
		w.t.Errorf("id_token: %v", err)
	}
	if said["aud"] != audience {
		w.t.Errorf("aud %v: Google writes one text, not a list", said["aud"])
	}
	return said
}

func TestIdentity_ByScopes_HasTheGrantedFieldsOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	config := w.linking("client")
	config.Scopes = []string{"openid", google.ScopeEvents}
	said := w.identity(w.consented(config, google.Consent{User: "ben"}, oauth2.SetAuthURLParam("nonce", "n-1")), "client")
	if said["sub"] != "1003" || said["nonce"] != "n-1" || said["email"] != nil {
		t.Errorf("id_token says %v", said)
	}
	config.Scopes = []string{google.ScopeEvents}
	if token := w.consented(config, google.Consent{User: "ben"}, oauth2.ApprovalForce); token.Extra("id_token") != nil {
		t.Error("an id_token without openid")
	}
}

func TestGrant_AfterItsLife_Expires(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		opt   google.Options
		after time.Duration
		used  time.Duration // once in between; 0: never
		dead  bool
	}{
		"after a quarter":                  {google.Options{}, 90 * 24 * time.Hour, 0, false},
		"after six idle months":            {google.Options{}, 183 * 24 * time.Hour, 0, true},
		"used once in between":             {google.Options{}, 183 * 24 * time.Hour, 100 * 24 * time.Hour, false},
		"in testing, after seven days":     {google.Options{Testing: true}, 7 * 24 * time.Hour, time.Hour, true},
		"in testing, before seven days":    {google.Options{Testing: true}, 7*24*time.Hour - time.Second, 0, false},
		"by hand too, in testing or idle":  {google.Options{Testing: true}, 8 * 24 * time.Hour, 0, true},
		"in production, after seven days ": {google.Options{}, 7 * 24 * time.Hour, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.opt.Sequential = true
			w := newWorld(t, tc.opt)
			consented := w.consented(w.linking("client"), google.Consent{User: "ana"}).RefreshToken
			tokens := []string{consented, w.grants["gm"].RefreshToken}
			if tc.used > 0 {
				w.advance(tc.used)
				for _, token := range tokens {
					must(w.refresh(token))(t)
				}
			}
			w.advance(tc.after - tc.used)
			for _, token := range tokens {
				_, err := w.refresh(token)
				if tc.dead {
					wantRetrieveError(t, err, 400, "invalid_grant")
				} else if err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestGrant_HundredAndFirst_EndsTheOldest(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	config := w.linking("client")
	var tokens []string
	for range 101 {
		tokens = append(tokens, w.consented(config, google.Consent{User: "ana"}, oauth2.ApprovalForce).RefreshToken)
	}
	_, err := w.refresh(tokens[0])
	wantRetrieveError(t, err, 400, "invalid_grant")
	for _, i := range []int{1, 100} {
		if _, err := w.refresh(tokens[i]); err != nil {
			t.Errorf("token %d: %v", i, err)
		}
	}
}
