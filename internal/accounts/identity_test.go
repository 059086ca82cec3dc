package accounts_test

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"questscheduler/demo/sim/control"
	"questscheduler/fault"
	"questscheduler/internal/accounts"
)

var identityKey = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) })

// signed is an id_token that says so.
func signed(t *testing.T, says map[string]any) string {
	t.Helper()
	key, err := identityKey()
	if err != nil {
		t.Fatal(err)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: key}, nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := jwt.Signed(signer).Claims(says).Serialize()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// tokens is a token endpoint that answers with an id_token, and remembers what
// it was asked.
func tokens(t *testing.T, identity string, more map[string]any) (transport http.RoundTripper, asked *url.Values) {
	t.Helper()
	asked = &url.Values{}
	body := map[string]any{
		"access_token": "ya29.planted", "token_type": "Bearer", "expires_in": 3600, "refresh_token": "1//planted",
		"scope": strings.Join(scopes, " "), "id_token": identity,
	}
	maps.Copy(body, more)
	return control.Transport(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := r.ParseForm(); err != nil {
			t.Error(err)
		}
		*asked = r.PostForm
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(body); err != nil {
			t.Error(err)
		}
	})), asked
}

func (w *world) linking(transport http.RoundTripper) *accounts.Linking {
	return accounts.NewLinking(accounts.LinkingOptions{
		Accounts: w.accounts, ClientID: "client", ClientSecret: "client-secret", TokenURL: "http://google.test/token",
		CallbackURL: "https://quests.example/callback", Home: "https://app.example/settings", Transport: transport,
		NewVerifier: func() string { return strings.Repeat("v", 43) },
	})
}

// consent begins a consent for gm, and gives what comes back with a code.
func consent(t *testing.T, linking *accounts.Linking) (state string, nonce string) {
	t.Helper()
	address, err := linking.Start(t.Context(), accounts.Ask{PersonID: "gm"}, "")
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(address, accounts.GoogleAuthURL+"?") {
		t.Errorf("it goes to %s", address)
	}
	return parsed.Query().Get("state"), parsed.Query().Get("nonce")
}

func TestLinking_AcceptsIdentitiesOfThisConsentOnly(t *testing.T) {
	t.Parallel()
	good := func(nonce string) map[string]any {
		return map[string]any{
			"iss": "https://accounts.google.com", "aud": "client", "sub": "sub-1", "email": "GM@example.test", "nonce": nonce,
			"exp": noon.Add(time.Hour).Unix(), "iat": noon.Unix(),
		}
	}
	for name, row := range map[string]struct {
		change map[string]any
		linked bool
	}{
		"as it should be":       {nil, true},
		"the issuer's old name": {map[string]any{"iss": "accounts.google.com"}, true},
		"another issuer":        {map[string]any{"iss": "https://accounts.evil.example"}, false},
		"another client":        {map[string]any{"aud": "somebody-elses-client"}, false},
		"no audience":           {map[string]any{"aud": nil}, false},
		"it has ended":          {map[string]any{"exp": noon.Add(-2 * time.Minute).Unix()}, false},
		"another consent":       {map[string]any{"nonce": "another"}, false},
		"no nonce":              {map[string]any{"nonce": nil}, false},
		"nobody":                {map[string]any{"sub": ""}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			// The state is begun with one client and ended with another, over
			// the same store, as by two instances.
			state, nonce := consent(t, w.linking(nil))
			says := good(nonce)
			for claim, value := range row.change {
				says[claim] = value
				if value == nil {
					delete(says, claim)
				}
			}
			transport, asked := tokens(t, signed(t, says), nil)
			_, account, err := w.linking(transport).Finish(t.Context(), accounts.Back{State: state, Code: "4/code", PersonID: "gm"})
			if row.linked != (err == nil) || row.linked && (account.Sub != "sub-1" || account.Email != "gm@example.test") {
				t.Errorf("%+v, %v", account, err)
			}
			if !row.linked {
				wantKind(t, err, fault.Provider, accounts.CodeExchangeFailed)
			}
			if strings.Contains(fmt.Sprint(err), "planted") {
				t.Errorf("the error holds a token: %v", err)
			}
			for field, want := range map[string]string{
				"code": "4/code", "code_verifier": strings.Repeat("v", 43), "redirect_uri": "https://quests.example/callback",
				"client_id": "client", "client_secret": "client-secret", "grant_type": "authorization_code",
			} {
				if asked.Get(field) != want {
					t.Errorf("the exchange says %s=%q, want %q", field, asked.Get(field), want)
				}
			}
		})
	}
}

func TestLinking_WhatIsNoIdentityLinksNothing(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		identity string
		more     map[string]any
		code     string
	}{
		"none":                   {"", nil, accounts.CodeExchangeFailed},
		"rubbish":                {"rubbish", nil, accounts.CodeExchangeFailed},
		"unsigned":               {"eyJhbGciOiJub25lIn0.eyJzdWIiOiJzdWItMSJ9.", nil, accounts.CodeExchangeFailed},
		"openid was not granted": {"", map[string]any{"scope": accounts.ScopeEvents}, accounts.CodeScopesInsufficient},
	} {
		w := newWorld(t)
		state, _ := consent(t, w.linking(nil))
		transport, _ := tokens(t, row.identity, row.more)
		_, _, err := w.linking(transport).Finish(t.Context(), accounts.Back{State: state, Code: "4/code", PersonID: "gm"})
		if fault.CodeOf(err) != row.code {
			t.Errorf("%s: %v", name, err)
		}
		if all, err := w.accounts.List(t.Context(), "gm"); len(all) != 0 || err != nil {
			t.Errorf("%s: linked %v, %v", name, all, err)
		}
	}
}

func TestLinking_AStateIsOneOfOursAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	linking := w.linking(answering(http.StatusInternalServerError, ""))
	state, _ := consent(t, linking)
	ticket, _, err := linking.Ticket(t.Context(), accounts.Ask{PersonID: "gm"})
	if err != nil {
		t.Fatal(err)
	}
	for name, state := range map[string]string{
		"none": "", "a ticket": ticket, "cut short": state[:len(state)-4], "of the web app's own": "8c1f6b2e4a",
	} {
		if _, _, err := linking.Finish(
			t.Context(), accounts.Back{State: state, Code: "4/code", PersonID: "gm"},
		); fault.CodeOf(err) != accounts.CodeStateMismatch {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := linking.Asked(state); fault.CodeOf(err) != accounts.CodeStateMismatch {
		t.Errorf("a state as a ticket: %v", err)
	}
	// Google being down uses it up as well: a code is good once.
	_, _, err = linking.Finish(t.Context(), accounts.Back{State: state, Code: "4/code", PersonID: "gm"})
	wantKind(t, err, fault.Unavailable, accounts.CodeExchangeFailed)
	_, _, err = linking.Finish(t.Context(), accounts.Back{State: state, Code: "4/code", PersonID: "gm"})
	wantKind(t, err, fault.Invalid, accounts.CodeStateMismatch)
}
