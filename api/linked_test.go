package api_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"questscheduler/api"
	"questscheduler/demo/sim/google"
	linked "questscheduler/internal/accounts"
	"questscheduler/internal/accounts/seal"
	"questscheduler/internal/gcal"
	"questscheduler/scheduler"
)

// followed are the accounts that were carried on to their calendars.
type followed struct {
	mu  sync.Mutex
	ids []string
}

func (f *followed) follow(_ context.Context, accountID string, _ scheduler.Cause) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ids = append(f.ids, accountID)
	return nil
}

// openLinked makes linked accounts over a Google simulator with an account for
// each person, by their names.
func (w *world) openLinked(options *api.Options) api.LinkedAccounts {
	w.t.Helper()
	keys, err := seal.ParseKeys("k1:" + strings.Repeat("A", 43) + "=")
	must(w.t, err)
	w.linked = linked.New(linked.Options{
		Store: w.changes, Keys: keys, Now: options.Now,
		NewID: func() string { return strings.TrimPrefix(options.NewID("acc"), "acc_") },
	})
	w.google, err = google.New(google.Options{Now: options.Now, Sequential: true})
	must(w.t, err)
	for _, name := range []string{"gm", "ana", "work"} {
		w.grants[name], err = w.google.AddUser(google.User{Key: name, Sub: "sub-" + name, Email: name + "@example.com"})
		must(w.t, err)
	}
	server := httptest.NewServer(w.google.Handler())
	w.t.Cleanup(server.Close)
	return api.LinkedAccounts{
		Accounts: w.linked, Follow: w.followed.follow, URL: ourURL,
		Calendars: func(context.Context, string) ([]gcal.CalendarEntry, error) {
			return []gcal.CalendarEntry{
				{ID: "gm@example.com", Summary: "gm", Primary: true, Writable: true},
				{ID: "hidden@example.com", Summary: "hidden", Writable: true, Hidden: true},
			}, nil
		},
		Consents: linked.NewLinking(linked.LinkingOptions{
			Accounts: w.linked, ClientID: "client", ClientSecret: "secret",
			AuthURL: server.URL + "/o/oauth2/v2/auth", TokenURL: server.URL + "/token", CallbackURL: ourURL + api.PathCallback,
			Home: appURL + "/settings", ReturnOrigins: []string{appURL, ourURL},
		}),
	}
}

// Where browsers reach the server of a world, as it believes, and the web app.
const (
	ourURL = "https://quests.example"
	appURL = "https://app.example"
)

// newAccount links an account of a person, whose grant the simulator does not
// know, and gives its id.
func (w *world) newAccount(uid string) string {
	w.t.Helper()
	account, err := w.linked.Link(w.t.Context(), uid, linked.Identity{
		Provider: linked.Google, Sub: "sub-" + uid, Email: uid + "@example.com",
	}, "refresh-"+uid, []string{"openid", linked.ScopeEvents, linked.ScopeCalendarList})
	must(w.t, err)
	return account.ID
}

// browse gets a page or a redirection, as a browser does that was sent there by
// somebody ("" for a program): same-origin, same-site, cross-site or none.
func (w *world) browse(address, site string, cookies ...*http.Cookie) *http.Response {
	w.t.Helper()
	request, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, strings.Replace(address, ourURL, w.url, 1), nil)
	must(w.t, err)
	if site != "" {
		request.Header.Set("Sec-Fetch-Mode", "navigate")
		request.Header.Set("Sec-Fetch-Site", site)
	}
	if w.proxied != "" {
		request.Header.Set("Authorization", w.proxied)
	}
	for _, cookie := range cookies {
		request.AddCookie(cookie)
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	must(w.t, err)
	return response
}

func TestCalendarsOfAnAccount_ThatItsOwnerHid_AreLeftOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var listed struct{ Calendars []struct{ ID string } }
	w.want(http.StatusOK, call{as: "gm", method: "GET", path: "/v1/accounts/" + w.newAccount("gm") + "/calendars"}, &listed)
	if len(listed.Calendars) != 1 || listed.Calendars[0].ID != "gm@example.com" {
		t.Errorf("listed: %+v", listed)
	}
}
