package accounts_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/accounts"
	"questscheduler/internal/store"
)

// adopt gives a person an account of unknown identity, by a token of the web app's for that
// Google account, which the simulator knows.
func (w *world) adopt(t *testing.T, person, user, email string) accounts.Account {
	t.Helper()
	if _, err := w.google.AddUser(googleUser(user)); err != nil {
		t.Fatal(err)
	}
	grant, err := w.google.NewGrant(user)
	if err != nil {
		t.Fatal(err)
	}
	w.put(t, store.Doc("userSecrets", person), map[string]any{
		"googleCalendar": map[string]any{"refreshToken": grant.RefreshToken, "updatedAt": w.now()},
	})
	w.put(t, store.Doc("users", person), map[string]any{"settings": map[string]any{"linkedCalendarEmail": email}})
	w.backfill(t, accounts.Backfill{})
	account, err := w.accounts.Default(t.Context(), person)
	if err != nil || account.Sub != "" {
		t.Fatalf("adopted %+v, %v", account, err)
	}
	return account
}

// consent is a person's account of a Google account, by the consent page.
func (w *world) consent(t *testing.T, person, user string) accounts.Account {
	t.Helper()
	if _, err := w.google.AddUser(googleUser(user)); err != nil {
		t.Fatal(err)
	}
	account, err := w.comeBack(t, person, user, http.DefaultTransport)
	if err != nil {
		t.Fatal(err)
	}
	return account
}

// Google would end the grants of both people. Which Google account an adopted account is of,
// only its e-mail address says.
func TestRevoke_OfAnUnknownIdentity_LeavesAnotherPersonsGrant(t *testing.T) {
	t.Parallel()
	const email = "gm@example.test"
	adopted := func(t *testing.T, w *world, person string) accounts.Account { return w.adopt(t, person, "gm", email) }
	known := func(t *testing.T, w *world, person string) accounts.Account { return w.consent(t, person, "gm") }
	for name, row := range map[string]struct {
		leaves, stays func(*testing.T, *world, string) accounts.Account
	}{
		"of the account that leaves": {adopted, known},
		"of the account that stays":  {known, adopted},
		"of both":                    {adopted, adopted},
	} {
		for _, status := range []accounts.Status{accounts.Active, accounts.Revoked} {
			t.Run(name+", the other "+string(status), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				leaves, stays := row.leaves(t, w, "gm"), row.stays(t, w, "ana")
				if status == accounts.Revoked {
					if _, err := w.accounts.MarkRevoked(t.Context(), stays.ID, stays.Grant); err != nil {
						t.Fatal(err)
					}
				} else {
					w.wantOK(t, stays.ID)
				}
				w.unlink(t, "gm", leaves.ID)
				w.revoke(t, leaves.ID)
				if calls := w.google.Control().Calls()["oauth.revoke"]; calls != 0 || w.secret(t, leaves.ID) != "" {
					t.Errorf("%d calls to give it back, want none; its token is %.8q", calls, w.secret(t, leaves.ID))
				}
			})
		}
	}
}

// What is of another Google account keeps no grant alive, nor does what needs none.
func TestRevoke_OfAnUnknownIdentity_ThatNobodyElseHas_GivesItBack(t *testing.T) {
	t.Parallel()
	for name, other := range map[string]func(t *testing.T, w *world){
		"no other account":   func(*testing.T, *world) {},
		"of another address": func(t *testing.T, w *world) { w.consent(t, "ana", "ana") },
		"of no address":      func(t *testing.T, w *world) { w.adopt(t, "ana", "ana", "") },
		"of the service account": func(t *testing.T, w *world) {
			w.delegate(t, "gm@example.test")
		},
		"that is unlinked too": func(t *testing.T, w *world) {
			w.unlink(t, "ana", w.adopt(t, "ana", "gm", "gm@example.test").ID)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			id := w.adopt(t, "gm", "gm", "gm@example.test").ID
			other(t, w)
			w.unlink(t, "gm", id)
			w.revoke(t, id)
			if calls := w.google.Control().Calls()["oauth.revoke"]; calls != 1 {
				t.Errorf("%d calls to give it back, want 1", calls)
			}
		})
	}
}

// An address can change hands: two known identities are two Google accounts.
func TestRevoke_OfAKnownIdentity_MindsNoOtherOfItsAddress(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.consent(t, "gm", "gm").ID
	who := accounts.Identity{Provider: accounts.Google, Sub: "sub-later", Email: "gm@example.test"}
	if _, err := w.accounts.Link(t.Context(), "ana", who, "1//later", scopes); err != nil {
		t.Fatal(err)
	}
	w.unlink(t, "gm", id)
	w.revoke(t, id)
	if calls := w.google.Control().Calls()["oauth.revoke"]; calls != 1 {
		t.Errorf("%d calls to give it back, want 1", calls)
	}
}

// Another person consents while the grant is given back, which may end theirs.
func TestRevoke_OfAnUnknownIdentity_HoldsOffLinksOfItsAddress(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.adopt(t, "gm", "gm", "gm@example.test").ID
	w.unlink(t, "gm", id)
	w.grants = w.newGrants(w.accounts, roundTripper(func(request *http.Request) (*http.Response, error) {
		if strings.HasSuffix(request.URL.Path, "/revoke") {
			_, err := w.comeBack(t, "ana", "gm", http.DefaultTransport)
			wantKind(t, err, fault.Unavailable, accounts.CodeExchangeFailed)
			if _, err := w.google.AddUser(googleUser("ben")); err != nil {
				t.Error(err)
			}
			if _, err := w.comeBack(t, "ana", "ben", http.DefaultTransport); err != nil {
				t.Errorf("another Google account: %v", err)
			}
		}
		return http.DefaultTransport.RoundTrip(request)
	}))
	w.revoke(t, id)
	w.advance(time.Second)
	account, err := w.comeBack(t, "ana", "gm", http.DefaultTransport)
	if err != nil {
		t.Fatalf("a moment later: %v", err)
	}
	w.wantOK(t, account.ID)
}
