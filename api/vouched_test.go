package api_test

import (
	"strings"
	"testing"

	"questscheduler/internal/signin"
	"questscheduler/internal/test/docs"
	"questscheduler/internal/test/tokentest"
)

// TestCreate_BySignIn_AsTheRulesHaveIt holds the creation of polls and groups to
// the condition of firestore.rules (vouchedFor): a verified address, or a sign-in
// by Google or by a custom token. All else that a person may do stays open.
func TestCreate_BySignIn_AsTheRulesHaveIt(t *testing.T) {
	t.Parallel()
	if !strings.Contains(
		docs.Read(t, "firestore.rules"),
		"return addressChecked()\n        || request.auth.token.firebase.sign_in_provider in ['google.com', 'custom'];",
	) {
		t.Error("firestore.rules have another condition than the rows below: bring signin.Person.VouchedFor in line with it")
	}
	const project = "demo-party"
	w := newWorld(t, func(s *setup) {
		unsigned, err := signin.NewUnsigned(project, false, s.Now)
		must(t, err)
		s.SignIn = unsigned
	})
	by := func(provider string, claims tokentest.Claims) tokentest.Claims {
		signedIn := tokentest.Claims{"firebase": map[string]any{"sign_in_provider": provider}}
		return tokentest.Person(project, "ana", begin).With(signedIn).With(claims)
	}
	for _, row := range []struct {
		name   string
		claims tokentest.Claims
		may    bool
	}{
		{"verified by e-mail", by("password", nil), true},
		{"by Google", by("google.com", tokentest.Claims{"email_verified": false}), true},
		{"by a custom token", by("custom", tokentest.Claims{"email": nil, "email_verified": nil}), true},
		{"unverified", by("password", tokentest.Claims{"email_verified": false}), false},
		{"unverified by another site", by("github.com", tokentest.Claims{"email_verified": nil}), false},
		{"anonymous", by("anonymous", tokentest.Claims{"email": nil, "email_verified": nil}), false},
		{"by nothing known", by("", tokentest.Claims{"firebase": nil, "email_verified": false}), false},
	} {
		t.Run(row.name, func(t *testing.T) {
			w.tokens["ana"] = tokentest.Unsigned(t, map[string]any{"alg": "none", "typ": "JWT"}, row.claims)
			group := call{as: "ana", method: "POST", path: "/v1/groups", body: map[string]any{"name": "Party"}}
			made := createCall(session)
			made.as = "ana"
			before := w.store.writes.Load()
			for _, c := range []call{made, group} {
				got := w.do(c)
				switch {
				case row.may && got.status != 201:
					t.Errorf("%s is answered %d: %s", c.path, got.status, got.text)
				case !row.may && (got.status != 403 || got.Error.Detail.Reason != "sign_in_unverified"):
					t.Errorf("%s is answered %d: %s", c.path, got.status, got.text)
				}
			}
			if wrote := w.store.writes.Load() != before; wrote != row.may {
				t.Errorf("something was written: %v", wrote)
			}
			w.want(200, call{as: "ana", method: "GET", path: "/v1/polls"}, nil)
		})
	}
}
