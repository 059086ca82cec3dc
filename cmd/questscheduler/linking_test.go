package main

import (
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// browser is a user's browser: it keeps cookies, follows links, and sends Sec-Fetch
// headers as browsers do.
type browser struct {
	t    *testing.T
	http *http.Client
}

func newBrowser(t *testing.T) browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return browser{t, &http.Client{Jar: jar}}
}

// visit gets a page, or posts a form to it, and returns its final address and text.
func (b browser) visit(address, site string, form url.Values) (at *url.URL, text string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), patience)
	defer cancel()
	method, body := http.MethodGet, ""
	if form != nil {
		method, body = http.MethodPost, form.Encode()
	}
	request, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	request.Header.Set("Sec-Fetch-Mode", "navigate")
	request.Header.Set("Sec-Fetch-Site", site)
	if form != nil {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	response, err := b.http.Do(request)
	if err != nil {
		b.t.Fatal(err)
	}
	defer response.Body.Close()
	read, err := io.ReadAll(response.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return response.Request.URL, string(read)
}

var demoLink = regexp.MustCompile(`href="(/demo/link\?user=gm)"`)

// A user goes from the demo's page to the simulator's consent page and back.
func TestDemo_LinksAnotherGoogleAccount_AndUnlinksIt(t *testing.T) {
	t.Parallel()
	o := &outside{t, startDemo(t, t.TempDir())}
	b := newBrowser(t)
	_, text := b.visit(o.ready.Page, "none", nil)
	link := demoLink.FindStringSubmatch(text)
	if link == nil {
		t.Fatalf("the page has no link: %s", text)
	}
	at, text := b.visit(o.ready.API+link[1], "same-origin", nil)
	if !strings.HasPrefix(at.String(), o.ready.Google+"/o/oauth2/v2/auth?") || !strings.Contains(text, "spare@party.example") {
		t.Fatalf("it leads to %s: %s", at, text)
	}
	at, text = b.visit(at.String(), "same-origin", url.Values{"user": {"spare"}, "decision": {"allow"}})
	if at.Path != "/demo" || at.Query().Get("calendar") != "linked" {
		t.Fatalf("it ends at %s: %s", at, text)
	}
	id := at.Query().Get("account_id")
	account, err := o.v1("gm", "GET", "/accounts/"+id, nil)
	if err != nil || account["email"] != "spare@party.example" || account["status"] != "active" || account["default"] != false {
		t.Fatalf("the account is %v, %v", account, err)
	}
	calendars, err := o.v1("gm", "GET", "/accounts/"+id+"/calendars", nil)
	if err != nil || len(list(calendars["calendars"])) != 1 || calendars["complete"] != true {
		t.Fatalf("its calendars are %v, %v", calendars, err)
	}

	// A poll in its calendar is followed, until it is unlinked.
	poll, err := o.v1("gm", "GET", "/polls/"+o.ready.Polls["open"], nil)
	if err != nil {
		t.Fatal(err)
	}
	finalize := map[string]any{"slot_id": list(poll["slots"])[0]["id"], "account_id": id}
	if _, err := o.v1("gm", "POST", "/polls/"+o.ready.Polls["open"]+"/finalize", finalize); err != nil {
		t.Fatal(err)
	}
	gone, err := o.v1("gm", "DELETE", "/accounts/"+id, nil)
	if err != nil || gone["status"] != "unlinked" {
		t.Fatalf("unlinked: %v, %v", gone, err)
	}
	poll, err = o.v1("gm", "GET", "/polls/"+o.ready.Polls["open"], nil)
	if err == nil {
		err = expect(poll, map[string]any{"status": "FINALIZED", "sync.state": "ERROR", "sync.error.code": "calendar_unlinked"})
	}
	if err != nil {
		t.Error(err)
	}
	calls, err := o.try("GET", o.ready.Google+"/_sim/calls", "", nil)
	if err != nil || calls.body["oauth.revoke"] != 1.0 || calls.body["channels.stop"] != 1.0 {
		t.Errorf("calls of the simulator: %v, %v", calls.body, err)
	}
	if linked, err := o.v1("gm", "GET", "/accounts", nil); err != nil || len(list(linked["accounts"])) != 2 {
		t.Errorf("still linked: %v, %v", linked, err)
	}
}
