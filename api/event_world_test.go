package api_test

import (
	"context"
	"net/http"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"questscheduler/demo/sim/control"
	"questscheduler/demo/sim/google"
	"questscheduler/internal/gcal"
	"questscheduler/mirrors"
)

// openEvents makes the events of linked accounts at the Google simulator, where an account
// is the user of its address.
func (w *world) openEvents(now func() time.Time) *mirrors.Events {
	client := gcal.New(gcal.Options{Endpoint: "http://google.sim", Now: now,
		Client: func(ctx context.Context, accountID string) (*http.Client, error) {
			account, err := w.linked.Get(ctx, accountID)
			if err != nil {
				return nil, err
			}
			user, _, _ := strings.Cut(account.Email, "@")
			ctx = context.WithValue(ctx, oauth2.HTTPClient, &http.Client{Transport: control.Transport(w.google.Handler())})
			return oauth2.NewClient(ctx, oauth2.StaticTokenSource(&oauth2.Token{AccessToken: w.grants[user].AccessToken})), nil
		}})
	return &mirrors.Events{Service: w.groups.mirrors, Google: client, Accounts: w.linked}
}

// evening is an event to make, but for its account.
var evening = map[string]any{
	"title": "Session zero", "description": "Bring dice", "location": "Ana's place",
	"start_ts": "2026-03-10T18:00:00Z", "end_ts": "2026-03-10T22:00:00Z", "timezone": "Europe/Berlin",
}

// newEvent makes an event in an account of a person's, and gives its id.
func (w *world) newEvent(uid string) string { return w.newEventAt(uid, evening) }

func (w *world) newEventAt(uid string, body map[string]any) string {
	w.t.Helper()
	var made struct {
		ID string `json:"canonical_event_id"`
	}
	w.want(http.StatusCreated, call{as: uid, method: "POST", path: "/v1/events", body: with(body, "account_id", w.newAccount(uid))}, &made)
	return made.ID
}

// newPolicy makes a policy of a person's without edges, and gives its id.
func (w *world) newPolicy(uid string) string {
	w.t.Helper()
	var made struct{ ID string }
	w.want(http.StatusCreated, call{as: uid, method: "POST", path: "/v1/policies", body: map[string]any{"name": "Evenings"}}, &made)
	return made.ID
}

// grants are those of the simulator's users.
type grants map[string]google.Grant
