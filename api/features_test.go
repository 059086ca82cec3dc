package api_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"questscheduler/demo/sim/google"
	linked "questscheduler/internal/accounts"
)

// featuresOf are the features of a person's account of an e-mail address.
func (w *world) featuresOf(uid, email string) (id string, features []string) {
	w.t.Helper()
	var answered struct {
		Accounts []struct {
			ID, Email string
			Features  []string
		}
	}
	w.want(http.StatusOK, call{as: uid, method: "GET", path: "/v1/accounts"}, &answered)
	for _, account := range answered.Accounts {
		if account.Email == email {
			return account.ID, account.Features
		}
	}
	w.t.Fatalf("%s has no account %s", uid, email)
	return "", nil
}

// A feature's scope is requested when it is switched on, and kept when the account is
// linked again.
func TestLinking_WithFeatures_GrantsThemOneByOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	polls := w.consent(w.begin("gm", map[string]any{}), google.Consent{User: "work"})
	w.comeBack(polls)
	if w.t.Failed() {
		return
	}
	const email = "work@example.com"
	id, features := w.featuresOf("gm", email)
	if len(features) != 0 {
		t.Fatalf("granted without being asked for: %q", features)
	}
	for _, step := range []struct {
		ask  []string
		want string // requested, and granted then
	}{
		{[]string{"mirrors"}, "mirrors"}, {[]string{"availability"}, "availability mirrors"}, {nil, "availability mirrors"},
		{[]string{"mirrors", "mirrors"}, "availability mirrors"},
	} {
		body := map[string]any{"account_id": id}
		if step.ask != nil {
			body["features"] = step.ask
		}
		start := w.visit(w.begin("gm", body), "same-origin")
		asked := strings.Fields(start.location.Query().Get("scope"))
		if slices.Contains(asked, linked.ScopeAppCreated) != strings.Contains(step.want, "mirrors") ||
			slices.Contains(asked, linked.ScopeFreeBusy) != strings.Contains(step.want, "availability") ||
			!slices.Contains(asked, linked.ScopeEvents) {
			t.Errorf("for %q it asks for %q", step.ask, asked)
		}
		w.kept = start.cookies
		back, err := w.google.Consent(t.Context(), start.location.String(), google.Consent{User: "work"})
		must(t, err)
		w.comeBack(back)
		if _, features := w.featuresOf("gm", email); strings.Join(features, " ") != step.want {
			t.Errorf("after %q: %q, want %s", step.ask, features, step.want)
		}
	}
	w.want(
		http.StatusBadRequest,
		call{as: "gm", method: "POST", path: "/v1/accounts/link", body: map[string]any{"features": []string{"mail"}}}, nil,
	)
}

// A feature that is left out at Google costs no account.
func TestLinking_FeatureDeclined_LinksWithoutIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	decision := google.Consent{User: "work", Scopes: []string{google.ScopeEvents, google.ScopeFreeBusy}}
	w.comeBack(w.consent(w.begin("gm", map[string]any{"features": []string{"mirrors", "availability"}}), decision))
	if _, features := w.featuresOf("gm", "work@example.com"); strings.Join(features, " ") != "availability" {
		t.Errorf("granted: %q", features)
	}
}
