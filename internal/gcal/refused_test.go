package gcal_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"golang.org/x/oauth2"

	"questscheduler/demo/sim/google"
	"questscheduler/fault"
	"questscheduler/internal/gcal"
)

func TestErrors_ThoseOfTheAccountArePassedOn(t *testing.T) {
	t.Parallel()
	for _, refusal := range []*fault.Error{
		{Kind: fault.Revoked, Code: "calendar_unlinked", Message: "Google Calendar not linked"},
		{Kind: fault.Revoked, Code: gcal.CodeTokenExpired, Message: "Google Calendar authorization expired."}, // invalid_grant
		{Kind: fault.Provider, Code: "oauth_client_refused", Message: "Google does not accept this server."},  // invalid_client
		{Kind: fault.Unavailable, Message: "Google did not answer."},
		{Kind: fault.RateLimited, Message: "Google asks to slow down."},
		{Kind: fault.Provider, Message: "Google refused to renew the access."},
	} {
		for name, get := range map[string]func(context.Context, string) (*http.Client, error){
			"when the client is asked for": func(context.Context, string) (*http.Client, error) { return nil, refusal },
			"within the call": func(context.Context, string) (*http.Client, error) {
				return &http.Client{Transport: roundTripper(func(*http.Request) (*http.Response, error) { return nil, refusal })}, nil
			},
		} {
			client := gcal.New(gcal.Options{Client: get, Refused: func(context.Context, string, *http.Client) error {
				t.Errorf("%s: Refused is called for an error of the account's own", name)
				return nil
			}})
			for _, call := range []string{"get", "list"} {
				err := calls[call](t.Context(), client)
				wantKind(t, err, refusal.Kind, refusal.Code)
				wantNoSecret(t, err)
			}
		}
	}
}

func TestCalled_ReportsCallsThatReachedGoogleOnly(t *testing.T) {
	t.Parallel()
	revoked := fault.New(fault.Revoked, "Google Calendar not linked")
	sending := func(send roundTripper) func(context.Context, string) (*http.Client, error) {
		return func(context.Context, string) (*http.Client, error) { return &http.Client{Transport: send}, nil }
	}
	answering := sending(func(*http.Request) (*http.Response, error) {
		answer := httptest.NewRecorder()
		answer.WriteHeader(http.StatusForbidden)
		return answer.Result(), nil
	})
	full := gcal.NewBudget(gcal.BudgetOptions{
		Now:  func() time.Time { return noon },
		Wait: func(context.Context, time.Duration) error { return errors.New("no time to wait") }, Share: 0.0001,
	})
	for name, row := range map[string]struct {
		options gcal.Options
		want    int
	}{
		"the account has no grant": {
			gcal.Options{Client: func(context.Context, string) (*http.Client, error) { return nil, revoked }}, 0,
		},
		"its grant is found dead on sending": {
			gcal.Options{Client: sending(func(*http.Request) (*http.Response, error) { return nil, revoked })}, 0,
		},
		"its access token is not refreshed": {gcal.Options{Client: sending(func(*http.Request) (*http.Response, error) {
			return nil, fault.New(fault.Unavailable, "Google did not renew the access to the calendar in time")
		})}, 0},
		"Google refuses": {gcal.Options{Client: answering}, 1},
		"the network is down": {
			gcal.Options{Client: sending(func(*http.Request) (*http.Response, error) { return nil, errors.New("no route") })}, 1,
		},
		"the budget allows one of two": {gcal.Options{Client: answering, Budget: full}, 1},
	} {
		reported := 0
		row.options.Called = func(method string, err error, _ time.Duration) {
			reported++
			if method != "events.get" || err == nil {
				t.Errorf("%s: reported %s, %v", name, method, err)
			}
		}
		client := gcal.New(row.options)
		err := calls["get"](t.Context(), client)
		if row.options.Budget != nil {
			err = errors.Join(err, calls["get"](t.Context(), client))
		}
		if err == nil || reported != row.want {
			t.Errorf("%s: reported %d calls, want %d (%v)", name, reported, row.want, err)
		}
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		_ = r.Body.Close()
	}
	return f(r)
}

func TestRefused_ReportsRefusalsByGoogleOnly(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		call     string
		status   int
		reason   string
		reported bool
	}{
		{"list", 401, "authError", true}, {"insert", 403, "insufficientPermissions", true},
		{"calendars", 403, "insufficientPermissions", false}, {"watch", 401, "push.webhookUrlUnauthorized", false},
		{"list", 403, "rateLimitExceeded", false}, {"list", 404, "notFound", false}, {"list", 503, "", false},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(tc.status)
			fmt.Fprint(w, refusal(tc.status, tc.reason))
		}))
		t.Cleanup(server.Close)
		broken := errors.New("the store is away")
		reports := 0
		client := gcal.New(gcal.Options{
			Endpoint: server.URL,
			Client:   func(context.Context, string) (*http.Client, error) { return server.Client(), nil },
			Refused: func(_ context.Context, account string, client *http.Client) error {
				reports++
				if account != "gm" || client != server.Client() {
					t.Errorf("reported account %q with another client", account)
				}
				return broken
			},
		})
		err := calls[tc.call](t.Context(), client)
		if (reports == 1) != tc.reported {
			t.Errorf("%s %d %s: reported %d times", tc.call, tc.status, tc.reason, reports)
		}
		if tc.reported && (!fault.Is(err, fault.Revoked) || !errors.Is(err, broken)) {
			t.Errorf("%s %d %s: got %v", tc.call, tc.status, tc.reason, err)
		}
	}
}

func TestBudget_CallsBeyondItDoNotReachGoogle(t *testing.T) {
	t.Parallel()
	reached := 0
	google := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		reached++
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"id":"e"}`)
	}))
	t.Cleanup(google.Close)
	still := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	client := gcal.New(gcal.Options{
		Endpoint: google.URL,
		Client:   func(context.Context, string) (*http.Client, error) { return google.Client(), nil },
		Budget: gcal.NewBudget(gcal.BudgetOptions{
			Now: func() time.Time { return still }, Wait: func(context.Context, time.Duration) error { return nil },
		}),
	})
	refused := 0
	for range 600 {
		if err := calls["get"](t.Context(), client); fault.Is(err, fault.RateLimited) && fault.RetryAfter(err) > 0 {
			refused++
		}
	}
	if refused < 250 || reached+refused != 600 {
		t.Errorf("of 600 calls at once %d were refused and %d reached Google", refused, reached)
	}
}

// The simulator counts as Google does, by a window that slides.
func TestBudget_GoogleHasNothingToRefuse(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	now := func() time.Time { return at }
	sim, err := google.New(google.Options{Now: now, Sequential: true, Quota: google.GoogleQuota})
	if err != nil {
		t.Fatal(err)
	}
	grant, err := sim.AddUser(google.User{Key: "gm", Sub: "1000", Email: "gm@example.test"})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(sim.Handler())
	t.Cleanup(server.Close)
	client := gcal.New(gcal.Options{
		Endpoint: server.URL,
		Client: func(ctx context.Context, _ string) (*http.Client, error) {
			return oauth2.NewClient(ctx, oauth2.StaticTokenSource(&oauth2.Token{AccessToken: grant.AccessToken})), nil
		},
		Budget: gcal.NewBudget(gcal.BudgetOptions{
			Now: now, Wait: func(_ context.Context, d time.Duration) error { at = at.Add(d); return nil },
		}),
	})
	for range 1500 {
		if err := calls["calendars"](t.Context(), client); err != nil {
			t.Fatalf("after %v: %v", now().Sub(noon), err)
		}
	}
	if calls := sim.Control().Calls()["calendarList.list"]; calls != 1500 {
		t.Errorf("%d calls reached Google", calls)
	}
}
