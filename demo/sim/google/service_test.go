package google_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"maps"
	"net/url"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"golang.org/x/oauth2"
	realjwt "golang.org/x/oauth2/jwt"

	"questscheduler/demo/sim/google"
)

const robot = "robot@project.iam.gserviceaccount.test"

var delegated = google.ServiceAccount{
	Email: robot, ClientID: "4711", Domains: []string{"Example.test"}, Scopes: []string{google.ScopeEvents},
}

// serviceKey is a JSON key of a service account.
type serviceKey struct {
	Type       string `json:"type"`
	Email      string `json:"client_email"`
	ClientID   string `json:"client_id"`
	KeyID      string `json:"private_key_id"`
	PrivateKey string `json:"private_key"`
	TokenURL   string `json:"token_uri"`
}

// service makes a service account and gives its key.
func (w *world) service(account google.ServiceAccount) serviceKey {
	w.t.Helper()
	var key serviceKey
	if err := json.Unmarshal(must(w.sim.AddServiceAccount(account))(w.t), &key); err != nil {
		w.t.Fatal(err)
	}
	return key
}

func (k serviceKey) private(t *testing.T) *rsa.PrivateKey {
	t.Helper()
	block, _ := pem.Decode([]byte(k.PrivateKey))
	return must(x509.ParsePKCS8PrivateKey(block.Bytes))(t).(*rsa.PrivateKey)
}

// sign signs claims as a service account does.
func sign(t *testing.T, key any, algorithm jose.SignatureAlgorithm, keyID string, claims map[string]any) string {
	t.Helper()
	signer := must(jose.NewSigner(jose.SigningKey{Algorithm: algorithm, Key: jose.JSONWebKey{Key: key, KeyID: keyID}}, nil))(t)
	return must(jwt.Signed(signer).Claims(claims).Serialize())(t)
}

// assert asks for an access token by a signed request.
func (w *world) assert(assertion string) (*oauth2.Token, error) {
	return (&oauth2.Config{Endpoint: oauth2.Endpoint{TokenURL: w.url + "/token", AuthStyle: oauth2.AuthStyleInParams}}).
		Exchange(w.t.Context(), "", oauth2.SetAuthURLParam("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"),
			oauth2.SetAuthURLParam("assertion", assertion))
}

// claimsOf are those of a good request of gm's events.
func (w *world) claimsOf(subject string) map[string]any {
	now := w.sim.Control().Clock().Now()
	claims := map[string]any{
		"iss": robot, "aud": w.url + "/token", "scope": google.ScopeEvents, "iat": now.Unix(), "exp": now.Add(time.Hour).Unix(),
	}
	if subject != "" {
		claims["sub"] = subject
	}
	return claims
}

func TestServiceAccount_WithDelegation_ActsAsPeople(t *testing.T) {
	t.Parallel()
	w := newWorld(t, google.Options{Sequential: true, ClientID: "client", ClientSecret: "shh"})
	key := w.service(delegated)
	if key.Type != "service_account" || key.Email != robot || key.ClientID != "4711" || key.TokenURL != "https://oauth2.googleapis.com/token" {
		t.Errorf("key %+v", key)
	}
	w.insert("gm", timed("qs00000", 6))
	token := must(w.assert(sign(t, key.private(t), jose.RS256, key.KeyID, w.claimsOf("GM@example.test"))))(t)
	service := w.client(oauth2.StaticTokenSource(token))
	if got := must(service.Events.Get("primary", "qs00000").Do())(t); got.Organizer == nil || got.Organizer.Email != "gm@example.test" {
		t.Errorf("organizer %+v", got.Organizer)
	}
	if _, err := service.Events.Patch("primary", "qs00000", timed("qs00000", 7)).Do(); err != nil {
		t.Error(err)
	}
	_, err := service.CalendarList.List().Do()
	wantError(t, err, 403, "insufficientPermissions")

	t.Log("the token ends after an hour; the person's own revocation does not end it")
	if err := w.sim.Revoke("gm"); err != nil {
		t.Fatal(err)
	}
	if _, err := service.Events.List("primary").Do(); err != nil {
		t.Errorf("after the person's revocation: %v", err)
	}
	w.advance(time.Hour)
	_, err = service.Events.List("primary").Do()
	wantError(t, err, 401, "authError")
}

func TestServiceAccount_Itself_HasNoCalendar(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	key := w.service(google.ServiceAccount{Email: robot})
	token := must(w.assert(sign(t, key.private(t), jose.RS256, key.KeyID, w.claimsOf(""))))(t)
	_, err := w.client(oauth2.StaticTokenSource(token)).Events.List("primary").Do()
	wantError(t, err, 404, "notFound")
	_, err = w.assert(sign(t, key.private(t), jose.RS256, key.KeyID, w.claimsOf("gm@example.test")))
	wantRetrieveError(t, err, 401, "unauthorized_client")
}

// TestServiceAccount_OfTheRealLibrary_IsServed holds the simulator against
// Google's own client, which reads the machine's clock.
func TestServiceAccount_OfTheRealLibrary_IsServed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, google.Options{Sequential: true, Now: time.Now})
	key := w.service(delegated)
	config := realjwt.Config{
		Email: key.Email, PrivateKey: []byte(key.PrivateKey), PrivateKeyID: key.KeyID, Subject: "ana@example.test",
		Scopes: []string{google.ScopeEvents}, TokenURL: w.url + "/token",
	}
	if _, err := w.client(config.TokenSource(t.Context())).Events.List("primary").Do(); err != nil {
		t.Error(err)
	}
	config.Audience = key.TokenURL
	if _, err := config.TokenSource(t.Context()).Token(); err != nil {
		t.Errorf("for Google's address: %v", err)
	}
}

func TestServiceAccount_BadRequest_IsRefusedAsByGoogle(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	key := w.service(delegated)
	good, other := key.private(t), must(rsa.GenerateKey(rand.Reader, 2048))(t)
	now := w.sim.Control().Clock().Now()
	with := func(name string, value any) map[string]any {
		claims := w.claimsOf("gm@example.test")
		claims[name] = value
		if value == nil {
			delete(claims, name)
		}
		return claims
	}
	signed := func(claims map[string]any) string { return sign(t, good, jose.RS256, key.KeyID, claims) }
	const times = "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat " +
		"and exp values in the JWT claim."
	const notGranted = "Client is unauthorized to retrieve access tokens using this method, or client not authorized for any " +
		"of the scopes requested."
	for name, row := range map[string]struct {
		assertion         string
		status            int
		code, description string
	}{
		"none":   {"", 400, "invalid_request", "Missing required parameter: assertion"},
		"no JWT": {"abc", 400, "invalid_grant", "Invalid JWT: the assertion cannot be read."},
		"not RS256": {
			sign(t, []byte("0123456789abcdef0123456789abcdef"), jose.HS256, key.KeyID, w.claimsOf("gm@example.test")), 400,
			"invalid_grant", "Invalid JWT: the assertion cannot be read.",
		},
		"another's key": {
			sign(t, other, jose.RS256, key.KeyID, w.claimsOf("gm@example.test")), 400, "invalid_grant", "Invalid JWT Signature.",
		},
		"a deleted key":    {sign(t, good, jose.RS256, "older", w.claimsOf("gm@example.test")), 400, "invalid_grant", "Invalid JWT Signature."},
		"unknown issuer":   {signed(with("iss", "nobody@example.test")), 400, "invalid_grant", "Invalid grant: account not found"},
		"another audience": {signed(with("aud", "https://elsewhere.test/token")), 400, "invalid_grant", "Invalid JWT: Failed audience check."},
		"over an hour":     {signed(with("exp", now.Add(time.Hour+time.Second).Unix())), 400, "invalid_grant", times},
		"no end":           {signed(with("exp", nil)), 400, "invalid_grant", times},
		"no beginning":     {signed(with("iat", nil)), 400, "invalid_grant", times},
		"from the future":  {signed(with("iat", now.Add(6*time.Minute).Unix())), 400, "invalid_grant", times},
		"ended": {
			signed(withTimes(with("sub", "gm@example.test"), now.Add(-2*time.Hour), now.Add(-time.Hour))), 400, "invalid_grant",
			times,
		},
		"no scope":          {signed(with("scope", " ")), 400, "invalid_scope", "Empty or missing scope not allowed."},
		"scope not granted": {signed(with("scope", google.ScopeEvents+" "+google.ScopeCalendar)), 401, "unauthorized_client", notGranted},
		"another domain":    {signed(with("sub", "gm@elsewhere.test")), 401, "unauthorized_client", notGranted},
		"unknown person":    {signed(with("sub", "nobody@example.test")), 400, "invalid_grant", "Invalid email or User ID"},
	} {
		_, err := w.assert(row.assertion)
		wantRetrieveError(t, err, row.status, row.code)
		if r, ok := errors.AsType[*oauth2.RetrieveError](err); ok && r.ErrorDescription != row.description {
			t.Errorf("%s: %q, want %q", name, r.ErrorDescription, row.description)
		}
	}
	if _, err := w.assert(signed(w.claimsOf("gm@example.test"))); err != nil {
		t.Errorf("a good request: %v", err)
	}
}

func withTimes(claims map[string]any, from, until time.Time) map[string]any {
	claims = maps.Clone(claims)
	claims["iat"], claims["exp"] = from.Unix(), until.Unix()
	return claims
}

func TestRevokeDelegation_EndsTokensAndKeepsTheKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	key := w.service(delegated)
	asGM := func() (*oauth2.Token, error) {
		return w.assert(sign(t, key.private(t), jose.RS256, key.KeyID, w.claimsOf("gm@example.test")))
	}
	before := must(asGM())(t)
	if err := w.sim.RevokeDelegation(robot); err != nil {
		t.Fatal(err)
	}
	_, err := w.client(oauth2.StaticTokenSource(before)).Events.List("primary").Do()
	wantError(t, err, 401, "authError")
	_, err = asGM()
	wantRetrieveError(t, err, 401, "unauthorized_client")
	if _, err := w.assert(sign(t, key.private(t), jose.RS256, key.KeyID, w.claimsOf(""))); err != nil {
		t.Errorf("as itself: %v", err)
	}
	if w.service(delegated) != key {
		t.Error("granted again, the key is another")
	}
	after := must(asGM())(t)
	if _, err := w.client(oauth2.StaticTokenSource(after)).Events.List("primary").Do(); err != nil {
		t.Errorf("granted again: %v", err)
	}
	_, err = w.client(oauth2.StaticTokenSource(before)).Events.List("primary").Do()
	wantError(t, err, 401, "authError")
	if w.sim.RevokeDelegation("nobody@example.test") == nil {
		t.Error("an unknown service account lost its delegation")
	}
}

func TestServiceAccount_AfterAKill_IsTheSame(t *testing.T) {
	t.Parallel()
	opt := google.Options{Sequential: true, Dir: t.TempDir()}
	first := newWorld(t, opt)
	key := first.service(delegated)
	token := must(first.assert(sign(t, key.private(t), jose.RS256, key.KeyID, first.claimsOf("gm@example.test"))))(t)

	second := newWorld(t, opt)
	if _, err := second.client(oauth2.StaticTokenSource(token)).Events.List("primary").Do(); err != nil {
		t.Errorf("a token from before: %v", err)
	}
	if _, err := second.assert(sign(t, key.private(t), jose.RS256, key.KeyID, second.claimsOf("ana@example.test"))); err != nil {
		t.Errorf("a key from before: %v", err)
	}
	if second.service(delegated) != key {
		t.Error("the key is another")
	}
	if err := second.sim.RevokeDelegation(robot); err != nil {
		t.Fatal(err)
	}
	third := newWorld(t, opt)
	_, err := third.assert(sign(t, key.private(t), jose.RS256, key.KeyID, third.claimsOf("ana@example.test")))
	wantRetrieveError(t, err, 401, "unauthorized_client")
	_, err = third.client(oauth2.StaticTokenSource(token)).Events.List("primary").Do()
	wantError(t, err, 401, "authError")
}

func TestServiceAccountControl_MakesAndChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	put := func(body string) (int, serviceKey) {
		status, _, text := w.curl("", "PUT", "/_sim/service-accounts/"+url.PathEscape(robot), body)
		var key serviceKey
		if status == 200 {
			if err := json.Unmarshal([]byte(text), &key); err != nil {
				t.Fatal(err)
			}
		}
		return status, key
	}
	status, key := put(`{"domains":["example.test"],"scopes":["` + google.ScopeEvents + `"]}`)
	if status != 200 || key.Email != robot || key.ClientID == "" {
		t.Fatalf("%d %+v", status, key)
	}
	asGM := func() error {
		_, err := w.assert(sign(t, key.private(t), jose.RS256, key.KeyID, w.claimsOf("gm@example.test")))
		return err
	}
	if err := asGM(); err != nil {
		t.Error(err)
	}
	if status, again := put(`{"domains":["elsewhere.test"],"scopes":["` + google.ScopeEvents + `"]}`); status != 200 || again != key {
		t.Errorf("changed: %d %+v", status, again)
	}
	wantRetrieveError(t, asGM(), 401, "unauthorized_client")
	if status, _, _ := w.curl("", "PUT", "/_sim/service-accounts/gm@example.test", `{}`); status != 400 {
		t.Errorf("a person's address: %d", status)
	}
}
