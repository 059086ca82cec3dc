package api_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"questscheduler/api"
	"questscheduler/internal/calendars"
	"questscheduler/internal/signin"
	"questscheduler/internal/store"
)

// press sends what a browser does: a form where there is one, and cookies. site
// is what it says of where that comes from ("": it says nothing).
func (w *world) press(method, path, site string, form url.Values, cookies ...*http.Cookie) page {
	w.t.Helper()
	request, err := http.NewRequestWithContext(w.t.Context(), method, w.url+path, strings.NewReader(form.Encode()))
	must(w.t, err)
	if form != nil {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	request.Header.Set("Accept", "text/html")
	if site != "" {
		request.Header.Set("Sec-Fetch-Site", site)
	}
	for _, cookie := range cookies {
		request.AddCookie(cookie)
	}
	browser := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := browser.Do(request)
	must(w.t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	must(w.t, err)
	got := page{status: response.StatusCode, text: string(text), cookies: response.Cookies()}
	if location := response.Header.Get("Location"); location != "" {
		got.location, err = url.Parse(location)
		must(w.t, err)
	}
	return got
}

// signedIn is the cookie of an admin's browser.
func (w *world) signedIn() *http.Cookie {
	w.t.Helper()
	got := w.press("POST", "/dashboard/sign-in", "same-origin", url.Values{"token": {" " + w.tokens["admin"] + "\n"}})
	if got.status != http.StatusSeeOther || len(got.cookies) != 2 {
		w.t.Fatalf("the sign-in answers %d with %v: %s", got.status, got.cookies, got.text)
	}
	return got.cookies[0]
}

func TestDashboard_ByRole_IsShownToAdminsOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, row := range []struct {
		as     string
		status int
		says   string
	}{{"", 401, "Bearer token of an admin"}, {"gm", 404, "NOT_FOUND"}, {"admin", 200, "Watch channels"}} {
		header := map[string]string{"Accept": "text/html"}
		got := w.send(call{as: row.as, method: "GET", path: "/dashboard", header: header})
		if got.status != row.status || !strings.Contains(got.text, row.says) {
			t.Errorf("%q: %d %.300s", row.as, got.status, got.text)
		}
		if row.as != "gm" &&
			!strings.Contains(got.header.Get("Content-Security-Policy"), "default-src 'none'; style-src 'self'; script-src 'self'") {
			t.Errorf("%q: the policy is %q", row.as, got.header.Get("Content-Security-Policy"))
		}
	}
	if got := w.want(
		401, call{method: "GET", path: "/dashboard", header: map[string]string{"Accept": "application/json"}}, nil,
	); got.Error.Code != "AUTH_REQUIRED" {
		t.Errorf("a program is answered %s", got.text)
	}
}

func TestSignIn_SetsACookie_ThatIsHttpOnlyAndStrict(t *testing.T) {
	t.Parallel()
	for _, https := range []bool{false, true} {
		w := newWorld(t, func(s *setup) { s.HTTPS = https })
		got := w.press("POST", "/dashboard/sign-in", "same-origin", url.Values{"token": {w.tokens["admin"]}})
		paths := map[string]bool{}
		for _, cookie := range got.cookies {
			paths[cookie.Path] = true
			if !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode || cookie.Secure != https || cookie.MaxAge != 0 ||
				!cookie.Expires.IsZero() {
				t.Errorf("the cookie is %+v", cookie)
			}
		}
		if got.status != 303 || got.location.String() != "/dashboard" || !paths["/dashboard"] || !paths["/admin"] || len(paths) != 2 {
			t.Errorf("%d to %v with cookies for %v", got.status, got.location, paths)
		}
	}
}

// Every refused token gets the same page.
func TestSignIn_InvalidTokens_HaveTheSameAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var answers []string
	for name, token := range map[string]string{
		"a person who is no admin": w.tokens["gm"], "rubbish": marker, "nothing": "", "a long one": strings.Repeat(marker, 1000),
		"a forged one": w.tokens["admin"] + "x", "an admin's cut off": w.tokens["admin"][:40],
	} {
		got := w.press("POST", "/dashboard/sign-in", "same-origin", url.Values{"token": {token}})
		if got.status != 401 || len(got.cookies) != 0 || strings.Contains(got.text, marker) {
			t.Errorf("%s: %d with cookies %v: %s", name, got.status, got.cookies, got.text)
		}
		answers = append(answers, got.text)
	}
	for _, answer := range answers {
		if answer != answers[0] {
			t.Errorf("the answers differ:\n%s\n%s", answers[0], answer)
		}
	}
	if log := w.log.String(); strings.Contains(log, marker) || strings.Contains(log, w.tokens["gm"]) {
		t.Error("the log holds a token")
	}
}

func TestSignIn_OverTheRateOfItsAddress_Is429(t *testing.T) {
	t.Parallel()
	clock := newStillClock()
	w := newWorld(t, clock.on, func(s *setup) { s.AddressRate = api.Rate{PerSecond: 1, Burst: 5} })
	last := 0
	for range 20 {
		last = w.press("POST", "/dashboard/sign-in", "same-origin", url.Values{"token": {marker}}).status
	}
	if last != http.StatusTooManyRequests {
		t.Errorf("the twentieth try is answered %d", last)
	}
}

func TestAdminCookie_ReadsUnderAdmin_AndDoesNothingElse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cookie := w.signedIn()
	letter := w.newFailingWork()
	for _, row := range []struct {
		method, path string
		status       int
	}{
		{"GET", "/dashboard", 200},
		{"GET", "/admin/watches", 200},
		{"POST", "/admin/tasks/" + letter + "/retry", 401},
		{"POST", "/admin/watches/force-register", 401},
		{"GET", "/v1/polls", 401},
	} {
		if got := w.press(row.method, row.path, "same-origin", nil, cookie); got.status != row.status {
			t.Errorf("%s %s: %d, want %d", row.method, row.path, got.status, row.status)
		}
	}
}

func TestAdminCookie_OfAFormerAdmin_IsRefusedAndRemoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cookie := w.signedIn()
	cookie.Value = w.token(signin.Person{UID: "admin"})
	got := w.press("GET", "/dashboard", "same-origin", nil, cookie)
	if got.status != 404 || len(got.cookies) != 2 || got.cookies[0].MaxAge >= 0 {
		t.Errorf("%d with %v", got.status, got.cookies)
	}
}

func TestSignOut_OfAnAdmin_RemovesTheCookie(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	got := w.press("POST", "/dashboard/sign-out", "same-origin", nil, w.signedIn())
	if got.status != 303 || len(got.cookies) != 2 || got.cookies[0].MaxAge >= 0 || got.cookies[0].Value != "" {
		t.Errorf("%d with %v", got.status, got.cookies)
	}
}

// buttons are all of the page, with what each is sent.
func (w *world) buttons() map[string]url.Values {
	return map[string]url.Values{
		"/dashboard/tasks/retry":           {"id": {w.newFailingWork()}},
		"/dashboard/cancellations/confirm": {"key": {w.newHeld()}, "poll_id": {"held"}},
		"/dashboard/watches/register":      {},
	}
}

// newHeld writes a calendar of gm with an event that is held, and gives its key.
func (w *world) newHeld() string {
	w.t.Helper()
	key := w.newCalendar("gm")
	must(w.t,
		w.write("calendarEventIndex/event", map[string]any{"schedulerId": "held", "accountId": "acc_gm", "calendarId": "gm@example.com"}))
	must(w.t, w.store.Run(w.t.Context(), func(_ context.Context, tx store.Tx) error {
		return tx.Update(calendars.Path(key), calendars.Defer("event", calendars.DeferredHeld, time.Unix(1, 0)))
	}))
	return key
}

func TestButtons_Pressed_ActAndReturnToThePage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cookie := w.signedIn()
	for path, form := range w.buttons() {
		got := w.press("POST", path, "same-origin", form, cookie)
		if got.status != 303 || got.location.Path != "/dashboard" || got.location.Fragment == "" {
			t.Fatalf("%s: %d to %v: %s", path, got.status, got.location, got.text)
		}
		shown := w.press("GET", got.location.RequestURI(), "same-origin", nil, cookie)
		if shown.status != 200 || !strings.Contains(shown.text, `<p class="notice fine" role="status">`) {
			t.Errorf("%s: the page says nothing of it", path)
		}
		if strings.Contains(path, "register") {
			continue
		}
		again := w.press("POST", path, "same-origin", form, cookie) // nothing is left to do
		shown = w.press("GET", again.location.RequestURI(), "same-origin", nil, cookie)
		if !strings.Contains(shown.text, `<p class="notice bad" role="status">`) {
			t.Errorf("%s: the second time the page says nothing of it", path)
		}
	}
	depths, err := w.outbox.Depths(t.Context())
	must(t, err)
	for _, depth := range depths {
		for _, entry := range depth.Failing {
			if entry.Due.After(w.options.Now()) {
				t.Errorf("work waits that was to be tried now: %+v", entry)
			}
		}
	}
}

func TestButtons_DoNothing_ForAnybodyElse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	buttons, cookie := w.buttons(), w.signedIn()
	mine := &http.Cookie{Name: cookie.Name, Value: w.tokens["gm"]}
	before, waiting := w.store.writes.Load(), w.waiting()
	for path, form := range buttons {
		for _, row := range []struct {
			name, site string
			cookies    []*http.Cookie
			status     int
		}{
			{"nobody known", "same-origin", nil, 401},
			{"somebody who is no admin", "same-origin", []*http.Cookie{mine}, 404},
			{"a page of another site", "cross-site", []*http.Cookie{cookie}, 403},
			{"a page of a neighbour", "same-site", []*http.Cookie{cookie}, 403},
		} {
			if got := w.press("POST", path, row.site, form, row.cookies...); got.status != row.status {
				t.Errorf("%s by %s: %d, want %d", path, row.name, got.status, row.status)
			}
		}
	}
	if got := w.press(
		"POST", "/dashboard/sign-in", "cross-site", url.Values{"token": {w.tokens["admin"]}},
	); got.status != 403 || len(got.cookies) != 0 {
		t.Errorf("another site signs a browser in: %d", got.status)
	}
	if w.store.writes.Load() != before || w.waiting() != waiting {
		t.Error("something was done")
	}
}

func TestDashboard_BadInput_ChangesNothingAndIsNotEchoed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cookie := w.signedIn()
	before, waiting := w.store.writes.Load(), w.waiting()
	for _, row := range []struct {
		method, path string
		form         url.Values
		status       int
	}{
		{"GET", "/dashboard?accounts=" + marker, nil, 400},
		{"GET", "/dashboard?done=" + marker + "&count=" + marker, nil, 200},
		{"GET", "/dashboard?done=registered&count=1&count=" + marker, nil, 200},
		{"GET", "/dashboard?cursor=" + marker, nil, 200},
		{"GET", "/dashboard/" + marker, nil, 404},
		{"POST", "/dashboard/tasks/retry", url.Values{"id": {"../" + marker}}, 303},
		{"POST", "/dashboard/tasks/retry", url.Values{}, 303},
		{"POST", "/dashboard/cancellations/confirm", url.Values{"key": {marker}, "poll_id": {"x"}}, 303},
		{"POST", "/dashboard/cancellations/confirm", url.Values{"key": {strings.Repeat("0", 32)}, "poll_id": {"x/" + marker}}, 303},
		{"POST", "/dashboard/tasks/retry", url.Values{"id": {strings.Repeat("x", 2<<20)}}, 413},
	} {
		got := w.press(row.method, row.path, "same-origin", row.form, cookie)
		if got.status != row.status {
			t.Errorf("%s %.60s: %d, want %d: %.200s", row.method, row.path, got.status, row.status, got.text)
		}
		if got.location != nil {
			got.text += got.location.String()
		}
		if strings.Contains(got.text, marker) {
			t.Errorf("%s %.60s gives the input back: %.300s", row.method, row.path, got.text)
		}
	}
	if w.store.writes.Load() != before || w.waiting() != waiting {
		t.Error("something was done")
	}
}

func TestSignIn_TokenInTheURL_IsIgnored(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	got := w.press("POST", "/dashboard/sign-in?token="+url.QueryEscape(w.tokens["admin"]), "same-origin", url.Values{})
	if got.status != http.StatusUnauthorized || len(got.cookies) != 0 {
		t.Errorf("a token in the address, which logs keep, is answered %d with %v", got.status, got.cookies)
	}
}

// unread is a body that nobody may read.
type unread struct{ t *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.t.Error("the body was read before it was known whose it is")
	return 0, io.EOF
}

func TestButtons_Unauthorized_ReadNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, token := range []string{"", "nonsense", w.tokens["gm"]} {
		for _, path := range []string{"/tasks/retry", "/cancellations/confirm", "/watches/register"} {
			request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/dashboard"+path, unread{t})
			request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			request.Header.Set("Sec-Fetch-Site", "same-origin")
			if token != "" {
				request.AddCookie(&http.Cookie{Name: "questscheduler_admin", Value: token})
			}
			answer := httptest.NewRecorder()
			w.echo.ServeHTTP(answer, request)
			if answer.Code != http.StatusUnauthorized && answer.Code != http.StatusNotFound {
				t.Errorf("%s answers %d", path, answer.Code)
			}
		}
	}
}
