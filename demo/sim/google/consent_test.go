package google_test

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/oauth2"

	"questscheduler/demo/sim/google"
)

const callback = "https://app.test/oauth/google/callback"

// linking is an OAuth client that asks for what ours asks for.
func (w *world) linking(clientID string) *oauth2.Config {
	return &oauth2.Config{
		ClientID: clientID, ClientSecret: "shh", RedirectURL: callback,
		Endpoint: oauth2.Endpoint{AuthURL: w.url + "/o/oauth2/v2/auth", TokenURL: w.url + "/token", AuthStyle: oauth2.AuthStyleInParams},
		Scopes:   []string{"openid", "email", google.ScopeEvents, google.ScopeCalendarListReadonly},
	}
}

// outcome is what the browser brings back from the consent page.
func (w *world) outcome(authURL string, c google.Consent) url.Values {
	w.t.Helper()
	back := must(w.sim.Consent(w.t.Context(), authURL, c))(w.t)
	u := must(url.Parse(back))(w.t)
	if !strings.HasPrefix(back, callback+"?") || u.Query().Get("state") != "state-1" {
		w.t.Fatalf("sent to %s", back)
	}
	return u.Query()
}

// consented goes the whole way: page, code, tokens.
func (w *world) consented(config *oauth2.Config, c google.Consent, options ...oauth2.AuthCodeOption) *oauth2.Token {
	w.t.Helper()
	verifier := oauth2.GenerateVerifier()
	options = append(options, oauth2.AccessTypeOffline, oauth2.S256ChallengeOption(verifier))
	outcome := w.outcome(config.AuthCodeURL("state-1", options...), c)
	return must(config.Exchange(w.t.Context(), outcome.Get("code"), oauth2.VerifierOption(verifier)))(w.t)
}

func TestConsent_Given_ReturnsTokensAndIdentity(t *testing.T) {
	t.Parallel()
	w := newWorld(t, google.Options{Sequential: true, ClientID: "client", ClientSecret: "shh", RedirectURIs: []string{callback}})
	token := w.consented(w.linking("client"), google.Consent{User: "ana"}, oauth2.ApprovalForce)
	if token.RefreshToken == "" || token.ExpiresIn != 3600 {
		t.Errorf("token: refresh %q, expires in %d", token.RefreshToken, token.ExpiresIn)
	}
	scope, _ := token.Extra("scope").(string)
	if got := strings.Fields(scope); !slices.Contains(got, google.ScopeEvents) || !slices.Contains(got, google.ScopeEmail) ||
		slices.Contains(got, "email") {
		t.Errorf("scope %q: email is answered in its long spelling", scope)
	}
	said := w.identity(token, "client")
	if said["sub"] != "1002" || said["email"] != "ana@example.test" || said["email_verified"] != true || said["iss"] != google.Issuer {
		t.Errorf("id_token says %v", said)
	}
	service := w.client(oauth2.StaticTokenSource(token))
	if _, err := service.Events.List("ana@example.test").Do(); err != nil {
		t.Error(err)
	}
	if _, err := w.refresh(token.RefreshToken); err != nil {
		t.Errorf("refresh: %v", err)
	}
	status, _, text := w.curl("", "GET", "/v1/userinfo", "", "Authorization", "Bearer "+token.AccessToken)
	if status != 200 || !strings.Contains(text, `"sub":"1002"`) {
		t.Errorf("userinfo: %d %s", status, text)
	}
}

func TestConsent_FewerScopes_GrantLessOrNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	token := w.consented(w.linking("client"), google.Consent{User: "ana@example.test", Scopes: []string{google.ScopeCalendarListReadonly}})
	if got, want := token.Extra("scope"),
		strings.Join([]string{"openid", google.ScopeEmail, google.ScopeCalendarListReadonly}, " "); got != want {
		t.Errorf("scope %v, want %v", got, want)
	}
	service := w.client(oauth2.StaticTokenSource(token))
	_, err := service.Events.List("primary").Do()
	wantError(t, err, 403, "insufficientPermissions")
	if _, err := service.CalendarList.List().Do(); err != nil {
		t.Error(err)
	}
	outcome := w.outcome(w.linking("client").AuthCodeURL("state-1"), google.Consent{User: "1002", Deny: true})
	if outcome.Get("error") != "access_denied" || outcome.Has("code") {
		t.Errorf("denied: %v", outcome)
	}

	t.Log("what is added later adds to what there was, if the client asks for it so")
	token = w.consented(w.linking("client"), google.Consent{User: "ana", Scopes: []string{google.ScopeEvents}},
		oauth2.SetAuthURLParam("include_granted_scopes", "true"))
	service = w.client(oauth2.StaticTokenSource(token))
	if _, err := service.CalendarList.List().Do(); err != nil {
		t.Errorf("granted before: %v", err)
	}
	if _, err := service.Events.List("primary").Do(); err != nil {
		t.Errorf("granted now: %v", err)
	}
}

func TestConsent_Again_ReturnsARefreshTokenOnlyIfPrompted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	config := w.linking("client")
	first := w.consented(config, google.Consent{User: "ana"})
	again := w.consented(config, google.Consent{User: "ana"})
	forced := w.consented(config, google.Consent{User: "ana"}, oauth2.ApprovalForce)
	if first.RefreshToken == "" || again.RefreshToken != "" || forced.RefreshToken == "" || forced.RefreshToken == first.RefreshToken {
		t.Errorf("refresh tokens %q, %q, %q", first.RefreshToken, again.RefreshToken, forced.RefreshToken)
	}
	if token := w.consented(w.linking("another"), google.Consent{User: "ana"}); token.RefreshToken == "" {
		t.Error("another client got no refresh token")
	}
	online := must(config.Exchange(t.Context(),
		w.outcome(config.AuthCodeURL("state-1", oauth2.ApprovalForce), google.Consent{User: "ben"}).Get("code")))(t)
	if online.RefreshToken != "" {
		t.Error("online access gave a refresh token")
	}

	t.Log("revoking one token takes away all that the client was given")
	if status, text := w.form("/revoke", url.Values{"token": {first.RefreshToken}}); status != 200 {
		t.Fatalf("%d %s", status, text)
	}
	_, err := w.refresh(forced.RefreshToken)
	wantRetrieveError(t, err, 400, "invalid_grant")
	_, err = w.client(oauth2.StaticTokenSource(again)).Events.List("primary").Do()
	wantError(t, err, 401, "authError")
	if token := w.consented(config, google.Consent{User: "ana"}); token.RefreshToken == "" {
		t.Error("no refresh token after a revocation")
	}
}

func TestExchange_Refuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t, google.Options{Sequential: true, ClientID: "client", ClientSecret: "shh"})
	verifier := oauth2.GenerateVerifier()
	for name, tc := range map[string]struct {
		plain bool // ask without a challenge
		late  bool
		set   url.Values
		code  string
	}{
		"another verifier":          {set: url.Values{"code_verifier": {oauth2.GenerateVerifier()}}, code: "invalid_grant"},
		"no verifier":               {set: url.Values{"code_verifier": {""}}, code: "invalid_grant"},
		"a verifier nobody asked":   {plain: true, code: "invalid_grant"},
		"another address":           {set: url.Values{"redirect_uri": {"https://evil.test/"}}, code: "redirect_uri_mismatch"},
		"another code":              {set: url.Values{"code": {"4/0A-sim-x"}}, code: "invalid_grant"},
		"no code":                   {set: url.Values{"code": {""}}, code: "invalid_request"},
		"a code of ten minutes ago": {late: true, code: "invalid_grant"},
		"another secret":            {set: url.Values{"client_secret": {"x"}}, code: "invalid_client"},
	} {
		config := w.linking("client")
		options := []oauth2.AuthCodeOption{oauth2.S256ChallengeOption(verifier)}
		if tc.plain {
			options = nil
		}
		form := url.Values{"client_id": {"client"}, "client_secret": {"shh"}, "grant_type": {"authorization_code"}, "redirect_uri": {callback},
			"code_verifier": {verifier}, "code": {w.outcome(config.AuthCodeURL("state-1", options...), google.Consent{User: "ana"}).Get("code")}}
		for key := range tc.set {
			form.Set(key, tc.set.Get(key))
		}
		if tc.late {
			w.advance(10 * time.Minute)
		}
		if _, text := w.form("/token", form); !strings.Contains(text, `"error":"`+tc.code+`"`) {
			t.Errorf("%s: %s", name, text)
		}
	}
	config := w.linking("client")
	code := w.outcome(config.AuthCodeURL("state-1"), google.Consent{User: "ana"}).Get("code")
	must(config.Exchange(t.Context(), code))(t)
	_, err := config.Exchange(t.Context(), code)
	wantRetrieveError(t, err, 400, "invalid_grant")
}

func TestAuthorize_InvalidRequest_ShowsAnErrorPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t, google.Options{Sequential: true, ClientID: "client"})
	good := must(url.Parse(w.linking("client").AuthCodeURL("state-1", oauth2.S256ChallengeOption(oauth2.GenerateVerifier()))))(t).Query()
	for name, tc := range map[string]struct {
		field, value string
		status       int
		code         string
	}{
		"another client":         {"client_id", "x", 401, "invalid_client"},
		"no client":              {"client_id", "", 401, "invalid_client"},
		"an address without TLS": {"redirect_uri", "http://evil.test/", 400, "redirect_uri_mismatch"},
		"no address":             {"redirect_uri", "", 400, "redirect_uri_mismatch"},
		"no response type":       {"response_type", "", 400, "invalid_request"},
		"another response type":  {"response_type", "token", 400, "unsupported_response_type"},
		"no scope":               {"scope", "", 400, "invalid_request"},
		"an unknown scope":       {"scope", "openid everything", 400, "invalid_scope"},
		"another access type":    {"access_type", "always", 400, "invalid_request"},
		"a plain challenge":      {"code_challenge_method", "plain", 400, "invalid_request"},
		"a short challenge":      {"code_challenge", "abc", 400, "invalid_request"},
		"a method alone":         {"code_challenge", "", 400, "invalid_request"},
	} {
		query := url.Values{}
		for key := range good {
			query.Set(key, good.Get(key))
		}
		query.Set(tc.field, tc.value)
		for _, method := range []string{"GET", "POST"} {
			status, header, text := w.curl("", method, "/o/oauth2/v2/auth?"+query.Encode(), "")
			if status != tc.status || !strings.Contains(text, tc.code) || header.Get("Location") != "" ||
				!strings.HasPrefix(header.Get("Content-Type"), "text/html") {
				t.Errorf("%s, %s: %d %s %s", name, method, status, header.Get("Location"), text)
			}
		}
	}
	if got := w.outcome(w.linking("client").AuthCodeURL("state-1"), google.Consent{Deny: true}).Get("error"); got != "access_denied" {
		t.Errorf("cancelled without an account: %q", got)
	}
	for name, form := range map[string]string{"nobody": "decision=allow&user=zoe", "no decision": "user=ana", "rubbish": "%zz"} {
		status, _, text := w.curl("", "POST", "/o/oauth2/v2/auth?"+good.Encode(), form, "Content-Type", "application/x-www-form-urlencoded")
		if status != 400 || !strings.Contains(text, "invalid_request") {
			t.Errorf("%s: %d %s", name, status, text)
		}
	}
}

func TestAuthorize_ConsentPage_ShowsScopesAndClient(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	config := w.linking("Quest <Scheduler>")
	status, header, page := w.curl("", "GET",
		strings.TrimPrefix(config.AuthCodeURL("state-1", oauth2.SetAuthURLParam("login_hint", "ana@example.test")), w.url), "")
	for _, want := range []string{
		"Quest &lt;Scheduler&gt;", `value="ana" required checked`, `value="ben" required>`,
		`name="granted" value="` + google.ScopeEvents + `" checked`, "View and edit events",
	} {
		if status != 200 || !strings.Contains(page, want) {
			t.Errorf("%d: no %s on the page", status, want)
		}
	}
	if strings.Contains(page, "src=") || header.Get("Content-Security-Policy") == "" {
		t.Error("the page asks for something from outside")
	}

	t.Log("someone who is known is not asked again, unless the client wants the page")
	w.consented(config, google.Consent{User: "ana"})
	browser := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser.Jar = jar
	for name, tc := range map[string]struct{ account, prompt, want string }{
		"known":                     {"ana@example.test", "", "code="},
		"known, by sub, no page":    {"1002", "none", "code="},
		"known, with a page":        {"ana@example.test", "consent", ""},
		"unknown, no page":          {"ben@example.test", "none", "error=interaction_required"},
		"unknown":                   {"ben@example.test", "", ""},
		"nobody named, no page":     {"", "none", "error=interaction_required"},
		"known, chooses an account": {"ana@example.test", "select_account", ""},
	} {
		address := config.AuthCodeURL("state-1", oauth2.SetAuthURLParam("login_hint", tc.account), oauth2.SetAuthURLParam("prompt", tc.prompt))
		resp := must(browser.Get(address))(t)
		resp.Body.Close()
		location := resp.Header.Get("Location")
		if tc.want == "" && (resp.StatusCode != http.StatusOK || location != "") || !strings.Contains(location, tc.want) {
			t.Errorf("%s: %d %s", name, resp.StatusCode, location)
		}
	}
}

func TestConsent_AfterARestart_IsKept(t *testing.T) {
	t.Parallel()
	opt := google.Options{Sequential: true, Dir: t.TempDir()}
	first := newWorld(t, opt)
	config := first.linking("client")
	token := first.consented(config, google.Consent{User: "ana"})
	code := first.outcome(config.AuthCodeURL("state-1"), google.Consent{User: "ana"}).Get("code")

	second := newWorld(t, opt)
	if _, err := second.refresh(token.RefreshToken); err != nil {
		t.Error(err)
	}
	if second.grants["ana"].AccessToken != first.grants["ana"].AccessToken {
		t.Error("the consent took the place of the grant by hand")
	}
	config = second.linking("client")
	if again := must(config.Exchange(t.Context(), code))(t); again.RefreshToken != "" {
		t.Error("the consent was forgotten")
	}
	_, err := config.Exchange(t.Context(), code)
	wantRetrieveError(t, err, 400, "invalid_grant")
}
