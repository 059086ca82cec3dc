package api_test

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"questscheduler/demo/sim/control"
	"questscheduler/demo/sim/google"
	linked "questscheduler/internal/accounts"
)

// page is what a browser was answered: where it is sent, or a page to read.
type page struct {
	status   int
	location *url.URL
	text     string
	cookies  []*http.Cookie
}

// visit browses and reads what comes.
func (w *world) visit(address, site string, cookies ...*http.Cookie) page {
	w.t.Helper()
	response := w.browse(address, site, cookies...)
	text, err := io.ReadAll(response.Body)
	must(w.t, err)
	must(w.t, response.Body.Close())
	got := page{status: response.StatusCode, text: string(text), cookies: response.Cookies()}
	if response.StatusCode == http.StatusFound {
		got.location, err = response.Location()
		must(w.t, err)
	}
	return got
}

// begin asks for a link as a person, and gives where to begin.
func (w *world) begin(as string, body map[string]any) string {
	w.t.Helper()
	var answered struct{ URL string }
	w.want(http.StatusOK, call{as: as, method: "POST", path: "/v1/accounts/link", body: body}, &answered)
	return answered.URL
}

// consent goes the whole way to the callback, as a browser on our page, with a
// decision at Google's page.
func (w *world) consent(start string, decision google.Consent) string {
	w.t.Helper()
	sent := w.visit(start, "same-origin")
	if sent.status != http.StatusFound {
		w.t.Fatalf("the start answers %d: %s", sent.status, sent.text)
	}
	w.kept = sent.cookies
	back, err := w.google.Consent(w.t.Context(), sent.location.String(), decision)
	must(w.t, err)
	return back
}

// comeBack is the browser of the last consent, which Google sends back.
func (w *world) comeBack(address string) page { return w.visit(address, "cross-site", w.kept...) }

// accountsOf lists a person's accounts by status and e-mail.
func (w *world) accountsOf(uid string) (list []string) {
	w.t.Helper()
	var answered struct {
		Accounts []struct{ ID, Email, Status string }
	}
	w.want(http.StatusOK, call{as: uid, method: "GET", path: "/v1/accounts"}, &answered)
	for _, account := range answered.Accounts {
		list = append(list, account.Status+" "+account.Email)
	}
	return list
}

func (w *world) wantAccounts(uid string, want ...string) {
	w.t.Helper()
	if got := w.accountsOf(uid); strings.Join(got, ", ") != strings.Join(want, ", ") {
		w.t.Errorf("%s has linked %q, want %q", uid, got, want)
	}
}

func TestLinking_GoesToGoogleWithPKCE_AndComesBackLinked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sent := w.visit(w.begin("gm", map[string]any{"return_to": "/profile?tab=calendars"}), "same-origin")
	w.kept = sent.cookies
	asked := sent.location.Query()
	for name, want := range map[string]string{
		"response_type": "code", "client_id": "client", "redirect_uri": ourURL + "/oauth/google/callback", "access_type": "offline",
		"code_challenge_method": "S256", "prompt": "select_account consent",
		"scope": "openid email https://www.googleapis.com/auth/calendar.events https://www.googleapis.com/auth/calendar.calendarlist.readonly",
	} {
		if asked.Get(name) != want {
			t.Errorf("%s is %q, want %q", name, asked.Get(name), want)
		}
	}
	if len(asked.Get("code_challenge")) != 43 || asked.Get("state") == "" || strings.Contains(asked.Get("state"), "profile") { // sealed
		t.Errorf("challenge %q, state %q", asked.Get("code_challenge"), asked.Get("state"))
	}
	back, err := w.google.Consent(t.Context(), sent.location.String(), google.Consent{User: "gm"})
	must(t, err)
	ended := w.comeBack(back)
	if ended.status != http.StatusFound || !strings.HasPrefix(ended.location.String(), appURL+"/profile?account_id=acc_") ||
		ended.location.Query().Get("calendar") != "linked" || ended.location.Query().Get("tab") != "calendars" {
		t.Errorf("it ends with %d at %v: %s", ended.status, ended.location, ended.text)
	}
	w.wantAccounts("gm", "active gm@example.com")
	if id := ended.location.Query().Get("account_id"); len(w.followed.ids) != 1 || w.followed.ids[0] != id {
		t.Errorf("carried on: %v, want %s", w.followed.ids, id)
	}
	again := w.consent(w.begin("gm", map[string]any{}), google.Consent{User: "gm"})
	ended = w.comeBack(again)
	if ended.status != http.StatusFound || !strings.HasPrefix(ended.location.String(), appURL+"/settings?") {
		t.Errorf("linked again, it ends with %d at %v", ended.status, ended.location)
	}
	second := w.consent(w.begin("gm", map[string]any{}), google.Consent{User: "work"})
	w.comeBack(second)
	w.wantAccounts("gm", "active gm@example.com", "active work@example.com")
}

// TestLinking_EveryFailure_IsExplained goes through the errors of a consent: the status, the
// sentence, and the way back.
func TestLinking_EveryFailure_IsExplained(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		// come gives the address that the browser comes back to.
		come     func(w *world) string
		status   int
		code     string
		sentence string
		ways     []string
	}{
		"the state is not ours": {
			come:   func(*world) string { return ourURL + "/oauth/google/callback?code=x&state=v1.k1.AAAA" },
			status: 400, code: "state_mismatch", sentence: "Link failed. Please try again.",
		},
		"there is no state": {
			come:   func(*world) string { return ourURL + "/oauth/google/callback?error=access_denied" },
			status: 400, code: "state_mismatch", sentence: "Link failed. Please try again.",
		},
		"the state came before": {
			come: func(w *world) string {
				back := w.consent(w.begin("gm", map[string]any{}), google.Consent{User: "gm", Deny: true})
				w.comeBack(back)
				return back
			},
			status: 400, code: "state_mismatch", sentence: "Link failed. Please try again.",
		},
		"Google takes the code for none": {
			come: func(w *world) string {
				back, err := url.Parse(w.consent(w.begin("gm", map[string]any{}), google.Consent{User: "gm"}))
				must(w.t, err)
				query := back.Query()
				query.Set("code", "another")
				back.RawQuery = query.Encode()
				return back.String()
			},
			status: 502, code: "exchange_failed", sentence: "Something went wrong. Please try again.", ways: []string{"Try again"},
		},
		"Google is down": {
			come: func(w *world) string {
				back := w.consent(w.begin("gm", map[string]any{}), google.Consent{User: "gm"})
				must(w.t, w.google.Control().Plant(control.Rule{Match: "oauth.token", Status: 503}))
				return back
			},
			status: 503, code: "exchange_failed", sentence: "Something went wrong. Please try again.", ways: []string{"Try again"},
		},
		"Google comes back with another error": {
			come: func(w *world) string {
				back, err := url.Parse(w.consent(w.begin("gm", map[string]any{}), google.Consent{User: "gm", Deny: true}))
				must(w.t, err)
				return strings.Replace(back.String(), "access_denied", "server_error", 1)
			},
			status: 502, code: "exchange_failed", sentence: "Something went wrong. Please try again.", ways: []string{"Try again"},
		},
		"the Google account is somebody else's": {
			come: func(w *world) string {
				w.newAccount("ana")
				return w.consent(w.begin("gm", map[string]any{}), google.Consent{User: "ana"})
			},
			status: 409, code: "account_already_linked",
			sentence: "This Google account is already linked to a different Quest Scheduler account.", ways: []string{"Choose another account"},
		},
		"the calendar was not granted": {
			come: func(w *world) string {
				return w.consent(w.begin("gm", map[string]any{}), google.Consent{User: "gm", Scopes: []string{linked.ScopeCalendarList}})
			},
			status: 400, code: "scopes_insufficient", sentence: "We need calendar access to sync. Please re-authorize.",
			ways: []string{"Authorize again"},
		},
		"another account comes back than the one to link again": {
			come: func(w *world) string {
				return w.consent(w.begin("gm", map[string]any{"account_id": w.newAccount("gm")}), google.Consent{User: "work"})
			},
			status: 409, code: "other_account", sentence: "You chose another Google account than the one to link again.",
			ways: []string{"Choose the right account", "Link this one as well"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			come := row.come(w)
			before := w.accountsOf("gm")
			got := w.comeBack(come)
			if got.status != row.status || !strings.Contains(got.text, row.sentence) || !strings.Contains(got.text, row.code) {
				t.Errorf("it answers %d: %s", got.status, got.text)
			}
			for _, way := range append(row.ways, "Back") {
				if !strings.Contains(got.text, ">"+way+"</a>") {
					t.Errorf("there is no way %q: %s", way, got.text)
				}
			}
			if !strings.Contains(got.text, appURL+"/settings?calendar=error&amp;code="+row.code) {
				t.Errorf("the way back is not to the settings: %s", got.text)
			}
			w.wantAccounts("gm", before...)
			if !logged(w, row.code, "a Google account was not linked") {
				t.Error("it is not in the log")
			}
		})
	}
}

func TestLinking_FailsForAProgram_AnswersTheEnvelope(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.newAccount("ana")
	back := w.consent(w.begin("gm", map[string]any{}), google.Consent{User: "ana"})
	got := w.do(call{as: "gm", method: "GET", path: strings.TrimPrefix(back, ourURL), header: map[string]string{"Accept": "application/json"}})
	if got.status != http.StatusConflict || got.Error.Detail.Reason != "account_already_linked" {
		t.Errorf("it is answered %d: %s", got.status, got.text)
	}
}

func TestLinking_Declined_RedirectsBackAndLinksNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	got := w.comeBack(w.consent(w.begin("gm", map[string]any{}), google.Consent{User: "gm", Deny: true}))
	if got.status != http.StatusFound || got.location.String() != appURL+"/settings?calendar=error&code=access_denied" {
		t.Errorf("it ends with %d at %v", got.status, got.location)
	}
	w.wantAccounts("gm")
	if said := w.visit(ourURL+"/oauth/google/linked?"+got.location.RawQuery, ""); !strings.Contains(said.text, "You declined access. No account linked.") {
		t.Errorf("our own page says %s", said.text)
	}
}

func TestLinking_AnotherIdentity_IsLinkedOnceConfirmed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.newAccount("gm")
	w.comeBack(w.consent(w.begin("gm", map[string]any{"account_id": id, "any_account": true}), google.Consent{User: "work"}))
	w.wantAccounts("gm", "active gm@example.com", "active work@example.com")
	w.want(http.StatusNotFound, call{as: "ana", method: "POST", path: "/v1/accounts/link", body: map[string]any{"account_id": id}}, nil)
}

func TestLinking_TicketsAndStates_ExpireAfterFiveMinutes(t *testing.T) {
	t.Parallel()
	clock := newStillClock()
	w := newWorld(t, clock.on)
	start := w.begin("gm", map[string]any{})
	back := w.consent(start, google.Consent{User: "gm"})
	clock.advance(5 * time.Minute)
	if got := w.comeBack(back); got.status != 400 || !strings.Contains(got.text, "Link failed. Please try again.") {
		t.Errorf("the state is taken: %d %s", got.status, got.text)
	}
	if got := w.visit(start, ""); got.status != 400 || !strings.Contains(got.text, "Link failed. Please try again.") {
		t.Errorf("the ticket is taken: %d %s", got.status, got.text)
	}
	w.wantAccounts("gm")
	removed, err := linked.RemoveExpiredStates(t.Context(), w.changes, clock.now(), 10)
	if err != nil || removed != 0 {
		t.Errorf("%d states removed, %v", removed, err)
	}
	clock.advance(24 * time.Hour)
	removed, err = linked.RemoveExpiredStates(t.Context(), w.changes, clock.now(), 10)
	if err != nil || removed != 1 {
		t.Errorf("%d states removed, %v", removed, err)
	}
}

func TestLinking_ReturnAddress_IsOursOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, address := range []string{
		"https://evil.example/settings", "//evil.example", "/\\evil.example", "https://app.example.evil.example/",
		"https://app.example@evil.example/",
		"javascript:alert(1)", "http://app.example/", "https:app.example", "\thttps://evil.example", "app.example/settings",
		"https://app.example:444/",
	} {
		got := w.do(call{as: "gm", method: "POST", path: "/v1/accounts/link", body: map[string]any{"return_to": address}})
		if got.status != 400 || got.Error.Detail.Reason != "unsafe_return_address" {
			t.Errorf("%q: %d %s", address, got.status, got.text)
		}
		wantField(t, got, "return_to")
	}
	for _, address := range []string{"", "/", "/settings?x=1#y", appURL + "/a/b", ourURL + "/demo"} {
		w.begin("gm", map[string]any{"return_to": address})
	}
}

// What comes back belongs to the browser that went.
func TestLinking_StateOfAnotherBrowser_IsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	begin := func() (string, *http.Cookie) {
		sent := w.visit(w.begin("gm", map[string]any{}), "same-site")
		if sent.status != http.StatusFound || len(sent.cookies) != 1 {
			t.Fatalf("a browser is answered %d with %d cookies", sent.status, len(sent.cookies))
		}
		back, err := w.google.Consent(t.Context(), sent.location.String(), google.Consent{User: "gm"})
		must(t, err)
		return back, sent.cookies[0]
	}
	back, cookie := begin()
	if !cookie.HttpOnly || cookie.SameSite != http.SameSiteLaxMode || cookie.MaxAge != 300 {
		t.Errorf("the cookie is %v", cookie)
	}
	_, other := begin()
	for name, cookies := range map[string][]*http.Cookie{"none": nil, "another's": {other}} {
		if got := w.visit(back, "cross-site", cookies...); got.status != 400 {
			t.Errorf("with the secret of %s: %d", name, got.status)
		}
	}
	w.wantAccounts("gm")
	if got := w.visit(back, "cross-site", cookie); got.status != http.StatusFound {
		t.Errorf("with its own secret: %d %s", got.status, got.text)
	}
	w.wantAccounts("gm", "active gm@example.com")
}

func TestLinking_BrowserFromAnotherSite_MustConfirm(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	start := w.begin("gm", map[string]any{})
	for _, site := range []string{"cross-site", "none", ""} {
		got := w.visit(start, site)
		if got.status != http.StatusOK || !strings.Contains(got.text, "linked to gm@example.com") || len(got.cookies) != 1 {
			t.Errorf("%s: %d with %d cookies: %s", site, got.status, len(got.cookies), got.text)
		}
		if !strings.Contains(got.text, `href="?ticket=`) { // the page's own path, as a proxy has it
			t.Errorf("there is no way on: %s", got.text)
		}
	}
	if got := w.visit(start, "same-origin"); got.status != http.StatusFound {
		t.Errorf("from our own page: %d", got.status)
	}
}

func TestLinking_ProgramWithItsToken_IsRedirected(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if got := w.visit(ourURL+"/oauth/google/start", ""); got.status != 401 || !strings.Contains(got.text, "Sign in") {
		t.Errorf("nobody known is answered %d: %s", got.status, got.text)
	}
	start := ourURL + "/oauth/google/start?redirect_uri=" + url.QueryEscape(appURL+"/x")
	back, err := w.google.Consent(t.Context(), w.byToken("gm", start), google.Consent{User: "gm"})
	must(t, err)
	for name, as := range map[string]string{"nobody's": "", "somebody else's": "ana"} {
		got := w.send(call{as: as, method: "GET", path: strings.TrimPrefix(back, ourURL)})
		if got.status != http.StatusBadRequest {
			t.Errorf("with %s token it ends with %d: %s", name, got.status, got.text)
		}
	}
	w.wantAccounts("gm")
	if to := w.byToken("gm", back); !strings.HasPrefix(to, appURL+"/x?") {
		t.Errorf("it ends at %s", to)
	}
	w.wantAccounts("gm", "active gm@example.com")

	ticket := w.begin("gm", map[string]any{})
	if to := w.byToken("ana", ticket); to != "" {
		t.Errorf("somebody else's ticket leads to %s", to)
	}
	back, err = w.google.Consent(t.Context(), w.byToken("gm", ticket), google.Consent{User: "work"})
	must(t, err)
	w.byToken("gm", back)
	w.wantAccounts("gm", "active gm@example.com", "active work@example.com")
}

// A browser that says of itself nothing goes on from the page that it is shown.
func TestLinking_BrowserWithoutFetchHeaders_ConfirmsAndLinks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	start := w.begin("gm", map[string]any{})
	shown, kept := w.comes(start, nil)
	if shown.status != http.StatusOK || !strings.Contains(shown.text, "linked to gm@example.com") {
		t.Fatalf("it is answered %d: %s", shown.status, shown.text)
	}
	other, _ := w.comes(w.begin("gm", map[string]any{}), kept)
	if got, _ := w.comes(wayOn(other.text, start), kept); got.status != http.StatusFound {
		t.Errorf("the way of another tab leads to %d", got.status)
	}
	sent, kept := w.comes(wayOn(shown.text, start), kept)
	if sent.status != http.StatusFound {
		t.Fatalf("the way on leads to %d: %s", sent.status, sent.text)
	}
	back, err := w.google.Consent(t.Context(), sent.location.String(), google.Consent{User: "gm"})
	must(t, err)
	if got, _ := w.comes(back, kept); got.status != http.StatusFound {
		t.Errorf("it ends with %d: %s", got.status, got.text)
	}
	w.wantAccounts("gm", "active gm@example.com")
}

// Each row is what one tab of a browser comes back to before the other does.
func TestLinking_SecondTab_LinksAfterTheFirst(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		decision google.Consent
		address  string
		status   int
	}{
		"linked":                      {google.Consent{User: "gm"}, "", http.StatusFound},
		"declined":                    {google.Consent{User: "gm", Deny: true}, "", http.StatusFound},
		"led there by a foreign site": {google.Consent{}, ourURL + "/oauth/google/callback?state=x&code=y", http.StatusBadRequest},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			jar := map[string]*http.Cookie{}
			browse := func(address string) page {
				var kept []*http.Cookie
				for _, cookie := range jar {
					kept = append(kept, cookie)
				}
				got := w.visit(address, "same-site", kept...)
				for _, cookie := range got.cookies {
					jar[cookie.Name] = cookie
					if cookie.MaxAge < 0 {
						delete(jar, cookie.Name)
					}
				}
				return got
			}
			first, second := browse(w.begin("gm", map[string]any{})), browse(w.begin("gm", map[string]any{}))
			if row.address == "" {
				back, err := w.google.Consent(t.Context(), first.location.String(), row.decision)
				must(t, err)
				row.address = back
			}
			if got := browse(row.address); got.status != row.status {
				t.Fatalf("the first tab is answered %d: %s", got.status, got.text)
			}
			back, err := w.google.Consent(t.Context(), second.location.String(), google.Consent{User: "work"})
			must(t, err)
			if got := browse(back); got.status != http.StatusFound {
				t.Errorf("the second tab is answered %d: %s", got.status, got.text)
			}
		})
	}
}

// Each row is an Authorization header that a proxy adds to what a browser sends.
func TestLinking_BrowserBehindAProxysAuthorization_Links(t *testing.T) {
	t.Parallel()
	for name, header := range map[string]string{"Basic": "Basic Z206c2VjcmV0", "another issuer's token": "Bearer x.y.z"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.proxied = header
			back := w.consent(w.begin("gm", map[string]any{}), google.Consent{User: "gm"})
			if got := w.visit(back, "cross-site"); got.status != http.StatusUnauthorized {
				t.Errorf("without its cookie it is answered %d: %s", got.status, got.text)
			}
			if got := w.comeBack(back); got.status != http.StatusFound {
				t.Errorf("it is answered %d: %s", got.status, got.text)
			}
			if got := w.visit(ourURL+"/oauth/google/start", "same-origin"); got.status != http.StatusUnauthorized {
				t.Errorf("without a ticket it is answered %d", got.status)
			}
			w.wantAccounts("gm", "active gm@example.com")
		})
	}
}

// With HTTPS no other host of the domain can plant the secret.
func TestLinking_CookieByHTTPS_HasTheHostPrefix(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(s *setup) { s.HTTPS = true })
	sent := w.visit(w.begin("gm", map[string]any{}), "same-origin")
	if len(sent.cookies) != 1 || !strings.HasPrefix(sent.cookies[0].Name, "__Host-") || !sent.cookies[0].Secure ||
		sent.cookies[0].Path != "/" || sent.cookies[0].Domain != "" {
		t.Errorf("the cookies are %v", sent.cookies)
	}
}
